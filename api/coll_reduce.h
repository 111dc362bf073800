/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of the reductions and scans, for all forms (coll.h). They return what the MPI function returns. */
#ifndef PLENUM_API_COLL_REDUCE_H
#define PLENUM_API_COLL_REDUCE_H

#include "api/coll.h"

int pl_do_reduce(struct pl_call *call, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, int root, MPI_Comm comm, struct pl_form form);
int pl_do_reduce_scatter(struct pl_call *call, const void *sendbuf, void *recvbuf, struct pl_counts recvcounts,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form);
int pl_do_reduce_scatter_block(struct pl_call *call, const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form);

/* allreduce, scan and exscan, by kind. */
int pl_do_reduction(struct pl_call *call, enum pl_coll_kind kind, const void *sendbuf, void *recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form);

#endif
