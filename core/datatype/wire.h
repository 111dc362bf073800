/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A datatype's layout as bytes, for the target of a one-sided operation, which moves data by the origin's datatype.
 *
 * The bytes hold what moving needs: the bounds, the layout (each shared part once), and the predefined element, if all
 * elements are of one kind. They do not hold the constructor's arguments, names, attributes, and the order of unlike
 * elements. A predefined datatype takes one byte, a pair without a name three, a vector about twelve.
 *
 *     number              LEB128; numbers with a sign are folded (0, -1, 1, -2, ...)
 *     predefined          its ABI constant less 0x200 (1 byte); or 255 and value and index of a pair without a name
 *     derived             0, its element as above (0: mixed), lb, extent, true_lb, size, nodes
 *     node                LOOP 0, part, count, stride;  BLOCKS 1, part, count, distances[count];
 *                         LIST 2, count, (distance, part)[count]; a distance is from the displacement before, or from 0
 *     part                0 and the bytes of a run; or n > 0: the node n before this one
 *
 * The last node is the datatype's; without nodes it is one run.
 */
#ifndef PLENUM_CORE_DATATYPE_WIRE_H
#define PLENUM_CORE_DATATYPE_WIRE_H

#include <stdlib.h>

#include "core/datatype/datatype.h"

enum {
    PL_TYPE_WIRE_OWN = 48,     /* bytes that need no allocation */
    PL_TYPE_WIRE_DEPTH = 4096, /* maximum depth of nested nodes */
};

struct pl_type_wire {
    unsigned char *bytes; /* [length]; may point into the struct itself, which must not be moved */
    size_t length;
    unsigned char own[PL_TYPE_WIRE_OWN];
};

/* Encodes a datatype. The caller must call pl_type_wire_drop(), unless it failed. MPI_ERR_NO_MEM; MPI_ERR_TYPE for a
 * type that is nested too deeply. */
int pl_type_encode(const struct pl_type *type, struct pl_type_wire *wire);

static inline void pl_type_wire_drop(struct pl_type_wire *wire)
{
    if (wire->bytes != wire->own)
        free(wire->bytes);
}

/*
 * Decodes a datatype: committed, without a handle, with one reference for the caller. (A predefined one is the static
 * object, whose release does nothing.) It can move data, its measures are valid, and its `element` serves for
 * accumulating. A mixed one has no signature, so it is not for pl_type_elements() or external32. Runs may end within an
 * element. Its memory is proportional to `length`.
 * MPI_ERR_TYPE for bytes that are not a datatype, MPI_ERR_VALUE_TOO_LARGE for measures that do not fit, MPI_ERR_NO_MEM.
 */
int pl_type_decode(const void *bytes, size_t length, struct pl_type **type);

#endif
