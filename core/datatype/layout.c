/* SPDX-License-Identifier: BSD-3-Clause */
/* Building layouts in the normal form that layout.h describes. */
#include "core/datatype/layout.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/vec.h"

/* Up to these sizes a node inside a list gives its parts to the list, so that loops over the list see all its runs. */
enum { SPLICE_LIST = 64, SPLICE_REPEAT = 8, LIST_FLAT = 1024 };

/* At least RUNS_TO_CUT runs of several lengths are cut into equal blocks, if these are at most BLOCK_BYTES long and at
 * most BLOCKS_PER_RUN times as many. Equal blocks are moved without reading any length. */
enum { RUNS_TO_CUT = 32, BLOCK_BYTES = 64, BLOCKS_PER_RUN = 2 };

const struct pl_type_layout *pl_layout_retain(const struct pl_type_layout *layout)
{
    if (layout)
        atomic_fetch_add_explicit(&((struct pl_type_layout *)layout)->refs, 1, memory_order_relaxed);
    return layout;
}

void pl_layout_release(const struct pl_type_layout *layout)
{
    struct pl_type_layout *node = (struct pl_type_layout *)layout;
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (node->kind == PL_LAYOUT_LIST)
        for (size_t i = 0; i < node->count; i++)
            pl_layout_release(node->parts[i].layout);
    else
        pl_layout_release(node->part);
    free(node->at);
    free(node->parts);
    free(node);
}

static struct pl_type_layout *layout_create(enum pl_layout_kind kind, size_t count)
{
    struct pl_type_layout *node = pl_calloc(1, sizeof *node);
    if (!node) {
        pl_fail_memory("the layout of a datatype");
        return NULL;
    }
    atomic_init(&node->refs, 1);
    node->kind = kind;
    node->count = count;
    return node;
}

/* At least two equal parts at a fixed stride. `result` is NULL if they are one run. The sizes are known to fit. */
static int layout_make_loop(const struct pl_type_layout *part, size_t part_size, size_t count, MPI_Aint stride,
                            const struct pl_type_layout **result)
{
    *result = NULL;
    if (!part && stride == (MPI_Aint)part_size)
        return MPI_SUCCESS;
    MPI_Aint next; /* where the next part of a part would be, if that goes on with the same stride */
    if (part && part->kind == PL_LAYOUT_LOOP && !__builtin_mul_overflow((MPI_Aint)part->count, part->stride, &next) &&
        next == stride) {
        count *= part->count;
        stride = part->stride;
        part_size = part->part_size;
        part = part->part;
    }
    struct pl_type_layout *node = layout_create(PL_LAYOUT_LOOP, count);
    if (!node)
        return MPI_ERR_NO_MEM;
    node->part = pl_layout_retain(part);
    node->part_size = part_size;
    node->first = stride < 0 ? -(MPI_Aint)(count - 1) * stride : 0;
    node->stride = stride;
    *result = node;
    return MPI_SUCCESS;
}

static int layout_too_large(void)
{
    return pl_fail(MPI_ERR_VALUE_TOO_LARGE, "the datatype's size or extent does not fit into MPI_Count");
}

int pl_shape_repeat(const struct pl_shape *shape, MPI_Count count, MPI_Aint stride, struct pl_shape *result)
{
    *result = (struct pl_shape){ 0 };
    if (count == 0 || shape->size == 0)
        return MPI_SUCCESS;
    struct pl_shape whole = *shape;
    if (count == 1) {
        pl_layout_retain(whole.layout);
        *result = whole;
        return MPI_SUCCESS;
    }
    MPI_Aint last; /* displacement of the last part from the first */
    if (__builtin_mul_overflow(shape->size, count, &whole.size) || __builtin_mul_overflow(count - 1, stride, &last) ||
        last == INTPTR_MIN || __builtin_add_overflow(shape->span, last < 0 ? -last : last, &whole.span) ||
        __builtin_add_overflow(shape->low, last < 0 ? last : 0, &whole.low) ||
        __builtin_add_overflow(whole.low, whole.span, &last))
        return layout_too_large();
    int err = layout_make_loop(shape->layout, (size_t)shape->size, (size_t)count, stride, &whole.layout);
    if (!err)
        *result = whole;
    return err;
}

/* Appends a part, or extends the last run. */
static int layout_append(struct pl_shape_list *list, MPI_Aint at, const struct pl_type_layout *layout, size_t size)
{
    struct pl_part *last = list->count ? &list->items[list->count - 1] : NULL;
    if (!layout && last && !last->layout && last->at + (MPI_Aint)((size_t)list->size - last->before) == at) {
        list->size += (MPI_Count)size;
        return MPI_SUCCESS;
    }
    struct pl_part *part = PL_VEC_PUSH(list);
    if (!part)
        return pl_fail_memory("the layout of a datatype");
    *part = (struct pl_part){ at, (size_t)list->size, pl_layout_retain(layout) };
    list->size += (MPI_Count)size;
    return MPI_SUCCESS;
}

/* Whether a node is small enough to be replaced by its parts. */
static bool layout_splices(const struct pl_shape_list *list, const struct pl_type_layout *node)
{
    if (!node || list->count + node->count > LIST_FLAT)
        return false;
    return node->kind == PL_LAYOUT_LIST ? node->count <= SPLICE_LIST : !node->part && node->count <= SPLICE_REPEAT;
}

