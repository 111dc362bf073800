/* SPDX-License-Identifier: BSD-3-Clause */
/* See coll_reduce.h; MPI-5.0 sections 6.9 to 6.11. */
#include "api/coll_reduce.h"

static const char not_inter[] = "has no meaning on an intercommunicator";
static const char not_here[] = "has no meaning in this place";
static const char root_only[] = "only the root may pass";

/* Datatype, count and operation, which are significant at all processes. */
static void arg_operands(struct pl_call *call, struct pl_coll *coll, MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
    coll->recvcount = count;
    coll->recvtype = pl_arg_type(call, datatype);
    coll->op = pl_arg_op(call, op);
    pl_arg_count(call, count);
    if (!call->err)
        call->err = pl_op_check(coll->op, coll->recvtype);
}

/* The send buffer of a process whose receive buffer is not significant. */
static void arg_given(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, MPI_Count count)
{
    coll->sendbuf = sendbuf;
    call->names = &pl_send_names;
    pl_arg_buffer(call, sendbuf, count, coll->recvtype);
}

/* The two buffers of a process that has both: `sent` elements go in, `received` come out. */
static void arg_both(struct pl_call *call, struct pl_coll *coll, const void *sendbuf, MPI_Count sent, void *recvbuf,
                     MPI_Count received)
{
    bool in_place = sendbuf == MPI_IN_PLACE;
    coll->sendbuf = sendbuf;
    coll->recvbuf = recvbuf;
    if (call->err)
        return;
    if (pl_comm_is_inter(coll->comm))
        pl_arg_not_in_place(call, sendbuf, "sendbuf", not_inter);
    pl_arg_not_in_place(call, recvbuf, "recvbuf", not_here);
    call->names = &pl_send_names;
    if (!in_place)
        pl_arg_buffer(call, sendbuf, sent, coll->recvtype);
    call->names = &pl_recv_names;
    pl_arg_buffer(call, recvbuf, in_place ? sent : received, coll->recvtype);
    pl_arg_apart(call, sendbuf, sent, coll->recvtype, recvbuf, received, coll->recvtype);
}

int pl_do_reduce(struct pl_call *call, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, int root, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_REDUCE, .comm = pl_arg_comm(call, comm), .root = root };
    pl_arg_coll_root(call, coll.comm, root);
    if (call->err || root == MPI_PROC_NULL)
        return pl_coll_leave(call, &coll, &form);
    bool is_root = pl_coll_is_root(coll.comm, root);
    arg_operands(call, &coll, count, datatype, op);
    if (is_root && !pl_comm_is_inter(coll.comm)) {
        arg_both(call, &coll, sendbuf, count, recvbuf, count);
    } else if (is_root) {
        coll.recvbuf = recvbuf;
        call->names = &pl_recv_names;
        pl_arg_not_in_place(call, recvbuf, "recvbuf", not_here);
        pl_arg_buffer(call, recvbuf, count, coll.recvtype);
    } else {
        pl_arg_not_in_place(call, sendbuf, "sendbuf", root_only);
        arg_given(call, &coll, sendbuf, count);
    }
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_reduction(struct pl_call *call, enum pl_coll_kind kind, const void *sendbuf, void *recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = kind };
    coll.comm = kind == PL_COLL_ALLREDUCE ? pl_arg_comm(call, comm) : pl_arg_intracomm(call, comm);
    arg_operands(call, &coll, count, datatype, op);
    if (!call->err && kind == PL_COLL_EXSCAN && coll.comm->rank == 0 && sendbuf != MPI_IN_PLACE)
        arg_given(call, &coll, sendbuf, count); /* the first receives nothing */
    else
        arg_both(call, &coll, sendbuf, count, recvbuf, count);
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_reduce_scatter_block(struct pl_call *call, const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form)
{
    static const struct pl_arg_names names = { .count = "recvcount" };
    struct pl_coll coll = { .kind = PL_COLL_REDUCE_SCATTER_BLOCK, .comm = pl_arg_comm(call, comm) };
    call->names = &names;
    arg_operands(call, &coll, recvcount, datatype, op);
    MPI_Count total = 0;
    if (!call->err && __builtin_mul_overflow(recvcount, (MPI_Count)coll.comm->size, &total))
        pl_call_error(call, MPI_ERR_COUNT, "recvcount is %lld for each of %d processes: more than can be counted",
                      (long long)recvcount, coll.comm->size);
    arg_both(call, &coll, sendbuf, total, recvbuf, recvcount);
    return pl_coll_leave(call, &coll, &form);
}

int pl_do_reduce_scatter(struct pl_call *call, const void *sendbuf, void *recvbuf, struct pl_counts recvcounts,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, struct pl_form form)
{
    struct pl_coll coll = { .kind = PL_COLL_REDUCE_SCATTER, .comm = pl_arg_comm(call, comm), .recvcounts = recvcounts };
    MPI_Count total = 0;
    if (!call->err && !recvcounts.narrow && !recvcounts.wide)
        pl_call_error(call, MPI_ERR_ARG, "recvcounts is NULL");
    for (int i = 0; !call->err && i < coll.comm->size; i++) {
        MPI_Count count = pl_count_at(recvcounts, i);
        if (count < 0)
            pl_call_error(call, MPI_ERR_COUNT, "recvcounts[%d] is %lld; it must not be negative", i, (long long)count);
        else if (__builtin_add_overflow(total, count, &total))
            pl_call_error(call, MPI_ERR_COUNT, "recvcounts has more elements together than can be counted");
    }
    arg_operands(call, &coll, 0, datatype, op);
    if (!call->err)
        arg_both(call, &coll, sendbuf, total, recvbuf, pl_count_at(recvcounts, coll.comm->rank));
    return pl_coll_leave(call, &coll, &form);
}
