/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: the root asks the runtime that has started it for more processes (core/job_spawn.h), and accepts them at a
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
    struct pl_info *info; /* may be NULL */
};

/* Collective over `comm`; the commands count at the root only. *processes: how many they ask for, at all members.
 * MPI_ERR_SPAWN: they cannot be started, or end before they have called MPI_Init. MPI_ERR_UNSUPPORTED_OPERATION: there
 * is no runtime to ask. */
int pl_spawn(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *processes,
             struct pl_comm **made);

/* Connects a spawned World to its parents: pl_parent_comm. */
int pl_spawn_meet_parents(void);

#endif
