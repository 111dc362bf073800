/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: the root asks the runtime that has started it for more processes (core/job/spawn.h), and accepts them at a
 * port; they connect there in MPI_Init. Only under Plenum's own launcher.
 */
#ifndef PLENUM_WORLD_SPAWN_H
#define PLENUM_WORLD_SPAWN_H

struct pl_comm;
struct pl_info;

struct pl_spawn_command {
    const char *command;
    char **argv; /* NULL-terminated, without the command; NULL: no arguments */
    int maxprocs;
    int number;           /* so many are started: maxprocs, or fewer */
    struct pl_info *info; /* may be NULL */
};

/* The largest of the numbers in `text` that is not above `maxprocs`: the info key soft, triplets a:b:c with commas
 * between them (MPI-5.0 section 11.8.4). MPI_ERR_INFO_VALUE: these are none; MPI_ERR_SPAWN: there is no such number. */
int pl_spawn_soft(const char *text, int maxprocs, int *number);

/* Collective over `comm`; the commands count at the root only. `codes` [sum of maxprocs]: an error class for each
 * process, NULL: not wanted. MPI_ERR_SPAWN: they cannot be started, or end before they have called MPI_Init.
 * MPI_ERR_UNSUPPORTED_OPERATION: there is no runtime to ask. */
int pl_spawn(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *codes,
             struct pl_comm **made);

/* Connects a spawned World to its parents: pl_parent_comm. */
int pl_spawn_connect_parents(void);

#endif
