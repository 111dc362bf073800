/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See coll_move.h; MPI-5.0 sections 6.3 to 6.8. Arguments that are not significant at a process are not read.
 */
#include "api/coll_move.h"

/* --- the two sides of a call ------------------------------------------------------------------------------------ */

static const char not_inter[] = "has no meaning on an intercommunicator";
static const char not_here[] = "has no meaning in this place";
static const char root_only[] = "only the root may pass";

/* The processes with which each exchanges a block; 0 when the communicator is bad. */
static int mpi_coll_move_targets(const struct pl_coll *coll)
{
    return coll->comm ? pl_comm_targets(coll->comm) : 0;
}

/* `blocks` of one length. */
static void arg_sent(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, MPI_Count count,
                     MPI_Datatype datatype, int blocks)
{
    coll->sendbuf = sendbuf;
    coll->sendcount = count;
    if (sendbuf == MPI_IN_PLACE)
        return;
    call->names = &pl_send_names;
    coll->sendtype = pl_arg_blocks(call, sendbuf, count, datatype, blocks);
}

static void arg_received(struct pl_call *call, struct pl_coll *coll, void *recvbuf, MPI_Count count,
                         MPI_Datatype datatype, int blocks)
{
    coll->recvbuf = recvbuf;
    coll->recvcount = count;
    if (recvbuf == MPI_IN_PLACE)
        return;
    call->names = &pl_recv_names;
    coll->recvtype = pl_arg_blocks(call, recvbuf, count, datatype, blocks);
}

/* The largest count of an array; each must be right. */
static MPI_Count arg_counts(struct pl_call *call, struct pl_counts counts, int n, const char *name)
{
    MPI_Count most = 0;
    if (!counts.narrow && !counts.wide)
        pl_call_error(call, MPI_ERR_ARG, "%s is NULL", name);
    for (int i = 0; !call->err && i < n; i++) {
        MPI_Count count = pl_count_at(counts, i);
        if (count < 0)
            pl_call_error(call, MPI_ERR_COUNT, "%s[%d] is %lld; it must not be negative", name, i, (long long)count);
        if (count > most)
            most = count;
    }
    return most;
}

static void arg_displs(struct pl_call *call, struct pl_displs displs, const char *name)
{
    if (!displs.narrow && !displs.wide)
        pl_call_error(call, MPI_ERR_ARG, "%s is NULL", name);
}

static void arg_sent_each(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, struct pl_counts counts,
                          struct pl_displs displs, const char *displs_name, MPI_Datatype datatype)
{
    coll->sendbuf = sendbuf;
    if (sendbuf == MPI_IN_PLACE || call->err)
        return;
    call->names = &pl_send_names;
    coll->sendtype = pl_arg_type(call, datatype);
    coll->sendcounts = counts;
    coll->senddispls = displs;
    MPI_Count most = arg_counts(call, counts, pl_comm_targets(coll->comm), "sendcounts");
    arg_displs(call, displs, displs_name);
    pl_arg_buffer(call, sendbuf, most, coll->sendtype);
}

static void arg_received_each(struct pl_call *call, struct pl_coll *coll, void *recvbuf, struct pl_counts counts,
                              struct pl_displs displs, const char *displs_name, MPI_Datatype datatype)
{
    coll->recvbuf = recvbuf;
    if (call->err)
        return;
    call->names = &pl_recv_names;
    coll->recvtype = pl_arg_type(call, datatype);
    coll->recvcounts = counts;
    coll->recvdispls = displs;
    MPI_Count most = arg_counts(call, counts, pl_comm_targets(coll->comm), "recvcounts");
    arg_displs(call, displs, displs_name);
    pl_arg_buffer(call, recvbuf, most, coll->recvtype);
}

/* The elements of `n` blocks. It wraps around: a count that is wrong has been reported, or is not significant. */
static MPI_Count blocks_count(MPI_Count count, int n)
{
    return (MPI_Count)((uint64_t)count * (uint64_t)n);
}