static int layout_splice(struct pl_shape_list *list, MPI_Aint at, const struct pl_type_layout *node)
{
    int err = MPI_SUCCESS;
    for (size_t i = 0; i < node->count && !err; i++)
        switch (node->kind) {
        case PL_LAYOUT_LOOP:
            err = layout_append(list, at + node->first + (MPI_Aint)i * node->stride, NULL, node->part_size);
            break;
        case PL_LAYOUT_BLOCKS: err = layout_append(list, at + node->at[i], NULL, node->part_size); break;
        case PL_LAYOUT_LIST:
            err = layout_append(list, at + node->parts[i].at, node->parts[i].layout,
                                node->parts[i + 1].before - node->parts[i].before);
            break;
        }
    return err;
}

int pl_shape_list_add(struct pl_shape_list *list, MPI_Aint displacement, const struct pl_shape *shape)
{
    if (shape->size == 0)
        return MPI_SUCCESS;
    MPI_Aint low, high, ignored;
    MPI_Count size;
    if (__builtin_add_overflow(displacement, shape->low, &low) || __builtin_add_overflow(low, shape->span, &high) ||
        __builtin_add_overflow(list->size, shape->size, &size))
        return layout_too_large();
    if (list->count) {
        list->low = low < list->low ? low : list->low;
        list->high = high > list->high ? high : list->high;
    } else {
        list->low = low;
        list->high = high;
    }
    if (__builtin_sub_overflow(list->high, list->low, &ignored))
        return layout_too_large();
    return layout_splices(list, shape->layout) ? layout_splice(list, low, shape->layout)
                                               : layout_append(list, low, shape->layout, (size_t)shape->size);
}

static size_t list_part_size(const struct pl_shape_list *list, size_t i)
{
    return (i + 1 < list->count ? list->items[i + 1].before : (size_t)list->size) - list->items[i].before;
}

/* The size of equal parts that can replace the list: its own, or shorter blocks of its runs. 0: there are none. */
static size_t list_common_size(const struct pl_shape_list *list)
{
    size_t common = 0;
    bool equal = true, runs = true;
    for (size_t i = 0; i < list->count; i++) {
        size_t size = list_part_size(list, i), rest;
        equal = equal && list->items[i].layout == list->items[0].layout && size == list_part_size(list, 0);
        runs = runs && !list->items[i].layout;
        for (; size > 0 && size != common; size = rest) { /* Euclid */
            rest = common % size;
            common = size;
        }
    }
    bool cut = runs && list->count >= RUNS_TO_CUT && common <= BLOCK_BYTES &&
               (size_t)list->size / common <= BLOCKS_PER_RUN * list->count;
    return equal || cut ? common : 0;
}

static bool list_is_strided(const struct pl_shape_list *list)
{
    MPI_Aint stride = list->items[1].at - list->items[0].at;
    for (size_t i = 2; i < list->count; i++)
        if (list->items[i].at - list->items[i - 1].at != stride)
            return false;
    return true;
}

static int layout_make_blocks(const struct pl_shape_list *list, size_t size, const struct pl_type_layout **result)
{
    struct pl_type_layout *node = layout_create(PL_LAYOUT_BLOCKS, (size_t)list->size / size);
    if (!node)
        return MPI_ERR_NO_MEM;
    node->at = pl_malloc(node->count * sizeof *node->at);
    if (!node->at) {
        pl_layout_release(node);
        return pl_fail_memory("the layout of a datatype");
    }
    MPI_Aint *at = node->at;
    for (size_t i = 0; i < list->count; i++)
        for (size_t within = 0; within < list_part_size(list, i); within += size)
            *at++ = list->items[i].at - list->low + (MPI_Aint)within;
    node->part = pl_layout_retain(list->items[0].layout);
    node->part_size = size;
    *result = node;
    return MPI_SUCCESS;
}

/* Moves the list's array into a node. */
static int layout_make_list(struct pl_shape_list *list, const struct pl_type_layout **result)
{
    size_t count = list->count;
    struct pl_part *end = PL_VEC_PUSH(list);
    if (!end)
        return pl_fail_memory("the layout of a datatype");
    *end = (struct pl_part){ .before = (size_t)list->size };
    struct pl_type_layout *node = layout_create(PL_LAYOUT_LIST, count);
    if (!node)
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < count; i++)
        list->items[i].at -= list->low;
    node->parts = PL_VEC_TAKE(list);
    *result = node;
    return MPI_SUCCESS;
}

int pl_shape_list_finish(struct pl_shape_list *list, struct pl_shape *result)
{
    int err = MPI_SUCCESS;
    *result = (struct pl_shape){ 0 };
    if (list->count == 0)
        goto drop;
    struct pl_shape whole = { NULL, list->size, list->low, list->high - list->low };
    size_t common = list_common_size(list);
    if (list->count == 1)
        whole.layout = pl_layout_retain(list->items[0].layout);
    else if (common == 0)
        err = layout_make_list(list, &whole.layout);
    else if (common * list->count == (size_t)list->size && list_is_strided(list))
        err = layout_make_loop(list->items[0].layout, common, list->count, list->items[1].at - list->items[0].at,
                               &whole.layout);
    else
        err = layout_make_blocks(list, common, &whole.layout);
    if (!err)
        *result = whole;
drop:
    pl_shape_list_drop(list);
    return err;
}

void pl_shape_list_drop(struct pl_shape_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        pl_layout_release(list->items[i].layout);
    PL_VEC_FINI(list);
    *list = (struct pl_shape_list){ 0 };
}
