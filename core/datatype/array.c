/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes for parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray. Both go through the dimensions
 * from the one that varies fastest in memory to the slowest. Each step selects from copies of the result of the faster
 * dimensions, which lie one whole row (plane, ...) apart. The bounds are those of the whole array.
 */
#include "core/datatype/array.h"

#include "core/base/error.h"

static int array_too_large(void)
{
    return pl_fail(MPI_ERR_VALUE_TOO_LARGE, "the array's extent does not fit into MPI_Count");
}

/* An array that is being walked from its fastest to its slowest dimension. */
struct walk {
    struct pl_shape shape; /* the selection so far */
    MPI_Count row;         /* bytes of the array in the dimensions so far: the stride of the next dimension */
};

static struct walk walk_start(const struct pl_type *element)
{
    struct walk walk = { pl_type_shape(element), element->extent };
    pl_layout_retain(walk.shape.layout);
    return walk;
}

/* Replaces the shape by the list collected in this dimension, and goes on to the next. */
static int walk_next(struct walk *walk, struct pl_shape_list *list, MPI_Count size)
{
    pl_shape_release(&walk->shape);
    int err = pl_shape_list_finish(list, &walk->shape);
    if (!err && __builtin_mul_overflow(walk->row, size, &walk->row))
        err = array_too_large();
    return err;
}

/* Adds `count` indices from `start` on, in blocks of `length` every `period` indices. */
static int walk_select(const struct walk *walk, struct pl_shape_list *list, MPI_Count start, MPI_Count count,
                       MPI_Count length, MPI_Count period)
{
    MPI_Count offset, stride;
    if (__builtin_mul_overflow(start, walk->row, &offset) || __builtin_mul_overflow(period, walk->row, &stride))
        return array_too_large();
    struct pl_shape block = { 0 }, blocks = { 0 };
    int err = pl_shape_repeat(&walk->shape, length, (MPI_Aint)walk->row, &block);
    if (!err)
        err = pl_shape_repeat(&block, count, (MPI_Aint)stride, &blocks);
    if (!err)
        err = pl_shape_list_add(list, (MPI_Aint)offset, &blocks);
    pl_shape_release(&block);
    pl_shape_release(&blocks);
    return err;
}

/* The end of both constructors: the shape is the draft's, and the bounds are the array's. */
static int walk_finish(struct walk *walk, int err, struct pl_draft *draft)
{
    if (err) {
        pl_shape_release(&walk->shape);
        return err;
    }
    draft->shape = walk->shape;
    draft->marked = true;
    draft->lb = 0;
    draft->ub = walk->row;
    return MPI_SUCCESS;
}

/* Small form: ndims, sizes[], subsizes[], starts[], order. Large form: ndims, order, then the arrays. */
int pl_draft_subarray(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    bool large = pl_envelope_is_large(e);
    size_t ndims = (size_t)pl_envelope_get(e, 0), arrays = large ? 2 : 1;
    int order = (int)pl_envelope_get(e, large ? 1 : 1 + 3 * ndims);
    struct walk walk = walk_start(e->type[0]);
    int err = MPI_SUCCESS;
    for (size_t i = 0; i < ndims && !err; i++) {
        size_t d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        MPI_Count size = pl_envelope_get(e, arrays + d);
        MPI_Count subsize = pl_envelope_get(e, arrays + ndims + d);
        MPI_Count start = pl_envelope_get(e, arrays + 2 * ndims + d);
        struct pl_shape_list list = { 0 };
        err = walk_select(&walk, &list, start, 1, subsize, 0);
        if (err)
            pl_shape_list_drop(&list);
        else
            err = walk_next(&walk, &list, size);
    }
    return walk_finish(&walk, err, draft);
}

/* One dimension of a distributed array, as one process sees it. */
struct dimension {
    MPI_Count size; /* of the whole array */
    int distribution, argument;
    int processes, process; /* in this dimension: their number, and this process's coordinate */
};

static int select_block(const struct walk *walk, struct pl_shape_list *list, const struct dimension *dim)
{
    MPI_Count length = dim->argument;
    if (dim->argument == MPI_DISTRIBUTE_DFLT_DARG)
        length = dim->size / dim->processes + (dim->size % dim->processes != 0);
    else if (length < dim->size / dim->processes + (dim->size % dim->processes != 0))
        return pl_fail(MPI_ERR_ARG, "%d elements on each of %d processes are too few for a dimension of %lld",
                       dim->argument, dim->processes, (long long)dim->size);
    MPI_Count start = length * dim->process;
    MPI_Count left = dim->size - start;
    return left > 0 ? walk_select(walk, list, start, 1, left < length ? left : length, 0) : MPI_SUCCESS;
}

static int select_cyclic(const struct walk *walk, struct pl_shape_list *list, const struct dimension *dim)
{
    MPI_Count length = dim->argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : dim->argument;
    MPI_Count period = length * dim->processes, start = length * dim->process;
    if (start >= dim->size)
        return MPI_SUCCESS;
    MPI_Count blocks = (dim->size - start) / period, rest = (dim->size - start) % period;
    if (rest >= length) {
        blocks++;
        rest = 0;
    }
    int err = walk_select(walk, list, start, blocks, length, period);
    return err ? err : walk_select(walk, list, start + blocks * period, 1, rest, 0);
}

static int select_dimension(const struct walk *walk, struct pl_shape_list *list, const struct dimension *dim)
{
    switch (dim->distribution) {
    case MPI_DISTRIBUTE_BLOCK: return select_block(walk, list, dim);
    case MPI_DISTRIBUTE_CYCLIC: return select_cyclic(walk, list, dim);
    default: return walk_select(walk, list, 0, 1, dim->size, 0);
    }
}

/* Small form: size, rank, ndims, gsizes[], distribs[], dargs[], psizes[], order. Large form: the same, gsizes[] last.
 * The ranks are laid out over the process grid in row-major order, whatever the order of the array. */
int pl_draft_darray(const struct pl_type_envelope *e, struct pl_draft *draft)
{
    bool large = pl_envelope_is_large(e);
    size_t ndims = (size_t)pl_envelope_get(e, 2);
    size_t distribs = large ? 3 : 3 + ndims, gsizes = large ? 4 + 3 * ndims : 3;
    int order = (int)pl_envelope_get(e, distribs + 3 * ndims), rank = (int)pl_envelope_get(e, 1);
    struct walk walk = walk_start(e->type[0]);
    int err = MPI_SUCCESS;
    for (size_t i = 0; i < ndims && !err; i++) {
        size_t d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        MPI_Count below = 1; /* processes in the dimensions after this one */
        for (size_t j = d + 1; j < ndims; j++)
            below *= pl_envelope_get(e, distribs + 2 * ndims + j);
        struct dimension dim = {
            .size = pl_envelope_get(e, gsizes + d),
            .distribution = (int)pl_envelope_get(e, distribs + d),
            .argument = (int)pl_envelope_get(e, distribs + ndims + d),
            .processes = (int)pl_envelope_get(e, distribs + 2 * ndims + d),
        };
        dim.process = (int)(rank / below % dim.processes);
        struct pl_shape_list list = { 0 };
        err = select_dimension(&walk, &list, &dim);
        if (err)
            pl_shape_list_drop(&list);
        else
            err = walk_next(&walk, &list, dim.size);
    }
    return walk_finish(&walk, err, draft);
}
