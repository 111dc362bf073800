/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching to a pool: processes that no launcher started together have ranks among each other while they are
 * attached. docs/attach.md. A pool's memory and ranks on a machine: core/job/attach_file.h. On several machines:
 * core/job/attach_far.h.
 *
 * Any thread may attach or detach; of several at the same time one succeeds.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_H
#define PLENUM_CORE_JOB_ATTACH_H

#include "core/job/attach_file.h"
#include "mpi-ext.h"

#define PL_ATTACH_ENV "PLENUM_ATTACH" /* DIRECTORY:RANK:SIZE */

enum { PL_ATTACH_MAX = 4096 }; /* processes in a pool */

/* Opens what other processes find this one by, and writes its address card. Given by a room above. */
typedef int(pl_attach_address)(unsigned char card[PL_CARD_MAX], size_t *length);

/* MPI error classes, recorded. `address` is called if the pool is on several machines. */
int pl_attach_directory(const char *directory, int rank, int size);
int pl_attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size, pl_attach_address *address);
int pl_detach(void);

/* For the bootstrap: takes the seat that the functions above, or PLENUM_ATTACH, have prepared. PL_UNREACHABLE: there is
 * none. */
int pl_attach_take(struct pl_seat *seat);

#endif
