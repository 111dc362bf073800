/* SPDX-License-Identifier: BSD-3-Clause */
/* How the keeper starts processes. */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_SPAWN_H
#define PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_SPAWN_H

#include <sys/resource.h>

#include "world/runtime/keeper/keeper.h"

/* What is the same for all ranks. */
struct pl_spawning {
    int *shared; /* a page of MAP_SHARED memory, where the child writes the step that failed */
    bool raised; /* the keeper has raised its limit of descriptors, which was this: */
    struct rlimit descriptors;
};

/* Starts a rank and stores the result in `*rank`. `fd` are its standard streams, which stay open. */
void pl_keeper_spawn(const struct pl_kept_job *job, uint32_t number, const int fd[PL_KEEPER_EACH],
                     const struct pl_spawning *spawning, struct pl_kept_rank *rank);

/* Starts the symbolizer, with an empty environment. After a failure only its end of the socket is closed. */
void pl_keeper_spawn_symbolizer(int program, int socket);

#endif
