/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. Each algorithm is written once, as a schedule (core/schedule.h); these run one to its end. Arguments
 * are checked by the caller. MPI_IN_PLACE is understood as in the public functions. Intracommunicators unless said.
 * Used by the public functions and by the library itself.
 */
#ifndef PLENUM_CORE_COLLECTIVE_H
#define PLENUM_CORE_COLLECTIVE_H

#include "core/comm.h"
#include "core/counts.h"
#include "core/datatype.h"
#include "core/op.h"

int pl_barrier(struct pl_comm *comm);
int pl_bcast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int root);
int pl_gather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
              void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype, int root);
int pl_allgather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                 void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype);
int pl_allreduce(struct pl_comm *comm, const void *sendbuf, void *recvbuf, MPI_Count count, const struct pl_type *type,
                 const struct pl_op *op);

#endif
