/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructors of datatypes. Each reads its arguments from the envelope and drafts the shape of the data. It also
 * drafts the bounds, if markers are given or a type with markers is used. The rest is the same for all constructors.
 */
#include "core/datatype/build.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/array.h"
#include "core/datatype/signature.h"

/* The lowest and the highest displacement of copies of a type. */
struct range {
    MPI_Count low, high;
};

static int build_too_large(void)
{
    return pl_fail(MPI_ERR_VALUE_TOO_LARGE, "the datatype's extent does not fit into MPI_Count");
}

static int build_multiply(MPI_Count a, MPI_Count b, MPI_Count *product)
{
    return __builtin_mul_overflow(a, b, product) ? build_too_large() : MPI_SUCCESS;
}

/* Extends the range to `count` (> 0) repetitions, `stride` apart. */
static int range_repeat(struct range *range, MPI_Count count, MPI_Count stride)
{
    MPI_Count length;
    if (__builtin_mul_overflow(count - 1, stride, &length))
        return build_too_large();
    MPI_Count *bound = length < 0 ? &range->low : &range->high;
    return __builtin_add_overflow(*bound, length, bound) ? build_too_large() : MPI_SUCCESS;
}

/* Extends the draft's bounds to those of a marked type at these displacements. */
static int build_mark(struct pl_draft *draft, const struct pl_type *type, struct range range)
{
    if (!type->marked)
        return MPI_SUCCESS;
    MPI_Count low, high;
    if (__builtin_add_overflow(range.low, type->lb, &low) ||
        __builtin_add_overflow(range.high, type->lb + type->extent, &high))
        return build_too_large();
    draft->lb = draft->marked && draft->lb < low ? draft->lb : low;
    draft->ub = draft->marked && draft->ub > high ? draft->ub : high;
    draft->marked = true;
    return MPI_SUCCESS;
}

/* `count` blocks of `length` elements, `stride` bytes from block to block. */
static int draft_blocks(MPI_Count count, MPI_Count length, MPI_Count stride, const struct pl_type *old,
                        struct pl_draft *draft)
{
    if (count == 0 || length == 0)
        return MPI_SUCCESS;
    struct range range = { 0, 0 };
    struct pl_shape element = pl_type_shape(old), block = { 0 };
    int err = range_repeat(&range, length, old->extent);
    if (!err)
        err = range_repeat(&range, count, stride);
    if (!err)
        err = build_mark(draft, old, range);
    if (!err)
        err = pl_shape_repeat(&element, length, (MPI_Aint)old->extent, &block);
    if (!err)
        err = pl_shape_repeat(&block, count, (MPI_Aint)stride, &draft->shape);
    pl_shape_release(&block);
    return err;
}

static int draft_contiguous(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    return draft_blocks(1, pl_envelope_get(e, 0), 0, e->type[0], draft);
}

static int draft_vector(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    MPI_Count stride;
    int err = build_multiply(pl_envelope_get(e, 2), e->type[0]->extent, &stride);
    return err ? err : draft_blocks(pl_envelope_get(e, 0), pl_envelope_get(e, 1), stride, e->type[0], draft);
}

static int draft_hvector(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    return draft_blocks(pl_envelope_get(e, 0), pl_envelope_get(e, 1), pl_envelope_get(e, 2), e->type[0], draft);
}

/* Collects blocks of elements. The last block is kept, since the next one is often the same. */
struct collector {
    struct pl_draft *draft;
    struct pl_shape_list list;
    const struct pl_type *type;
    MPI_Count length;
    struct pl_shape block;
};

static int build_collect(struct collector *collector, MPI_Count displacement, MPI_Count length,
                         const struct pl_type *type)
{
    if (length == 0)
        return MPI_SUCCESS;
    struct range range = { displacement, displacement };
    int err = range_repeat(&range, length, type->extent);
    if (!err)
        err = build_mark(collector->draft, type, range);
    if (!err && (type != collector->type || length != collector->length)) {
        struct pl_shape element = pl_type_shape(type);
        pl_shape_release(&collector->block);
        collector->type = type;
        collector->length = length;
        err = pl_shape_repeat(&element, length, (MPI_Aint)type->extent, &collector->block);
    }
    return err ? err : pl_shape_list_add(&collector->list, (MPI_Aint)displacement, &collector->block);
}

static int build_finish(struct collector *collector, int err)
{
    pl_shape_release(&collector->block);
    if (!err)
        return pl_shape_list_finish(&collector->list, &collector->draft->shape);
    pl_shape_list_drop(&collector->list);
    return err;
}

/* Blocks at displacements in units of `unit` bytes: lengths[count] or one length, then displacements[count]. */
static int draft_indexed(const struct pl_type_envelope *e, bool equal_lengths, MPI_Count unit, struct pl_draft *draft)
{
    struct collector collector = { .draft = draft };
    size_t count = (size_t)pl_envelope_get(e, 0), displacements = equal_lengths ? 2 : 1 + count;
    int err = MPI_SUCCESS;
    for (size_t i = 0; i < count && !err; i++) {
        MPI_Count displacement;
        err = build_multiply(pl_envelope_get(e, displacements + i), unit, &displacement);
        if (!err)
            err = build_collect(&collector, displacement, pl_envelope_get(e, equal_lengths ? 1 : 1 + i), e->type[0]);
    }
    return build_finish(&collector, err);
}

