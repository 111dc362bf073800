/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations: the predefined ones, on every type that the standard allows, and user-defined ones. */
#ifndef PLENUM_CORE_DATATYPE_OP_H
#define PLENUM_CORE_DATATYPE_OP_H

#include "core/datatype/datatype.h"
#include "core/datatype/op_kernels.h"
#include "core/object/object.h"
#include "mpi-ext.h"
#include "mpi.h"

struct pl_op {
    struct pl_object obj;
    bool commute;
    MPI_User_function *user; /* user-defined: one of the three */
    MPI_User_function_c *user_c;
    MPIX_User_function_x *user_x;
    MPIX_Destructor_function *destructor; /* of user_x's state; NULL: none */
    void *extra_state;
    const struct pl_op_kernels *kernels; /* predefined: loops by enum pl_basic */
    const char *name;                    /* "MPI_SUM", or "user" */
};

void *pl_op_predefined(uintptr_t constant);

/* The same, for fast paths. An entry that is not an operation has no loops. */
enum { PL_OP_FIRST = 0x20, PL_OP_NUMBERS = 0x20 };
extern struct pl_op pl_ops[PL_OP_NUMBERS];
static inline struct pl_op *pl_op_basic(uintptr_t constant)
{
    return constant - PL_OP_FIRST < PL_OP_NUMBERS ? &pl_ops[constant - PL_OP_FIRST] : NULL;
}

/* The loop of a predefined operation for a type; NULL: pl_op_apply() must be used, if pl_op_fits(). */
static inline pl_op_kernel *pl_op_loop(const struct pl_op *op, const struct pl_type *type)
{
    return op->kernels ? op->kernels->loop[type->basic] : NULL;
}

void pl_op_destroy(void *op);

static inline bool pl_op_is_user(const struct pl_op *op)
{
    return op->user || op->user_c || op->user_x;
}

/* Is the result of this reduction the same in whichever order the operands are combined? So it is for the predefined
 * operations on integers, which wrap around, on characters and bytes, and on logicals. */
static inline bool pl_op_is_exact(const struct pl_op *op, const struct pl_type *type)
{
    bool integer = type->basic >= PL_I8 && type->basic <= PL_U64,
         other = type->basic >= PL_BOOL && type->basic <= PL_BYTE;
    return op->kernels && op->commute && (integer || other);
}

/* Whether the operation may be applied to the type: MPI_SUCCESS, or MPI_ERR_OP with the reason recorded. */
int pl_op_check(const struct pl_op *op, const struct pl_type *type);

/* The same; records no error and takes no lock. */
bool pl_op_fits(const struct pl_op *op, const struct pl_type *type);

/* inout[i] = in[i] op inout[i] for `count` elements. Runs user code: the caller must not hold a lock. */
void pl_op_apply(const struct pl_op *op, const void *in, void *inout, MPI_Count count, const struct pl_type *type);

#endif
