/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching to a pool: processes of one machine that no launcher started together have ranks among each other while
 * they are attached. docs/attach.md. A pool's memory and ranks: core/job/attach_file.h.
 *
 * Any thread may attach or detach; of several at the same time one succeeds.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_H
#define PLENUM_CORE_JOB_ATTACH_H

#include "core/job/attach_file.h"
#include "mpi-ext.h"

#define PL_ATTACH_ENV "PLENUM_ATTACH" /* DIRECTORY:RANK:SIZE */

enum { PL_ATTACH_MAX = 4096 }; /* processes in a pool */

/* MPI error classes, recorded. */
int pl_attach_directory(const char *directory, int rank, int size);
int pl_attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size);
int pl_attach_end(void);

/* For the bootstrap: takes the seat that the functions above, or PLENUM_ATTACH, have prepared. PL_UNREACHABLE: there is
 * none. */
int pl_attach_take(struct pl_seat *seat);

#endif
