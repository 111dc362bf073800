/* SPDX-License-Identifier: BSD-3-Clause */
/* The World Model: one instance that belongs to the process, with its predefined communicators. One thread initializes
 * and finalizes it, as the standard requires. */
#ifndef PLENUM_WORLD_WORLD_H
#define PLENUM_WORLD_WORLD_H

#include <stdbool.h>

/* Initializes; local, waits for no other process. MPI_ERR_OTHER: the World was already initialized. */
int pl_world_init(int required, int *provided);

/* MPI_Init ends with this result. If it has failed, those that wait for this process are told. Returns the result, with
 * the recorded detail. */
int pl_world_fail(int rc);

/* Deletes the attributes of MPI_COMM_SELF while MPI is usable, delivers messages under way, frees all resources. */
int pl_world_finalize(void);

/* The World's thread level. Without a World, while there are sessions, MPI_THREAD_MULTIPLE: any thread may use objects
 * that belong to no session, and each session has its own level. Else MPI_ERR_OTHER. */
int pl_world_thread_level(int *level);

/* Has the calling thread initialized the World? */
bool pl_world_main_thread(void);

#endif
