/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of the neighborhood collectives, for all forms (coll.h). They return what the MPI function returns. */
#ifndef PLENUM_API_COLL_NEIGHBOR_H
#define PLENUM_API_COLL_NEIGHBOR_H

#include "api/coll.h"

int pl_do_neighbor_allgather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             struct pl_form form);
int pl_do_neighbor_allgatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, struct pl_counts recvcounts, struct pl_displs displs,
                              MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_neighbor_alltoall(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            struct pl_form form);
int pl_do_neighbor_alltoallv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts,
                             struct pl_displs sdispls, MPI_Datatype sendtype, void *recvbuf,
                             struct pl_counts recvcounts, struct pl_displs rdispls, MPI_Datatype recvtype,
                             MPI_Comm comm, struct pl_form form);
int pl_do_neighbor_alltoallw(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts,
                             struct pl_displs sdispls, const MPI_Datatype sendtypes[], void *recvbuf,
                             struct pl_counts recvcounts, struct pl_displs rdispls, const MPI_Datatype recvtypes[],
                             MPI_Comm comm, struct pl_form form);

#endif
