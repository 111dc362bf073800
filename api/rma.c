/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations. All forms of an operation share a function that checks the arguments and fills in a struct
 * pl_rma. */
#include "core/rma/rma.h"
#include "api/call.h"
#include "api/pmpi.h"
#include "core/rma/accumulate.h"

static const struct pl_arg_names target_names = { .count = "target_count", .type = "target_datatype" };
static const struct pl_arg_names origin_names = { "origin_addr", "origin_count", "origin_datatype", NULL, NULL };
static const struct pl_arg_names result_names = { "result_addr", "result_count", "result_datatype", NULL, NULL };
static const struct pl_arg_names compare_names = { .buffer = "compare_addr" };

/* Of operations on one element, whose datatype is an argument of its own. */
static const struct pl_arg_names single_origin_names = { .buffer = "origin_addr" };
static const struct pl_arg_names single_result_names = { .buffer = "result_addr" };

/* The arguments of all operations: the window, the rank, and the target's part. */
static struct pl_rma arg_target(struct pl_call *call, enum pl_rma_kind kind, const struct pl_arg_names *names,
                                MPI_Win win, int rank, MPI_Aint disp, MPI_Count count, MPI_Datatype datatype)
{
    struct pl_win *w = pl_arg_win(call, win);
    struct pl_rma rma = { .kind = kind, .win = w, .target = rank, .disp = disp, .count = count };
    pl_arg_dest(call, w ? w->comm : NULL, rank);
    if (disp < 0 && w && w->flavor != MPI_WIN_FLAVOR_DYNAMIC && rank != MPI_PROC_NULL)
        pl_call_error(call, MPI_ERR_DISP, "target_disp is %lld; it must not be negative", (long long)disp);
    call->names = names;
    pl_arg_count(call, count);
    rma.type = pl_arg_type(call, datatype);
    return rma;
}

static const struct pl_type *arg_data(struct pl_call *call, const struct pl_arg_names *names, const void *buf,
                                      MPI_Count count, MPI_Datatype datatype)
{
    call->names = names;
    pl_arg_count(call, count);
    struct pl_type *type = pl_arg_type(call, datatype);
    pl_arg_buffer(call, buf, count, type);
    return type;
}

static void arg_origin(struct pl_call *call, struct pl_rma *rma, const struct pl_arg_names *names, const void *buf,
                       MPI_Count count, MPI_Datatype datatype)
{
    rma->origin = buf;
    rma->origin_count = count;
    rma->origin_type = arg_data(call, names, buf, count, datatype);
}

static void arg_result(struct pl_call *call, struct pl_rma *rma, const struct pl_arg_names *names, void *buf,
                       MPI_Count count, MPI_Datatype datatype)
{
    rma->result = buf;
    rma->result_count = count;
    rma->result_type = arg_data(call, names, buf, count, datatype);
}

static bool rma_is_no_op(const struct pl_op *op)
{
    return op && (uintptr_t)op->obj.abi == (uintptr_t)MPI_NO_OP;
}

/* Of accumulates: may the operation be applied, and have both ends the same type of elements? The standard demands
 * that the datatypes be of the same elements (MPI-5.0 section 12.3.4); without elements none can differ. */
static void arg_operation(struct pl_call *call, struct pl_rma *rma, MPI_Op op)
{
    rma->op = pl_arg_op(call, op);
    if (!call->err && rma->count > 0)
        call->err = pl_rma_check_op(rma->op, rma->type);
    const struct pl_type *here = rma->origin_type ? rma->origin_type : rma->result_type;
    if (!call->err && rma->count > 0 && here->element != rma->type->element && here->size > 0 && rma->type->size > 0 &&
        (!here->element || here->element->basic != rma->type->element->basic))
        pl_call_error(call, MPI_ERR_TYPE, "the datatypes at origin and target have different types of elements");
}

