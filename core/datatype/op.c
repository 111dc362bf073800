/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations as objects, and their application by the loops of op_kernels.c or the user's function. See
 * op.h. */
#include "core/datatype/op.h"

#include <limits.h>

#include "core/base/error.h"
#include "core/datatype/cursor.h"

/* An int function gets at most this many elements at once. */
static const MPI_Count CHUNK = INT_MAX;

#define OPERATION(number, name_, kernels_)                                                                             \
    [number - PL_OP_FIRST] = {                                                                                         \
        .obj = PL_OBJECT_PREDEFINED(PL_OP, number), .commute = true, .kernels = kernels_, .name = #name_               \
    }

#define SELECTION(number, name_) [number - PL_OP_FIRST] = { .obj = PL_OBJECT_PREDEFINED(PL_OP, number), .name = #name_ }

/* By the handle's number. */
struct pl_op pl_ops[PL_OP_NUMBERS] = {
    OPERATION(0x21, MPI_SUM, &pl_kernels_sum),
    OPERATION(0x22, MPI_MIN, &pl_kernels_min),
    OPERATION(0x23, MPI_MAX, &pl_kernels_max),
    OPERATION(0x24, MPI_PROD, &pl_kernels_prod),
    OPERATION(0x28, MPI_BAND, &pl_kernels_band),
    OPERATION(0x29, MPI_BOR, &pl_kernels_bor),
    OPERATION(0x2a, MPI_BXOR, &pl_kernels_bxor),
    OPERATION(0x30, MPI_LAND, &pl_kernels_land),
    OPERATION(0x31, MPI_LOR, &pl_kernels_lor),
    OPERATION(0x32, MPI_LXOR, &pl_kernels_lxor),
    OPERATION(0x38, MPI_MINLOC, &pl_kernels_minloc),
    OPERATION(0x39, MPI_MAXLOC, &pl_kernels_maxloc),
    /* For one-sided communication only, on any type; without loops. They give one of their operands, and so do not
     * commute. */
    SELECTION(0x3c, MPI_REPLACE),
    SELECTION(0x3d, MPI_NO_OP),
};

static bool op_is(const struct pl_op *op, MPI_Op constant)
{
    return (uintptr_t)op->obj.abi == (uintptr_t)constant;
}

void *pl_op_predefined(uintptr_t constant)
{
    struct pl_op *op = pl_op_basic(constant);
    return op && op->name ? op : NULL;
}

void pl_op_destroy(void *op)
{
    struct pl_op *o = op;
    if (o->destructor)
        o->destructor(o->extra_state);
}

static bool op_is_loc(const struct pl_op *op)
{
    return op->kernels == &pl_kernels_minloc || op->kernels == &pl_kernels_maxloc;
}

bool pl_op_fits(const struct pl_op *op, const struct pl_type *type)
{
    if (pl_op_is_user(op) || !op->kernels || (!type->obj.predefined && !type->permanent))
        return pl_op_is_user(op);
    return type->basic == PL_P_CUSTOM && op_is_loc(op) ? pl_op_loc_comparable(type)
                                                       : op->kernels->loop[type->basic] != NULL;
}

int pl_op_check(const struct pl_op *op, const struct pl_type *type)
{
    char label[MPI_MAX_OBJECT_NAME];
    if (pl_op_is_user(op))
        return MPI_SUCCESS;
    if (!op->kernels)
        return pl_fail(MPI_ERR_OP, "%s is only for one-sided communication, not for reductions", op->name);
    if (!type->obj.predefined && !type->permanent)
        return pl_fail(MPI_ERR_OP, "%s accepts only predefined datatypes, not %s", op->name,
                       pl_type_label(type, label));
    if (type->basic == PL_P_CUSTOM && op_is_loc(op)) {
        if (pl_op_loc_comparable(type))
            return MPI_SUCCESS;
        return pl_fail(MPI_ERR_OP, "%s cannot compare the parts of this pair: the compiler has no arithmetic for them",
                       op->name);
    }
    if (!op->kernels->loop[type->basic])
        return pl_fail(MPI_ERR_OP, "%s is not defined for %s", op->name, pl_type_label(type, label));
    return MPI_SUCCESS;
}

/* The function gets copies of count and datatype, since it may change what the pointers point to. */
static void op_call_user(const struct pl_op *op, const void *in, void *inout, MPI_Count count,
                         const struct pl_type *type)
{
    MPI_Datatype handle = pl_type_handle(type);
    if (op->user_x) {
        op->user_x((void *)in, inout, count, handle, op->extra_state);
        return;
    }
    if (op->user_c) {
        op->user_c((void *)in, inout, &count, &handle);
        return;
    }
    for (MPI_Count done = 0; done < count; done += CHUNK) {
        int length = (int)(count - done < CHUNK ? count - done : CHUNK);
        MPI_Datatype datatype = handle;
        MPI_Aint offset = (MPI_Aint)(done * type->extent);
        op->user(pl_address(in, offset), pl_address(inout, offset), &length, &datatype);
    }
}

/* The user may have freed the datatype since the operation was started; the function can still query it. */
static void op_apply_user(const struct pl_op *op, const void *in, void *inout, MPI_Count count,
                          const struct pl_type *type)
{
    struct pl_type *shown = pl_handle_share((void *)(uintptr_t)type);
    op_call_user(op, in, inout, count, type);
    pl_handle_drop(shown);
}

void pl_op_apply(const struct pl_op *op, const void *in, void *inout, MPI_Count count, const struct pl_type *type)
{
    if (count == 0)
        return;
    if (pl_op_is_user(op))
        op_apply_user(op, in, inout, count, type);
    else if (type->basic == PL_P_CUSTOM && op_is_loc(op))
        pl_op_loc_pairs(type, op->kernels == &pl_kernels_minloc ? 1 : -1, in, inout, (size_t)count);
    else if (op->kernels)
        op->kernels->loop[type->basic](in, inout, inout, (size_t)count);
    else if (op_is(op, MPI_REPLACE))
        pl_type_copy(in, count, type, inout, count, type);
}
