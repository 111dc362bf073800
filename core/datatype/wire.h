/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A datatype's layout as bytes, for the target of a one-sided operation, which moves data by the origin's datatype.
 *
 * What travels is what moving needs: the bounds, the layout (every shared part of it once), and the one predefined
 * element, where all elements are of one kind. What does not: the constructor's arguments, names, attributes, and the
 * order of unlike elements. A predefined datatype takes two bytes, a vector about twelve.
 *
 *     number              LEB128; those with a sign are folded (0, -1, 1, -2, ...)
 *     predefined          its ABI constant less 0x200 (1 byte); or 255 and value and index of a pair without a name
 *     derived             0, its element as above (0: mixed), lb, extent, true_lb, size, nodes
 *     node                LOOP 0, piece, count, stride;  BLOCKS 1, piece, count, distances[count];
 *                         LIST 2, count, (distance, piece)[count]; distances are from the place before, at first from 0
 *     piece               0 and the bytes of a run; or n > 0: the node n before this one
 *
 * The last node is the datatype's; without nodes it is one run.
 */
#ifndef PLENUM_CORE_DATATYPE_WIRE_H
#define PLENUM_CORE_DATATYPE_WIRE_H

#include <stdlib.h>

#include "core/datatype/datatype.h"

enum {
    PL_TYPE_WIRE_OWN = 48,     /* bytes that need no memory of their own */
    PL_TYPE_WIRE_DEPTH = 4096, /* nodes within each other, at most */
};

struct pl_type_wire {
    unsigned char *bytes; /* [length]; may point into the struct itself: not to be moved */
    size_t length, room;
    unsigned char own[PL_TYPE_WIRE_OWN];
};

/* Writes it down. To be given back with pl_type_wire_drop(), unless it failed. MPI_ERR_NO_MEM; MPI_ERR_TYPE for one
 * that is nested too deeply. */
int pl_type_encode(const struct pl_type *type, struct pl_type_wire *wire);

static inline void pl_type_wire_drop(struct pl_type_wire *wire)
{
    if (wire->bytes != wire->own)
        free(wire->bytes);
}

/*
 * The datatype, committed, without a handle, with one reference for the caller (of a predefined one: the static
 * object, whose release does nothing). It serves for moving data and for what its measures say, and its `element` for
 * accumulating; a mixed one has no signature, so it is not for pl_type_elements() or external32. Runs may end within
 * an element. The memory it takes is proportional to `length`.
 * MPI_ERR_TYPE for bytes that are no datatype, MPI_ERR_VALUE_TOO_LARGE for measures that do not fit, MPI_ERR_NO_MEM.
 */
int pl_type_decode(const void *bytes, size_t length, struct pl_type **type);

#endif
