/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the bytes of a datatype lie in memory.
 *
 * A layout is a tree whose leaves are runs of bytes. Inner nodes repeat a part at a fixed stride (LOOP), repeat it at
 * listed places (BLOCKS), or list parts that differ (LIST). Places are relative to the lowest byte of the node's data,
 * so that a layout serves wherever it stands and is shared by the types made from it; walking the tree from left to
 * right gives the type map's order.
 *
 * Layouts are immutable and kept in a normal form: every node holds at least two parts and no empty ones, neighbours
 * that form one run are one run (or, in BLOCKS, equal parts of it), loops that continue each other are one loop. A LOOP
 * or BLOCKS node is thus at least twice as large as its part, and LIST in LIST is flattened as long as it is small, so
 * that the depth stays low whatever the user nests. The single run has no node: it is a part without a layout.
 */
#ifndef PLENUM_CORE_DATATYPE_LAYOUT_H
#define PLENUM_CORE_DATATYPE_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

enum pl_layout_kind { PL_LAYOUT_LOOP, PL_LAYOUT_BLOCKS, PL_LAYOUT_LIST };

struct pl_part {
    MPI_Aint at;                         /* of its lowest byte */
    size_t before;                       /* packed bytes of the parts before it */
    const struct pl_type_layout *layout; /* NULL: one run */
};

struct pl_type_layout {
    _Atomic int refs;
    enum pl_layout_kind kind;
    size_t count;                       /* of parts */
    const struct pl_type_layout *part; /* LOOP and BLOCKS: what is repeated; NULL: a run */
    size_t part_size;                  /* its packed bytes */
    MPI_Aint first, stride;             /* LOOP: where the first one lies, and from each to the next */
    MPI_Aint *at;                       /* BLOCKS: [count] */
    struct pl_part *parts;              /* LIST: [count + 1], the last one only says `before` */
};

/* Data in the making: a layout with its place and measures. Holds a reference to the layout. */
struct pl_shape {
    const struct pl_type_layout *layout; /* NULL: one run */
    MPI_Count size;                      /* packed bytes; 0: nothing, and the rest is 0 too */
    MPI_Aint low;                        /* of the lowest byte, relative to the buffer */
    MPI_Count span;                      /* from the lowest to behind the highest byte */
};

const struct pl_type_layout *pl_layout_retain(const struct pl_type_layout *layout); /* NULL is fine */
void pl_layout_release(const struct pl_type_layout *layout);                        /* the same */

static inline void pl_shape_release(struct pl_shape *shape)
{
    pl_layout_release(shape->layout);
    *shape = (struct pl_shape){ 0 };
}

/* `count` times the same, `stride` bytes from each to the next. MPI_ERR_VALUE_TOO_LARGE when sizes or places exceed
 * MPI_Count, MPI_ERR_NO_MEM. `result` gets a reference of its own. */
int pl_shape_repeat(const struct pl_shape *shape, MPI_Count count, MPI_Aint stride, struct pl_shape *result);

/* Collects shapes, in type-map order, into one. */
struct pl_shape_list {
    struct pl_part *parts; /* places are relative to the buffer */
    size_t count, room;
    MPI_Count size;
    MPI_Aint low, high;
};

/* Puts a shape, moved by `displacement`, behind the others. Retains its layout. Errors as above. */
int pl_shape_list_add(struct pl_shape_list *list, MPI_Aint displacement, const struct pl_shape *shape);

/* Makes one shape of it and leaves the list empty, also when it fails. */
int pl_shape_list_finish(struct pl_shape_list *list, struct pl_shape *result);

/* Gives up. */
void pl_shape_list_drop(struct pl_shape_list *list);

#endif
