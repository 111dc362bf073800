/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: instances to which the user has a handle. Their process sets: sessions/psets/psets.h. */
#ifndef PLENUM_SESSIONS_SESSION_H
#define PLENUM_SESSIONS_SESSION_H

#include "core/engine/instance.h"

struct pl_info;

/* Opens a session. Local. The keys of `info` are in docs/sessions.md. `info` and `errhandler` may be NULL: no info, the
 * initial error handler. */
int pl_session_open(struct pl_info *info, struct pl_errhandler *errhandler, struct pl_instance **session);

/* Makes the leak report (core/engine/leak_report.h): to the log, and for a strict session as an error. `ours` false:
 * this is a forked child and the session is its parent's, so it must not be closed here. */
int pl_session_check(struct pl_instance *session, bool *ours);

/* Closes the session and invalidates the user's handle. */
void pl_session_close(struct pl_instance *session);

#endif
