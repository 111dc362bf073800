/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See coll_neighbor.h; MPI-5.0 sections 8.6 to 8.9. The arrays have one element for each source or destination, also
 * for those beyond the border of a grid, whose elements are checked and not used.
 */
#include "api/coll_neighbor.h"

#include "core/comm/topology.h"

/* --- arguments ------------------------------------------------------------------------------------------------- */

/* The communicator, which must have a topology: sets *topology, or records the error. */
static struct pl_coll mpi_coll_neighbor_begin(struct pl_call *call, enum pl_coll_kind kind, MPI_Comm comm,
                                              const void *sendbuf, void *recvbuf, const struct pl_topology **topology)
{
    struct pl_coll coll = { .kind = kind, .comm = pl_arg_comm(call, comm), .sendbuf = sendbuf, .recvbuf = recvbuf };
    if (coll.comm && coll.comm->topology.kind == MPI_UNDEFINED)
        pl_call_error(call, MPI_ERR_TOPOLOGY, "%s has no topology, so that its processes have no neighbors",
                      pl_comm_label(coll.comm));
    pl_arg_not_in_place(call, sendbuf, "sendbuf", "has no meaning in a neighborhood collective");
    pl_arg_not_in_place(call, recvbuf, "recvbuf", "has no meaning in a neighborhood collective");
    *topology = call->err ? NULL : pl_topology_of(coll.comm);
    return coll;
}

/* Counts and displacements of n blocks; the largest count. */
static MPI_Count arg_lists(struct pl_call *call, struct pl_counts counts, struct pl_displs displs, int n,
                           const char *counts_name, const char *displs_name)
{
    MPI_Count most = 0;
    if (n > 0 && !counts.narrow && !counts.wide)
        pl_call_error(call, MPI_ERR_ARG, "%s is NULL", counts_name);
    if (n > 0 && !displs.narrow && !displs.wide)
        pl_call_error(call, MPI_ERR_ARG, "%s is NULL", displs_name);
    for (int i = 0; !call->err && i < n; i++) {
        MPI_Count count = pl_count_at(counts, i);
        if (count < 0)
            pl_call_error(call, MPI_ERR_COUNT, "%s[%d] is %lld; it must not be negative", counts_name, i,
                          (long long)count);
        if (count > most)
            most = count;
    }
    return most;
}

/* The neighbors; 0 when the communicator is bad. */
static int in_of(const struct pl_topology *topology)
{
    return topology ? topology->indegree : 0;
}
static int out_of(const struct pl_topology *topology)
{
    return topology ? topology->outdegree : 0;
}

/* --- operations ------------------------------------------------------------------------------------------------ */

int pl_do_neighbor_allgather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             struct pl_form form)
{
    const struct pl_topology *topology;
    struct pl_coll coll = mpi_coll_neighbor_begin(call, PL_COLL_NEIGHBOR_ALLGATHER, comm, sendbuf, recvbuf, &topology);
    coll.sendcount = sendcount;
    coll.recvcount = recvcount;
    call->names = &pl_send_names;
    coll.sendtype = pl_arg_blocks(call, sendbuf, sendcount, sendtype, out_of(topology) > 0);
    call->names = &pl_recv_names;
    coll.recvtype = pl_arg_blocks(call, recvbuf, recvcount, recvtype, in_of(topology));
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_neighbor_allgatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, struct pl_counts recvcounts, struct pl_displs displs,
                              MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form)
{
    const struct pl_topology *topology;
    struct pl_coll coll = mpi_coll_neighbor_begin(call, PL_COLL_NEIGHBOR_ALLGATHERV, comm, sendbuf, recvbuf, &topology);
    coll.sendcount = sendcount;
    coll.recvcounts = recvcounts;
    coll.recvdispls = displs;
    call->names = &pl_send_names;
    coll.sendtype = pl_arg_blocks(call, sendbuf, sendcount, sendtype, out_of(topology) > 0);
    MPI_Count most = arg_lists(call, recvcounts, displs, in_of(topology), "recvcounts", "displs");
    call->names = &pl_recv_names;
    coll.recvtype = pl_arg_blocks(call, recvbuf, most, recvtype, 1);
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_neighbor_alltoall(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            struct pl_form form)
{
    const struct pl_topology *topology;
    struct pl_coll coll = mpi_coll_neighbor_begin(call, PL_COLL_NEIGHBOR_ALLTOALL, comm, sendbuf, recvbuf, &topology);
    coll.sendcount = sendcount;
    coll.recvcount = recvcount;
    call->names = &pl_send_names;
    coll.sendtype = pl_arg_blocks(call, sendbuf, sendcount, sendtype, out_of(topology));
    call->names = &pl_recv_names;
    coll.recvtype = pl_arg_blocks(call, recvbuf, recvcount, recvtype, in_of(topology));
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_neighbor_alltoallv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts,
                             struct pl_displs sdispls, MPI_Datatype sendtype, void *recvbuf,
                             struct pl_counts recvcounts, struct pl_displs rdispls, MPI_Datatype recvtype,
                             MPI_Comm comm, struct pl_form form)
{
    const struct pl_topology *topology;
    struct pl_coll coll = mpi_coll_neighbor_begin(call, PL_COLL_NEIGHBOR_ALLTOALLV, comm, sendbuf, recvbuf, &topology);
    coll.sendcounts = sendcounts;
    coll.senddispls = sdispls;
    coll.recvcounts = recvcounts;
    coll.recvdispls = rdispls;
    MPI_Count sent = arg_lists(call, sendcounts, sdispls, out_of(topology), "sendcounts", "sdispls");
    MPI_Count received = arg_lists(call, recvcounts, rdispls, in_of(topology), "recvcounts", "rdispls");
    call->names = &pl_send_names;
    coll.sendtype = pl_arg_blocks(call, sendbuf, sent, sendtype, 1);
    call->names = &pl_recv_names;
    coll.recvtype = pl_arg_blocks(call, recvbuf, received, recvtype, 1);
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_neighbor_alltoallw(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts,
                             struct pl_displs sdispls, const MPI_Datatype sendtypes[], void *recvbuf,
                             struct pl_counts recvcounts, struct pl_displs rdispls, const MPI_Datatype recvtypes[],
                             MPI_Comm comm, struct pl_form form)
{
    const struct pl_topology *topology;
    struct pl_coll coll = mpi_coll_neighbor_begin(call, PL_COLL_NEIGHBOR_ALLTOALLW, comm, sendbuf, recvbuf, &topology);
    coll.sendcounts = sendcounts;
    coll.senddispls = sdispls;
    coll.sendtypes = sendtypes;
    coll.recvcounts = recvcounts;
    coll.recvdispls = rdispls;
    coll.recvtypes = recvtypes;
    arg_lists(call, sendcounts, sdispls, out_of(topology), "sendcounts", "sdispls");
    pl_arg_types(call, sendbuf, sendcounts, sdispls, sendtypes, out_of(topology), "sendtypes");
    arg_lists(call, recvcounts, rdispls, in_of(topology), "recvcounts", "rdispls");
    pl_arg_types(call, recvbuf, recvcounts, rdispls, recvtypes, in_of(topology), "recvtypes");
    return pl_coll_leave(call, &coll, &form);
}