/* `request` NULL: the form without one. */
static int mpi_rma_start(struct pl_call *call, const struct pl_rma *rma, bool wants_request, MPI_Request *request)
{
    struct pl_request *made;
    if (wants_request)
        pl_arg_output(call, request, "request");
    if (!call->err)
        call->err = pl_rma_start(rma, wants_request ? &made : NULL);
    if (!call->err && wants_request)
        *request = pl_object_handle(made);
    return pl_call_leave(call);
}

/* --- put and get ------------------------------------------------------------------------------------------------ */

static int mpi_rma_put(struct pl_call *call, const void *origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Win win, bool wants_request, MPI_Request *request)
{
    struct pl_rma rma =
        arg_target(call, PL_RMA_PUT, &target_names, win, target_rank, target_disp, target_count, target_datatype);
    arg_origin(call, &rma, &origin_names, origin_addr, origin_count, origin_datatype);
    return mpi_rma_start(call, &rma, wants_request, request);
}

static int mpi_rma_get(struct pl_call *call, void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                       MPI_Win win, bool wants_request, MPI_Request *request)
{
    struct pl_rma rma =
        arg_target(call, PL_RMA_GET, &target_names, win, target_rank, target_disp, target_count, target_datatype);
    arg_result(call, &rma, &origin_names, origin_addr, origin_count, origin_datatype);
    return mpi_rma_start(call, &rma, wants_request, request);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Put);
    return mpi_rma_put(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, false, NULL);
}

int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Put_c);
    return mpi_rma_put(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, false, NULL);
}

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Rput);
    return mpi_rma_put(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, true, request);
}

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Rput_c);
    return mpi_rma_put(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, true, request);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Get);
    return mpi_rma_get(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, false, NULL);
}

int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Get_c);
    return mpi_rma_get(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, false, NULL);
}

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Rget);
    return mpi_rma_get(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, true, request);
}

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Rget_c);
    return mpi_rma_get(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, true, request);
}

/* --- accumulates -------------------------------------------------------------------------------------------------- */

static int mpi_rma_accumulate(struct pl_call *call, const void *origin_addr, MPI_Count origin_count,
                              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                              MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                              bool wants_request, MPI_Request *request)
{
    struct pl_rma rma = arg_target(call, PL_RMA_ACCUMULATE, &target_names, win, target_rank, target_disp, target_count,
                                   target_datatype);
    arg_origin(call, &rma, &origin_names, origin_addr, origin_count, origin_datatype);
    arg_operation(call, &rma, op);
    if (!call->err && rma_is_no_op(rma.op))
        pl_call_error(call, MPI_ERR_OP, "op is MPI_NO_OP: an accumulate without a result has no use for it");
    return mpi_rma_start(call, &rma, wants_request, request);
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Accumulate);
    return mpi_rma_accumulate(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, false, NULL);
}

int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Accumulate_c);
    return mpi_rma_accumulate(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, false, NULL);
}

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Raccumulate);
    return mpi_rma_accumulate(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, true, request);
}

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Raccumulate_c);
    return mpi_rma_accumulate(&call, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, true, request);
}

/* The two buffers of MPI_Get_accumulate(). MPI_NO_OP ignores the origin's. */
struct rma_buffers {
    const void *origin_addr;
    MPI_Count origin_count;
    MPI_Datatype origin_datatype;
    void *result_addr;
    MPI_Count result_count;
    MPI_Datatype result_datatype;
};

static int mpi_rma_get_accumulate(struct pl_call *call, const struct rma_buffers *buffers, int target_rank,
                                  MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                                  MPI_Win win, bool wants_request, MPI_Request *request)
{
    struct pl_rma rma = arg_target(call, PL_RMA_GET_ACCUMULATE, &target_names, win, target_rank, target_disp,
                                   target_count, target_datatype);
    if (op != MPI_NO_OP)
        arg_origin(call, &rma, &origin_names, buffers->origin_addr, buffers->origin_count, buffers->origin_datatype);
    arg_result(call, &rma, &result_names, buffers->result_addr, buffers->result_count, buffers->result_datatype);
    arg_operation(call, &rma, op);
    return mpi_rma_start(call, &rma, wants_request, request);
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Get_accumulate);
    struct rma_buffers buffers = { origin_addr, origin_count, origin_datatype,
                                   result_addr, result_count, result_datatype };
    return mpi_rma_get_accumulate(&call, &buffers, target_rank, target_disp, target_count, target_datatype, op, win,
                                  false, NULL);
}

