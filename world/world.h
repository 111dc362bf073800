/* SPDX-License-Identifier: BSD-3-Clause */
/* The World Model: one instance that belongs to the process, with its predefined communicators. */
#ifndef PLENUM_WORLD_WORLD_H
#define PLENUM_WORLD_WORLD_H

#include <stdbool.h>

/* Initializes; local, waits for nobody. MPI_ERR_OTHER when it was initialized before. */
int pl_world_init(int required, int *provided);

/* Deletes the attributes of MPI_COMM_SELF while MPI is usable, delivers what is under way, gives everything back. */
int pl_world_finalize(void);

/* The World's thread level. Without a World, while there are sessions, MPI_THREAD_MULTIPLE: what is no session's may be
 * used by all threads, and each session has a level of its own. Else MPI_ERR_OTHER. */
int pl_world_thread_level(int *level);

/* Is the calling thread the one that initialized? */
bool pl_world_main_thread(void);

#endif
