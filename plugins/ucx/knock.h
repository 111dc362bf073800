/* SPDX-License-Identifier: BSD-3-Clause */
/* Knocking at the gate (gate.h) of another worker, before UCX connects to it. The engine's lock protects all of it. */
#ifndef PLENUM_PLUGINS_UCX_KNOCK_H
#define PLENUM_PLUGINS_UCX_KNOCK_H

#include <stdbool.h>

struct pl_ucx;
struct pl_ucx_link;

/* Does the link's peer have a gate that this worker has to pass? */
bool pl_ucx_knock_is_needed(const struct pl_ucx_link *link);

/* Begins to knock, unless it has begun. When the gate opens, the link is opened; when it does not, the link fails. */
int pl_ucx_knock_start(struct pl_ucx_link *link);

/* Gives it up, if it has begun. */
void pl_ucx_knock_end(struct pl_ucx_link *link);

/* Tries again where it is time to. Returns the number of attempts. */
int pl_ucx_knocks_progress(struct pl_ucx *ucx);

#endif
