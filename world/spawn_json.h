/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the description of programs to spawn as JSON, as libplenum reads it. No locking. */
#ifndef PLENUM_WORLD_SPAWN_JSON_H
#define PLENUM_WORLD_SPAWN_JSON_H

#include "world/spawn.h"

/* The description of `commands` [count], which the caller frees. MPI_ERR_SPAWN: a word is not UTF-8.
 * MPI_ERR_INFO_VALUE: the info key mpi_initial_errhandler is wrong. */
int pl_spawn_json(const struct pl_spawn_command *commands, int count, char **text);

#endif
