/* SPDX-License-Identifier: BSD-3-Clause */
/* The data representation "external32" of MPI-5.0 section 14.5.2: big-endian, IEEE, sizes fixed by the standard. */
#ifndef PLENUM_CORE_DATATYPE_EXTERNAL_H
#define PLENUM_CORE_DATATYPE_EXTERNAL_H

#include "core/datatype/datatype.h"

/* Bytes of one element of the datatype in external32; never more than its size. */
MPI_Count pl_external_size(const struct pl_type *type);

/* Converts `count` elements; `packed` has count * pl_external_size(type) bytes. Integers that are shorter in external32
 * lose their upper bytes, as the standard requires. */
void pl_external_pack(const void *buf, MPI_Count count, const struct pl_type *type, void *packed);
void pl_external_unpack(const void *packed, void *buf, MPI_Count count, const struct pl_type *type);

/* The same for as many whole basic elements as the `bytes` bytes at `packed` hold. The rest of `buf` is unchanged. */
void pl_external_unpack_some(const void *packed, size_t bytes, void *buf, MPI_Count count, const struct pl_type *type);

#endif
