/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unnamed predefined datatypes. See parametric.h.
 *
 * Locking: the list has a lock of its own. An object in it stays until pl_type_trim().
 */
#include "core/datatype/parametric.h"

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/vec.h"
#include "core/datatype/build.h"
#include "core/datatype/signature.h"

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_TYPES);

static PL_VEC(struct pl_type *) permanent; /* in the order of the first requests */

static bool envelope_equals(const struct pl_type_envelope *a, const struct pl_type_envelope *b)
{
    if (a->combiner != b->combiner)
        return false;
    for (size_t i = 0; i < a->ints; i++)
        if (a->integer[i] != b->integer[i])
            return false;
    for (size_t i = 0; i < a->types; i++)
        if (a->type[i] != b->type[i])
            return false;
    return true;
}

static struct pl_type *parametric_find(const struct pl_type_envelope *envelope)
{
    for (size_t i = 0; i < permanent.count; i++)
        if (envelope_equals(permanent.items[i]->envelope, envelope))
            return permanent.items[i];
    return NULL;
}

/* The type with this envelope: an existing one, or a new one, which `fill` completes. Steals the envelope. */
static int parametric_get(struct pl_type_envelope *envelope, int (*fill)(struct pl_type *type, const void *context),
                          const void *context, struct pl_type **result)
{
    int err = MPI_SUCCESS;
    pl_lock_take(&lock);
    *result = parametric_find(envelope);
    if (*result)
        goto drop_lock;
    struct pl_type *type = PL_VEC_RESERVE(&permanent, 1) ? pl_object_create(PL_DATATYPE) : NULL;
    if (!type) {
        err = pl_fail_memory("a predefined datatype");
        goto drop_lock;
    }
    err = fill(type, context);
    if (err) {
        pl_handle_drop(type);
        goto drop_lock;
    }
    type->envelope = envelope;
    type->permanent = type->committed = true;
    permanent.items[permanent.count++] = *result = type;
    envelope = NULL;
drop_lock:
    pl_lock_drop(&lock);
    pl_envelope_release(envelope);
    return err;
}

void pl_type_trim(void)
{
    pl_lock_take(&lock);
    size_t count = permanent.count;
    struct pl_type **types = PL_VEC_TAKE(&permanent);
    pl_lock_drop(&lock);
    for (size_t i = 0; i < count; i++)
        pl_handle_drop(types[i]);
    free(types);
}

/* --- Fortran's parametric types --- */

/* The capacity of a Fortran kind, and the named types with the same data. */
struct kind {
    int digits, range;
    MPI_Datatype real, complex;
};

static const struct kind real_kinds[] = {
    { 6, 37, MPI_REAL4, MPI_COMPLEX8 },
    { 15, 307, MPI_REAL8, MPI_COMPLEX16 },
#if __LDBL_MANT_DIG__ == 64
    { 18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX },
#endif
#if __LDBL_MANT_DIG__ == 106
    { 31, 291, MPI_REAL16, MPI_COMPLEX32 },
#else
    { 33, 4931, MPI_REAL16, MPI_COMPLEX32 },
#endif
};

static const struct {
    int digits;
    MPI_Datatype integer;
} integer_kinds[] = {
    { 2, MPI_INTEGER1 }, { 4, MPI_INTEGER2 }, { 9, MPI_INTEGER4 }, { 18, MPI_INTEGER8 }, { 38, MPI_INTEGER16 },
};

/* The smallest sufficient kind. MPI_UNDEFINED demands nothing. */
static MPI_Datatype f90_kind(int combiner, int precision, int range)
{
    if (combiner == MPI_COMBINER_F90_INTEGER) {
        for (size_t i = 0; i < sizeof integer_kinds / sizeof integer_kinds[0]; i++)
            if (range <= integer_kinds[i].digits)
                return integer_kinds[i].integer;
        return MPI_DATATYPE_NULL;
    }
    for (size_t i = 0; i < sizeof real_kinds / sizeof real_kinds[0]; i++)
        if (precision <= real_kinds[i].digits && range <= real_kinds[i].range)
            return combiner == MPI_COMBINER_F90_REAL ? real_kinds[i].real : real_kinds[i].complex;
    return MPI_DATATYPE_NULL;
}

/* Gives the type the data of a named one. */
static int parametric_fill_f90(struct pl_type *type, const void *context)
{
    const struct pl_type *named = context;
    type->size = named->size;
    type->extent = named->extent;
    type->true_extent = named->true_extent;
    type->align = named->align;
    type->dense = named->dense;
    type->solid = named->solid;
    type->basic = named->basic;
    type->element = named;
    return MPI_SUCCESS;
}

