/* SPDX-License-Identifier: BSD-3-Clause */
/* Watching process sets. The registry's lock is not held in these functions, nor while a watcher runs. */
#ifndef PLENUM_SESSIONS_PSETS_WATCH_H
#define PLENUM_SESSIONS_PSETS_WATCH_H

#include "mpi-ext.h"

struct pl_instance;
struct pl_psets;

/* From now on calls `changed` for each set that appears, changes or disappears (version 0): from progress, and from the
 * functions of psets.h before they return, in a thread that called MPI. An instance has one watcher. NULL ends it: once
 * the function returns the watcher no longer runs, except in the call that the caller itself may be in. */
int pl_psets_watch(struct pl_instance *instance, MPIX_Session_pset_function *changed, void *context);

/* Calls the watcher, if there is one, for what has changed since the last time; ends it. */
void pl_psets_tell(struct pl_psets *psets);
void pl_psets_watch_end(struct pl_psets *psets);

#endif