/* The block from a process to itself must fit. */
static void arg_own(struct pl_call *call, const struct pl_coll *coll, MPI_Count sendcount, MPI_Count recvcount)
{
    if (call->err || coll->sendbuf == MPI_IN_PLACE || coll->recvbuf == MPI_IN_PLACE || pl_comm_is_inter(coll->comm))
        return;
    long long sent = (long long)(sendcount * coll->sendtype->size),
              most = (long long)(recvcount * coll->recvtype->size);
    if (sent > most)
        pl_call_error(call, MPI_ERR_TRUNCATE,
                      "the block of %lld bytes from this process to itself is longer than the %lld bytes to receive it",
                      sent, most);
}

/* The send buffer against each block of the receive buffer, or the other way round. */
static void arg_apart_blocks(struct pl_call *call, const void *one, MPI_Count count, const struct pl_type *type,
                             const void *many, struct pl_counts counts, struct pl_displs displs,
                             const struct pl_type *each, int n)
{
    for (int i = 0; !call->err && i < n; i++)
        pl_arg_apart(call, one, count, type, pl_address(many, pl_displ_at(displs, i) * each->extent),
                     pl_count_at(counts, i), each);
}

/* --- barrier, broadcast ---------------------------------------------------------------------------------------- */

int pl_do_barrier(struct pl_call *call, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_BARRIER, .comm = pl_arg_comm(call, comm) };
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_bcast(struct pl_call *call, void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_BCAST, .comm = pl_arg_comm(call, comm), .root = root };
    pl_arg_coll_root(call, coll.comm, root);
    if (!call->err && (pl_coll_is_root(coll.comm, root) || pl_coll_is_other(coll.comm, root))) {
        pl_arg_not_in_place(call, buffer, "buffer", not_here);
        coll.recvbuf = buffer;
        coll.recvcount = count;
        coll.recvtype = pl_arg_blocks(call, buffer, count, datatype, 1);
    }
    return pl_coll_leave(call, &coll, &form);
}

/* --- gather and scatter ----------------------------------------------------------------------------------------- */

/* Sender's side of a gather, the root's own included. */
static void arg_gathered(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, MPI_Count count,
                         MPI_Datatype datatype)
{
    if (call->err || !pl_coll_is_other(coll->comm, coll->root))
        return;
    if (!pl_coll_is_root(coll->comm, coll->root))
        pl_arg_not_in_place(call, sendbuf, "sendbuf", root_only);
    arg_sent(call, coll, sendbuf, count, datatype, 1);
}

int pl_do_gather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_GATHER, .comm = pl_arg_comm(call, comm), .root = root };
    pl_arg_coll_root(call, coll.comm, root);
    arg_gathered(call, &coll, sendbuf, sendcount, sendtype);
    if (!call->err && pl_coll_is_root(coll.comm, root)) {
        pl_arg_not_in_place(call, recvbuf, "recvbuf", not_here);
        arg_received(call, &coll, recvbuf, recvcount, recvtype, pl_comm_targets(coll.comm));
        if (!pl_comm_is_inter(coll.comm)) {
            pl_arg_apart(call, sendbuf, sendcount, coll.sendtype, recvbuf, blocks_count(recvcount, coll.comm->size),
                         coll.recvtype);
            arg_own(call, &coll, sendcount, recvcount);
        }
    }
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_gatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  struct pl_counts recvcounts, struct pl_displs displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_GATHERV, .comm = pl_arg_comm(call, comm), .root = root };
    pl_arg_coll_root(call, coll.comm, root);
    arg_gathered(call, &coll, sendbuf, sendcount, sendtype);
    if (!call->err && pl_coll_is_root(coll.comm, root)) {
        pl_arg_not_in_place(call, recvbuf, "recvbuf", not_here);
        arg_received_each(call, &coll, recvbuf, recvcounts, displs, "displs", recvtype);
        if (!call->err && !pl_comm_is_inter(coll.comm)) {
            arg_apart_blocks(call, sendbuf, sendcount, coll.sendtype, recvbuf, recvcounts, displs, coll.recvtype,
                             coll.comm->size);
            arg_own(call, &coll, sendcount, pl_count_at(recvcounts, root));
        }
    }
    return pl_coll_leave(call, &coll, &form);
}

