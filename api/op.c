/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations: user-defined ones, and the local reduction. */
#include "core/datatype/op.h"

#include "api/call.h"
#include "api/pmpi.h"

#define NAMES(X) X(MPIX_Op_create_x)
NAMES(PL_WEAK)

/* An operation without a function yet. NULL after an error, which the call keeps. */
static struct pl_op *mpi_op_create(struct pl_call *call, bool has_function, int commute, const MPI_Op *op)
{
    if (!has_function)
        pl_call_error(call, MPI_ERR_ARG, "user_fn is NULL");
    pl_arg_output(call, op, "op");
    struct pl_op *o = call->err ? NULL : pl_object_create(PL_OP);
    if (!call->err && !o)
        call->err = MPI_ERR_NO_MEM;
    if (o) {
        o->commute = commute != 0;
        o->name = "user";
    }
    return o;
}

int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    struct pl_call call = PL_CALL(MPI_Op_create);
    struct pl_op *o = mpi_op_create(&call, user_fn != NULL, commute, op);
    if (o) {
        o->user = user_fn;
        *op = pl_object_handle(o);
    }
    return pl_call_leave(&call);
}

int MPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    struct pl_call call = PL_CALL(MPI_Op_create_c);
    struct pl_op *o = mpi_op_create(&call, user_fn != NULL, commute, op);
    if (o) {
        o->user_c = user_fn;
        *op = pl_object_handle(o);
    }
    return pl_call_leave(&call);
}

int MPIX_Op_create_x(MPIX_User_function_x *user_fn, MPIX_Destructor_function *destructor, int commute,
                     void *extra_state, MPI_Op *op)
{
    struct pl_call call = PL_CALL(MPIX_Op_create_x);
    struct pl_op *o = mpi_op_create(&call, user_fn != NULL, commute, op);
    if (o) {
        o->user_x = user_fn;
        o->destructor = destructor;
        o->extra_state = extra_state;
        *op = pl_object_handle(o);
    }
    return pl_call_leave(&call);
}

int MPI_Op_free(MPI_Op *op)
{
    struct pl_call call = PL_CALL(MPI_Op_free);
    pl_arg_output(&call, op, "op");
    struct pl_op *o = call.err ? NULL : pl_arg_op(&call, *op);
    if (o && o->obj.predefined)
        pl_call_error(&call, MPI_ERR_OP, "op is predefined (%s) and cannot be freed", o->name);
    if (!call.err) {
        pl_handle_drop(o);
        *op = MPI_OP_NULL;
    }
    return pl_call_leave(&call);
}

int MPI_Op_commutative(MPI_Op op, int *commute)
{
    struct pl_call call = PL_CALL(MPI_Op_commutative);
    struct pl_op *o = pl_arg_op(&call, op);
    pl_arg_output(&call, commute, "commute");
    if (!call.err)
        *commute = o->commute;
    return pl_call_leave(&call);
}

static int reduce_local(struct pl_call *call, const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    pl_arg_count(call, count);
    struct pl_type *t = pl_arg_type(call, datatype);
    struct pl_op *o = pl_arg_op(call, op);
    call->names = &(const struct pl_arg_names){ .buffer = "inbuf" };
    pl_arg_buffer(call, inbuf, count, t);
    call->names = &(const struct pl_arg_names){ .buffer = "inoutbuf" };
    pl_arg_buffer(call, inoutbuf, count, t);
    if (count > 0 && inbuf == inoutbuf && inbuf)
        pl_call_error(call, MPI_ERR_BUFFER, "inbuf and inoutbuf are the same");
    if (!call->err)
        call->err = pl_op_check(o, t);
    if (!call->err)
        pl_op_apply(o, inbuf, inoutbuf, count, t);
    return pl_call_leave(call);
}

int MPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op)
{
    struct pl_call call = PL_CALL(MPI_Reduce_local);
    return reduce_local(&call, inbuf, inoutbuf, count, datatype, op);
}

int MPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
    struct pl_call call = PL_CALL(MPI_Reduce_local_c);
    return reduce_local(&call, inbuf, inoutbuf, count, datatype, op);
}

PL_NAMES_OP(PL_PMPI)
NAMES(PL_PMPI)