int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Get_accumulate_c);
    struct rma_buffers buffers = { origin_addr, origin_count, origin_datatype,
                                   result_addr, result_count, result_datatype };
    return mpi_rma_get_accumulate(&call, &buffers, target_rank, target_disp, target_count, target_datatype, op, win,
                                  false, NULL);
}

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Rget_accumulate);
    struct rma_buffers buffers = { origin_addr, origin_count, origin_datatype,
                                   result_addr, result_count, result_datatype };
    return mpi_rma_get_accumulate(&call, &buffers, target_rank, target_disp, target_count, target_datatype, op, win,
                                  true, request);
}

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Rget_accumulate_c);
    struct rma_buffers buffers = { origin_addr, origin_count, origin_datatype,
                                   result_addr, result_count, result_datatype };
    return mpi_rma_get_accumulate(&call, &buffers, target_rank, target_disp, target_count, target_datatype, op, win,
                                  true, request);
}

/* --- single elements ------------------------------------------------------------------------------------------ */

static void arg_single(struct pl_call *call, const struct pl_type *type)
{
    char label[MPI_MAX_OBJECT_NAME];
    if (type && !type->obj.predefined && !type->permanent)
        pl_call_error(call, MPI_ERR_TYPE, "datatype is %s; it must be predefined", pl_type_label(type, label));
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Fetch_and_op);
    struct pl_rma rma = arg_target(&call, PL_RMA_GET_ACCUMULATE, NULL, win, target_rank, target_disp, 1, datatype);
    arg_single(&call, rma.type);
    if (op != MPI_NO_OP)
        arg_origin(&call, &rma, &single_origin_names, origin_addr, 1, datatype);
    arg_result(&call, &rma, &single_result_names, result_addr, 1, datatype);
    arg_operation(&call, &rma, op);
    return mpi_rma_start(&call, &rma, false, NULL);
}

/* Integers, logicals and bytes of all languages, and characters as in reductions. */
static bool rma_is_comparable(const struct pl_type *type)
{
    switch (type->basic) {
    case PL_I8:
    case PL_I16:
    case PL_I32:
    case PL_I64:
    case PL_I128:
    case PL_U8:
    case PL_U16:
    case PL_U32:
    case PL_U64:
    case PL_BOOL:
    case PL_L8:
    case PL_L16:
    case PL_L32:
    case PL_L64:
    case PL_L128:
    case PL_BYTE:
    case PL_CHAR: return true;
    default: return false;
    }
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Compare_and_swap);
    struct pl_rma rma = arg_target(&call, PL_RMA_COMPARE_AND_SWAP, NULL, win, target_rank, target_disp, 1, datatype);
    char label[MPI_MAX_OBJECT_NAME];
    arg_single(&call, rma.type);
    if (!call.err && !rma_is_comparable(rma.type))
        pl_call_error(&call, MPI_ERR_TYPE, "datatype is %s; it must be an integer, logical or byte",
                      pl_type_label(rma.type, label));
    arg_origin(&call, &rma, &single_origin_names, origin_addr, 1, datatype);
    arg_result(&call, &rma, &single_result_names, result_addr, 1, datatype);
    call.names = &compare_names;
    pl_arg_buffer(&call, compare_addr, 1, rma.type);
    rma.compare = compare_addr;
    rma.op = pl_op_predefined((uintptr_t)MPI_REPLACE);
    return mpi_rma_start(&call, &rma, false, NULL);
}

PL_NAMES_RMA(PL_PMPI)
