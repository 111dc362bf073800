/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_INFO_ENV: how this process was started. */
#ifndef PLENUM_CORE_JOB_INFO_ENV_H
#define PLENUM_CORE_JOB_INFO_ENV_H

#include <stdint.h>

struct pl_info;

/* Sets the keys of MPI_INFO_ENV that are known: from the job segment if the World is initialized and a launcher left
 * one, else from the process itself. `argv` may be NULL. */
int pl_info_fill_env(struct pl_info *info, int argc, char **argv);

/* The object behind MPI_INFO_ENV, filled in; NULL for other constants. */
void *pl_info_predefined(uintptr_t constant);

#endif
