/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_INFO_ENV: how this process was started. */
#ifndef PLENUM_CORE_JOB_INFO_ENV_H
#define PLENUM_CORE_JOB_INFO_ENV_H

#include <stdint.h>

struct pl_info;

/* An info object with the keys of MPI_INFO_ENV that are known: from the launcher, else from the process itself. `argv`
 * may be NULL. The process may be closed; it is opened meanwhile. */
int pl_info_create_env(int argc, char **argv, struct pl_info **info);

/* The object behind MPI_INFO_ENV, filled in; NULL for other constants. */
void *pl_info_predefined(uintptr_t constant);

#endif