/* lengths[count], displacements[count], types[count] */
static int draft_struct(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    struct collector collector = { .draft = draft };
    size_t count = (size_t)pl_envelope_get(e, 0);
    int err = MPI_SUCCESS;
    for (size_t i = 0; i < count && !err; i++)
        err = build_collect(&collector, pl_envelope_get(e, 1 + count + i), pl_envelope_get(e, 1 + i), e->type[i]);
    return build_finish(&collector, err);
}

static int draft_copy(const struct pl_type *old, struct pl_draft *draft)
{
    draft->shape = pl_type_shape(old);
    pl_layout_retain(draft->shape.layout);
    return build_mark(draft, old, (struct range){ 0, 0 });
}

static int draft_resized(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    draft->shape = pl_type_shape(e->type[0]);
    pl_layout_retain(draft->shape.layout);
    draft->marked = true;
    draft->lb = pl_envelope_get(e, 0);
    return __builtin_add_overflow(draft->lb, pl_envelope_get(e, 1), &draft->ub) ? build_too_large() : MPI_SUCCESS;
}

static int build_draft(const struct pl_type_envelope *e, struct pl_draft *result)
{
    switch (e->combiner) {
    case MPI_COMBINER_DUP: return draft_copy(e->type[0], result);
    case MPI_COMBINER_CONTIGUOUS: return draft_contiguous(e, result);
    case MPI_COMBINER_VECTOR: return draft_vector(e, result);
    case MPI_COMBINER_HVECTOR: return draft_hvector(e, result);
    case MPI_COMBINER_INDEXED: return draft_indexed(e, false, e->type[0]->extent, result);
    case MPI_COMBINER_HINDEXED: return draft_indexed(e, false, 1, result);
    case MPI_COMBINER_INDEXED_BLOCK: return draft_indexed(e, true, e->type[0]->extent, result);
    case MPI_COMBINER_HINDEXED_BLOCK: return draft_indexed(e, true, 1, result);
    case MPI_COMBINER_STRUCT: return draft_struct(e, result);
    case MPI_COMBINER_SUBARRAY: return pl_draft_subarray(e, result);
    case MPI_COMBINER_DARRAY: return pl_draft_darray(e, result);
    case MPI_COMBINER_RESIZED: return draft_resized(e, result);
    default: return pl_fail(MPI_ERR_INTERN, "there is no constructor for combiner %d", e->combiner);
    }
}

/* Sets elements, alignment and signature by the old types. */
static int build_set_signature(const struct pl_type_envelope *e, struct pl_type *type)
{
    type->align = 1;
    for (size_t i = 0; i < e->types; i++) {
        bool used = e->combiner != MPI_COMBINER_STRUCT || pl_envelope_get(e, 1 + i) > 0;
        if (used && e->type[i]->size > 0 && e->type[i]->align > type->align)
            type->align = e->type[i]->align;
    }
    if (type->size == 0)
        return MPI_SUCCESS;
    if (e->combiner == MPI_COMBINER_STRUCT) {
        MPI_Count *lengths = pl_malloc(e->types * sizeof *lengths);
        if (!lengths)
            return pl_fail_memory("the signature of a datatype");
        for (size_t i = 0; i < e->types; i++)
            lengths[i] = pl_envelope_get(e, 1 + i);
        int err = pl_signature_of_struct(e->types, lengths, e->type, type);
        free(lengths);
        return err;
    }
    type->element = e->type[0]->element;
    type->signature = type->element ? NULL : pl_signature_retain(e->type[0]->signature);
    type->basic = type->element ? type->element->basic : PL_NONE;
    return MPI_SUCCESS;
}

/* The bounds are the markers' if there are markers. Else they are those of the data, padded for the most demanding
 * element so that the elements of an array are aligned (MPI-5.0, 5.1.6). */
static int build_set_bounds(struct pl_type *type, const struct pl_draft *from)
{
    type->true_lb = from->shape.low;
    type->true_extent = from->shape.span;
    type->marked = from->marked;
    type->lb = from->marked ? from->lb : from->shape.low;
    if (from->marked)
        return __builtin_sub_overflow(from->ub, from->lb, &type->extent) ? build_too_large() : MPI_SUCCESS;
    MPI_Count padding = -from->shape.span & (type->align - 1);
    return __builtin_add_overflow(from->shape.span, padding, &type->extent) ? build_too_large() : MPI_SUCCESS;
}

int pl_type_build(struct pl_type_envelope *envelope, struct pl_type **result)
{
    struct pl_draft drafted = { .marked = false };
    int err = build_draft(envelope, &drafted);
    if (err)
        goto release_draft;
    struct pl_type *type = pl_object_create(PL_DATATYPE);
    if (!type) {
        err = MPI_ERR_NO_MEM;
        goto release_draft;
    }
    type->size = drafted.shape.size;
    type->layout = drafted.shape.layout;
    type->envelope = envelope;
    err = build_set_signature(envelope, type);
    if (!err)
        err = build_set_bounds(type, &drafted);
    if (err)
        goto release_type;
    type->solid = !type->layout;
    type->dense = type->solid && (type->size == type->extent || type->size == 0);
    *result = type;
    return MPI_SUCCESS;

release_type:
    pl_handle_drop(type); /* with layout and envelope */
    return err;
release_draft:
    pl_shape_release(&drafted.shape);
    pl_envelope_release(envelope);
    return err;
}
