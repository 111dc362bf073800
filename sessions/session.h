/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: instances that the user holds. Their process sets: sessions/psets/psets.h. */
#ifndef PLENUM_SESSIONS_SESSION_H
#define PLENUM_SESSIONS_SESSION_H

#include "core/engine/instance.h"

struct pl_info;

/* Opens a session; local, waits for nobody. Keys of `info`: docs/sessions.md. NULLs: none, the initial handler. */
int pl_session_open(struct pl_info *info, struct pl_errhandler *errhandler, struct pl_instance **session);

/* Reports what the user has left alive in it (core/engine/leak_report.h): to the log, and of a strict session as an error.
 * `ours` false: this is a forked child, and the session its parent's; not to be closed here. */
int pl_session_check(struct pl_instance *session, bool *ours);

/* Closes it and takes the user's handle back. */
void pl_session_close(struct pl_instance *session);

/* "MPI_THREAD_MULTIPLE" and back; MPI_UNDEFINED for a text that is none. */
const char *pl_thread_level_name(int level);
int pl_thread_level_from(const char *name);

#endif
