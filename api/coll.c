/* SPDX-License-Identifier: BSD-3-Clause */
/* See coll.h. */
#include "api/coll.h"

#include "core/base/memory.h"
#include "core/coll/agree.h"
#include "core/coll/algorithm.h"
#include "core/comm/neighbor.h"
#include "core/engine/comm_break.h"

static void *coll_keep(const void *object)
{
    struct pl_object *kept = (struct pl_object *)object;
    return kept && !kept->predefined ? pl_object_retain(kept) : NULL;
}

/* The datatypes of alltoallw, and what else says where its blocks are. */
static int coll_run_keeping_blocks(const struct pl_coll *coll)
{
    enum { FEW = 32 };
    struct pl_block few[FEW];
    struct pl_coll kept = *coll;
    bool neighbors = coll->kind == PL_COLL_NEIGHBOR_ALLTOALLW;
    int sent = neighbors ? pl_neighbors_of(coll->comm).destinations : pl_comm_targets(coll->comm);
    int received = neighbors ? pl_neighbors_of(coll->comm).sources : pl_comm_targets(coll->comm);
    sent = coll->sendtypes ? sent : 0; /* in place */
    size_t count = (size_t)sent + (size_t)received;
    struct pl_block *blocks = count <= FEW ? few : pl_malloc(count * sizeof *blocks);
    if (!blocks)
        return pl_comm_break_for_all(coll->comm, pl_fail_memory("the datatypes of a collective"));
    for (int i = 0; i < sent; i++)
        blocks[i] = pl_send_block(coll, i);
    for (int i = 0; i < received; i++)
        blocks[sent + i] = pl_recv_block(coll, i);
    for (size_t i = 0; i < count; i++)
        pl_object_retain((struct pl_type *)blocks[i].type);
    kept.sendblocks = sent ? blocks : NULL;
    kept.recvblocks = blocks + sent;
    int rc = pl_coll_run(&kept);
    for (size_t i = 0; i < count; i++)
        pl_object_release((struct pl_type *)blocks[i].type);
    if (blocks != few)
        free(blocks);
    return rc;
}

/* While the call waits, its operation, or another thread, may free the operation and the datatypes. */
static int coll_run_keeping(const struct pl_coll *coll)
{
    if (coll->recvtypes)
        return coll_run_keeping_blocks(coll);
    void *op = coll_keep(coll->op), *sendtype = coll_keep(coll->sendtype), *recvtype = coll_keep(coll->recvtype);
    int rc = pl_coll_run(coll);
    pl_object_release(op);
    pl_object_release(sendtype);
    pl_object_release(recvtype);
    return rc;
}

/* In the checking mode. A single process has nothing to compare. */
static PL_COLD int coll_leave_agreed(struct pl_call *call, const struct pl_coll *coll, const struct pl_form *form)
{
    struct pl_request *request;
    bool alone = coll->comm->size == 1 && !pl_comm_is_inter(coll->comm);
    if (form->kind == PL_FORM_START) {
        call->err = alone ? pl_coll_start(coll, &request) : pl_coll_start_agreed(coll, call->function, &request);
    } else {
        enum pl_coll_form kind = form->kind == PL_FORM_RUN ? PL_COLL_BLOCKING : PL_COLL_PERSISTENT;
        call->err = alone ? MPI_SUCCESS : pl_agree(coll, kind, call->function);
        if (!call->err)
            call->err = form->kind == PL_FORM_RUN ? coll_run_keeping(coll) : pl_coll_prepare(coll, &request);
    }
    if (!call->err && form->kind != PL_FORM_RUN)
        *form->request = pl_object_handle(request);
    return pl_call_leave(call);
}

int pl_coll_leave(struct pl_call *call, const struct pl_coll *coll, const struct pl_form *form)
{
    struct pl_request *request;
    if (form->kind != PL_FORM_RUN)
        pl_arg_output(call, form->request, "request");
    if (form->kind == PL_FORM_PREPARE)
        pl_arg_info_or_null(call, form->info);
    if (call->err)
        return pl_call_fail(call);
    if (pl_unlikely(pl_coll_agreeing))
        return coll_leave_agreed(call, coll, form);
    if (form->kind == PL_FORM_RUN) {
        call->err = coll_run_keeping(coll);
        return pl_call_leave(call);
    }
    call->err = form->kind == PL_FORM_START ? pl_coll_start(coll, &request) : pl_coll_prepare(coll, &request);
    if (!call->err)
        *form->request = pl_object_handle(request);
    return pl_call_leave(call);
}

void pl_arg_coll_root(struct pl_call *call, const struct pl_comm *comm, int root)
{
    if (!comm || call->err)
        return;
    if (!pl_comm_is_inter(comm))
        pl_arg_root(call, comm, root);
    else if (root != MPI_ROOT && root != MPI_PROC_NULL && (root < 0 || root >= comm->inter.remote->size))
        pl_call_error(call, MPI_ERR_ROOT,
                      "root is %d; on this intercommunicator it must be MPI_ROOT, MPI_PROC_NULL or a rank of the "
                      "remote group of %d",
                      root, comm->inter.remote->size);
}

void pl_arg_not_in_place(struct pl_call *call, const void *buf, const char *name, const char *why)
{
    if (buf == MPI_IN_PLACE)
        pl_call_error(call, MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which %s", name, why);
}

void pl_arg_apart(struct pl_call *call, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                  const void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype)
{
    if (call->err || sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE)
        return;
    size_t sent = (size_t)(sendcount * sendtype->size), received = (size_t)(recvcount * recvtype->size);
    uintptr_t from = (uintptr_t)sendbuf + (uintptr_t)sendtype->true_lb,
              to = (uintptr_t)recvbuf + (uintptr_t)recvtype->true_lb;
    bool same = sendbuf == recvbuf && sendtype == recvtype;
    bool overlap = sendtype->dense && recvtype->dense && from < to + received && to < from + sent;
    if (sent && received && (same || overlap))
        pl_call_error(call, MPI_ERR_BUFFER,
                      "the send buffer overlaps the receive buffer; MPI_IN_PLACE is meant for this");
}

struct pl_type *pl_arg_blocks(struct pl_call *call, const void *buf, MPI_Count count, MPI_Datatype datatype, int blocks)
{
    struct pl_type *type = pl_arg_type(call, datatype);
    MPI_Count all = 0;
    pl_arg_count(call, count);
    if (!call->err && __builtin_mul_overflow(count, (MPI_Count)blocks, &all))
        pl_call_error(call, MPI_ERR_COUNT, "%s is %lld in each of %d blocks: more than can be counted",
                      call->names && call->names->count ? call->names->count : "count", (long long)count, blocks);
    pl_arg_buffer(call, buf, all, type);
    return type;
}

void pl_arg_types(struct pl_call *call, const void *buf, struct pl_counts counts, struct pl_displs displs,
                  const MPI_Datatype types[], int n, const char *name)
{
    if (n > 0 && !types)
        pl_call_error(call, MPI_ERR_ARG, "%s is NULL", name);
    for (int i = 0; !call->err && i < n; i++)
        if (pl_count_at(counts, i) > 0) {
            const struct pl_type *type = pl_arg_type(call, types[i]);
            pl_check_buffer(call, pl_address(buf, pl_displ_at(displs, i)), pl_count_at(counts, i), type);
            if (call->err)
                pl_call_element(call, name, i);
        }
}
