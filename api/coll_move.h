/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of the collectives that move data, for all forms (coll.h). They return what the MPI function returns. */
#ifndef PLENUM_API_COLL_MOVE_H
#define PLENUM_API_COLL_MOVE_H

#include "api/coll.h"

int pl_do_barrier(struct pl_call *call, MPI_Comm comm, struct pl_form form);
int pl_do_bcast(struct pl_call *call, void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                struct pl_form form);
int pl_do_gather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct pl_form form);
int pl_do_gatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  struct pl_counts recvcounts, struct pl_displs displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  struct pl_form form);
int pl_do_scatter(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct pl_form form);
int pl_do_scatterv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs displs,
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                   MPI_Comm comm, struct pl_form form);
int pl_do_allgather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_allgatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                     void *recvbuf, struct pl_counts recvcounts, struct pl_displs displs, MPI_Datatype recvtype,
                     MPI_Comm comm, struct pl_form form);
int pl_do_alltoall(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_alltoallv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs sdispls,
                    MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts, struct pl_displs rdispls,
                    MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form);
int pl_do_alltoallw(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs sdispls,
                    const MPI_Datatype sendtypes[], void *recvbuf, struct pl_counts recvcounts,
                    struct pl_displs rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, struct pl_form form);

#endif
