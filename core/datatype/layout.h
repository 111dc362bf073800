/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the bytes of a datatype lie in memory.
 *
 * A layout is a tree whose leaves are runs of bytes. Inner nodes repeat a part at a fixed stride (LOOP), repeat it at
 * listed displacements (BLOCKS), or list parts that differ (LIST). Displacements are relative to the lowest byte of the
 * node's data. So a layout can stand anywhere, and the types made from it share it. A walk of the tree from left to
 * right gives the type map's order.
 *
 * Layouts are immutable and in a normal form. Every node has at least two parts, none of them empty. Adjacent runs are
 * merged into one run (or, in BLOCKS, are equal parts of one), and loops that continue each other into one loop. So a
 * LOOP or BLOCKS node is at least twice as large as its part. A small LIST in a LIST is flattened. Hence the depth
 * stays low, whatever the user nests. A single run has no node: it is a part without a layout.
 */
#ifndef PLENUM_CORE_DATATYPE_LAYOUT_H
#define PLENUM_CORE_DATATYPE_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/vec.h"
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
    size_t count;                      /* of parts */
    const struct pl_type_layout *part; /* LOOP and BLOCKS: the part that is repeated; NULL: a run */
    size_t part_size;                  /* its packed bytes */
    MPI_Aint first, stride;            /* LOOP: displacement of the first part, and from each to the next */
    MPI_Aint *at;                      /* BLOCKS: [count] */
    struct pl_part *parts;             /* LIST: [count + 1]; of the last one only `before` is valid */
};

/* A shape being built: a layout with its displacement and measures. Holds a reference to the layout. */
struct pl_shape {
    const struct pl_type_layout *layout; /* NULL: one run */
    MPI_Count size;                      /* packed bytes; 0: no data, and the rest is 0, too */
    MPI_Aint low;                        /* of the lowest byte, relative to the buffer */
    MPI_Count span;                      /* from the lowest byte to the end of the highest */
};

const struct pl_type_layout *pl_layout_retain(const struct pl_type_layout *layout); /* NULL is fine */
void pl_layout_release(const struct pl_type_layout *layout);                        /* the same */

static inline void pl_shape_release(struct pl_shape *shape)
{
    pl_layout_release(shape->layout);
    *shape = (struct pl_shape){ 0 };
}

/* Repeats a shape `count` times, `stride` bytes apart. MPI_ERR_VALUE_TOO_LARGE when sizes or displacements exceed
 * MPI_Count, MPI_ERR_NO_MEM. `result` has a reference of its own. */
int pl_shape_repeat(const struct pl_shape *shape, MPI_Count count, MPI_Aint stride, struct pl_shape *result);

/* Collects shapes, in type-map order, into one. */
struct pl_shape_list {
    PL_VEC(struct pl_part); /* displacements are relative to the buffer */
    MPI_Count size;
    MPI_Aint low, high;
};

/* Appends a shape, moved by `displacement`. Retains its layout. Errors as above. */
int pl_shape_list_add(struct pl_shape_list *list, MPI_Aint displacement, const struct pl_shape *shape);

/* Makes one shape of the list and leaves the list empty, also on failure. */
int pl_shape_list_finish(struct pl_shape_list *list, struct pl_shape *result);

/* Empties the list. */
void pl_shape_list_drop(struct pl_shape_list *list);

#endif