/* Receiver's side of a scatter, the root's own included. */
static void arg_scattered(struct pl_call *call, struct pl_coll *coll, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype)
{
    if (call->err || !pl_coll_is_other(coll->comm, coll->root))
        return;
    if (!pl_coll_is_root(coll->comm, coll->root))
        pl_arg_not_in_place(call, recvbuf, "recvbuf", root_only);
    arg_received(call, coll, recvbuf, count, datatype, 1);
}

int pl_do_scatter(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_SCATTER, .comm = pl_arg_comm(call, comm), .root = root };
    pl_arg_coll_root(call, coll.comm, root);
    arg_scattered(call, &coll, recvbuf, recvcount, recvtype);
    if (!call->err && pl_coll_is_root(coll.comm, root)) {
        pl_arg_not_in_place(call, sendbuf, "sendbuf", not_here);
        arg_sent(call, &coll, sendbuf, sendcount, sendtype, pl_comm_targets(coll.comm));
        if (!pl_comm_is_inter(coll.comm)) {
            pl_arg_apart(call, sendbuf, blocks_count(sendcount, coll.comm->size), coll.sendtype, recvbuf, recvcount,
                         coll.recvtype);
            arg_own(call, &coll, sendcount, recvcount);
        }
    }
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_scatterv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs displs,
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                   MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_SCATTERV, .comm = pl_arg_comm(call, comm), .root = root };
    pl_arg_coll_root(call, coll.comm, root);
    arg_scattered(call, &coll, recvbuf, recvcount, recvtype);
    if (!call->err && pl_coll_is_root(coll.comm, root)) {
        pl_arg_not_in_place(call, sendbuf, "sendbuf", not_here);
        arg_sent_each(call, &coll, sendbuf, sendcounts, displs, "displs", sendtype);
        if (!call->err && !pl_comm_is_inter(coll.comm)) {
            arg_apart_blocks(call, recvbuf, recvcount, coll.recvtype, sendbuf, sendcounts, displs, coll.sendtype,
                             coll.comm->size);
            arg_own(call, &coll, pl_count_at(sendcounts, root), recvcount);
        }
    }
    return pl_coll_leave(call, &coll, &form);
}

/* --- allgather --------------------------------------------------------------------------------------------------- */

static void arg_contributed(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, MPI_Count count,
                            MPI_Datatype datatype, const void *recvbuf)
{
    if (!call->err && pl_comm_is_inter(coll->comm))
        pl_arg_not_in_place(call, sendbuf, "sendbuf", not_inter);
    arg_sent(call, coll, sendbuf, count, datatype, 1);
    pl_arg_not_in_place(call, recvbuf, "recvbuf", not_here);
}

int pl_do_allgather(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_ALLGATHER, .comm = pl_arg_comm(call, comm) };
    int n = mpi_coll_move_targets(&coll);
    arg_contributed(call, &coll, sendbuf, sendcount, sendtype, recvbuf);
    arg_received(call, &coll, recvbuf, recvcount, recvtype, n);
    if (!call->err)
        pl_arg_apart(call, sendbuf, sendcount, coll.sendtype, recvbuf, blocks_count(recvcount, n), coll.recvtype);
    arg_own(call, &coll, sendcount, recvcount);
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_allgatherv(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                     void *recvbuf, struct pl_counts recvcounts, struct pl_displs displs, MPI_Datatype recvtype,
                     MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_ALLGATHERV, .comm = pl_arg_comm(call, comm) };
    arg_contributed(call, &coll, sendbuf, sendcount, sendtype, recvbuf);
    arg_received_each(call, &coll, recvbuf, recvcounts, displs, "displs", recvtype);
    if (!call->err) {
        arg_apart_blocks(call, sendbuf, sendcount, coll.sendtype, recvbuf, recvcounts, displs, coll.recvtype,
                         pl_comm_targets(coll.comm));
        if (!pl_comm_is_inter(coll.comm))
            arg_own(call, &coll, sendcount, pl_count_at(recvcounts, coll.comm->rank));
    }
    return pl_coll_leave(call, &coll, &form);
}

/* --- alltoall ---------------------------------------------------------------------------------------------------- */

static void arg_exchanged(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, const void *recvbuf)
{
    if (!call->err && pl_comm_is_inter(coll->comm))
        pl_arg_not_in_place(call, sendbuf, "sendbuf", not_inter);
    pl_arg_not_in_place(call, recvbuf, "recvbuf", not_here);
}

