/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: the root asks the runtime that has started it for more processes (core/job/question.h), and accepts them
 * at a port, to which they connect in MPI_Init. Works only under Plenum's own launcher.
 */
#ifndef PLENUM_WORLD_SPAWN_H
#define PLENUM_WORLD_SPAWN_H

struct pl_comm;
struct pl_info;

struct pl_spawn_command {
    const char *command;
    char **argv; /* NULL-terminated, without the command; NULL: no arguments */
    int maxprocs;
    int number;           /* processes to start: maxprocs, or fewer */
    struct pl_info *info; /* may be NULL */
};

/* The largest number of the info key soft that is not above `maxprocs`; `text` has triplets a:b:c separated by commas
 * (MPI-5.0 section 11.8.4). MPI_ERR_INFO_VALUE: it has not; MPI_ERR_SPAWN: there is no such number. */
int pl_spawn_soft(const char *text, int maxprocs, int *number);

/* Collective over `comm`; only the root reads `commands`. `codes` [sum of maxprocs]: gets an error class for each
 * process; NULL: not wanted. MPI_ERR_SPAWN: the processes cannot be started, or end before they have called MPI_Init.
 * MPI_ERR_UNSUPPORTED_OPERATION: there is no runtime to ask. */
int pl_spawn(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *codes,
             struct pl_comm **made);

/* Connects a spawned World to its parents and sets pl_parent_comm. No effect in a World that was not spawned. */
int pl_spawn_connect_parents(void);

#endif