int pl_type_f90(int combiner, int precision, int range, struct pl_type **type)
{
    bool integer = combiner == MPI_COMBINER_F90_INTEGER;
    MPI_Datatype named = f90_kind(combiner, precision, range);
    *type = NULL;
    if (named == MPI_DATATYPE_NULL)
        return MPI_SUCCESS;
    struct pl_type_envelope *envelope = pl_envelope_create(combiner, integer ? 1 : 2, 0, 0, 0);
    if (!envelope)
        return MPI_ERR_NO_MEM;
    if (!integer)
        pl_envelope_put(envelope, precision);
    pl_envelope_put(envelope, range);
    return parametric_get(envelope, parametric_fill_f90, pl_type_predefined((uintptr_t)named), type);
}

/* --- pairs of value and index --- */

static const struct {
    MPI_Datatype value, index, pair;
} named_pairs[] = {
    { MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },      { MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
    { MPI_LONG, MPI_INT, MPI_LONG_INT },        { MPI_INT, MPI_INT, MPI_2INT },
    { MPI_SHORT, MPI_INT, MPI_SHORT_INT },      { MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
    { MPI_REAL, MPI_REAL, MPI_2REAL },          { MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION },
    { MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
};

static bool is_integer(const struct pl_type *type)
{
    return type->basic >= PL_I8 && type->basic <= PL_U64;
}

static bool is_real(const struct pl_type *type)
{
    return type->basic >= PL_F16 && type->basic <= PL_F128;
}

/* One element of each part, also if the two are the same. */
static const struct pl_type_signature *pair_signature(struct pl_type *const parts[2])
{
    struct pl_type_signature *signature = pl_malloc(sizeof *signature + 2 * sizeof signature->items[0]);
    if (!signature)
        return NULL;
    atomic_init(&signature->refs, 1);
    signature->size = parts[0]->size + parts[1]->size;
    signature->elements = signature->count = 2;
    for (int i = 0; i < 2; i++)
        signature->items[i] = (struct pl_signature_item){ 1, parts[i], NULL };
    return signature;
}

/* A C struct of the two, made like a derived type. It is its own element. */
static int parametric_fill_pair(struct pl_type *type, const void *context)
{
    struct pl_type *const *parts = context;
    struct pl_shape value = pl_type_shape(parts[0]), index = pl_type_shape(parts[1]), whole = { 0 };
    struct pl_shape_list list = { 0 };
    MPI_Count padding = -parts[0]->size & (parts[1]->align - 1);
    int err = pl_shape_list_add(&list, 0, &value);
    if (!err)
        err = pl_shape_list_add(&list, (MPI_Aint)(parts[0]->size + padding), &index);
    if (!err)
        err = pl_shape_list_finish(&list, &whole);
    else
        pl_shape_list_drop(&list);
    if (!err && !(type->signature = pair_signature(parts)))
        err = pl_fail_memory("a predefined datatype");
    if (err) {
        pl_shape_release(&whole);
        return err;
    }
    type->basic = PL_P_CUSTOM;
    type->element = type;
    type->size = whole.size;
    type->layout = whole.layout;
    type->align = parts[0]->align > parts[1]->align ? parts[0]->align : parts[1]->align;
    type->true_extent = whole.span;
    type->extent = whole.span + (-whole.span & (type->align - 1));
    type->solid = !type->layout;
    type->dense = type->solid && type->size == type->extent;
    return MPI_SUCCESS;
}

int pl_type_value_index(struct pl_type *value, struct pl_type *index, struct pl_type **type)
{
    *type = NULL;
    if (!value->obj.predefined || !index->obj.predefined)
        return MPI_SUCCESS;
    for (size_t i = 0; i < sizeof named_pairs / sizeof named_pairs[0]; i++)
        if (value == pl_type_predefined((uintptr_t)named_pairs[i].value) &&
            index == pl_type_predefined((uintptr_t)named_pairs[i].index)) {
            *type = pl_type_predefined((uintptr_t)named_pairs[i].pair);
            return MPI_SUCCESS;
        }
    if (!is_integer(index) || !(is_integer(value) || is_real(value)))
        return MPI_SUCCESS;
    struct pl_type *parts[] = { value, index };
    struct pl_type_envelope *envelope = pl_envelope_create(MPI_COMBINER_VALUE_INDEX, 0, 0, 0, 2);
    if (!envelope)
        return MPI_ERR_NO_MEM;
    pl_envelope_put_type(envelope, value);
    pl_envelope_put_type(envelope, index);
    return parametric_get(envelope, parametric_fill_pair, parts, type);
}