/* The block from a process to itself, `from` and `to` bytes into the buffers. */
static void arg_own_block(struct pl_call *call, const struct pl_coll *coll, MPI_Count sent, MPI_Aint from,
                          MPI_Count received, MPI_Aint to)
{
    pl_arg_apart(call, pl_address(coll->sendbuf, from), sent, coll->sendtype, pl_address(coll->recvbuf, to), received,
                 coll->recvtype);
    arg_own(call, coll, sent, received);
}

int pl_do_alltoall(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_ALLTOALL, .comm = pl_arg_comm(call, comm) };
    int n = mpi_coll_move_targets(&coll);
    arg_exchanged(call, &coll, sendbuf, recvbuf);
    arg_sent(call, &coll, sendbuf, sendcount, sendtype, n);
    arg_received(call, &coll, recvbuf, recvcount, recvtype, n);
    if (!call->err)
        pl_arg_apart(call, sendbuf, blocks_count(sendcount, n), coll.sendtype, recvbuf, blocks_count(recvcount, n),
                     coll.recvtype);
    arg_own(call, &coll, sendcount, recvcount);
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_alltoallv(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs sdispls,
                    MPI_Datatype sendtype, void *recvbuf, struct pl_counts recvcounts, struct pl_displs rdispls,
                    MPI_Datatype recvtype, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_ALLTOALLV, .comm = pl_arg_comm(call, comm) };
    arg_exchanged(call, &coll, sendbuf, recvbuf);
    arg_sent_each(call, &coll, sendbuf, sendcounts, sdispls, "sdispls", sendtype);
    arg_received_each(call, &coll, recvbuf, recvcounts, rdispls, "rdispls", recvtype);
    if (!call->err && sendbuf != MPI_IN_PLACE && !pl_comm_is_inter(coll.comm)) {
        int rank = coll.comm->rank;
        MPI_Count sent = pl_count_at(sendcounts, rank), received = pl_count_at(recvcounts, rank);
        arg_own_block(call, &coll, sent, pl_displ_at(sdispls, rank) * coll.sendtype->extent, received,
                      pl_displ_at(rdispls, rank) * coll.recvtype->extent);
    }
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_alltoallw(struct pl_call *call, const void *sendbuf, struct pl_counts sendcounts, struct pl_displs sdispls,
                    const MPI_Datatype sendtypes[], void *recvbuf, struct pl_counts recvcounts,
                    struct pl_displs rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = {
        .kind = PL_COLL_ALLTOALLW,
        .comm = pl_arg_comm(call, comm),
        .sendbuf = sendbuf,
        .recvbuf = recvbuf,
        .recvcounts = recvcounts,
        .recvdispls = rdispls,
        .recvtypes = recvtypes,
    };
    int n = mpi_coll_move_targets(&coll);
    arg_exchanged(call, &coll, sendbuf, recvbuf);
    if (sendbuf != MPI_IN_PLACE) {
        coll.sendcounts = sendcounts;
        coll.senddispls = sdispls;
        coll.sendtypes = sendtypes;
        arg_counts(call, sendcounts, n, "sendcounts");
        arg_displs(call, sdispls, "sdispls");
        pl_arg_types(call, sendbuf, sendcounts, sdispls, sendtypes, n, "sendtypes");
    }
    arg_counts(call, recvcounts, n, "recvcounts");
    arg_displs(call, rdispls, "rdispls");
    pl_arg_types(call, recvbuf, recvcounts, rdispls, recvtypes, n, "recvtypes");
    if (!call->err && sendbuf != MPI_IN_PLACE && !pl_comm_is_inter(coll.comm)) {
        int rank = coll.comm->rank;
        MPI_Count sent = pl_count_at(sendcounts, rank), received = pl_count_at(recvcounts, rank);
        coll.sendtype = sent > 0 ? pl_arg_type(call, sendtypes[rank]) : PL_TYPE_BYTE;
        coll.recvtype = received > 0 ? pl_arg_type(call, recvtypes[rank]) : PL_TYPE_BYTE;
        arg_own_block(call, &coll, sent, pl_displ_at(sdispls, rank), received, pl_displ_at(rdispls, rank));
    }
    return pl_coll_leave(call, &coll, &form);
}
