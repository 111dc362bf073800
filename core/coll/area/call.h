/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective under way in an area: what its chunks share. See area.h. */
#ifndef PLENUM_CORE_COLL_AREA_CALL_H
#define PLENUM_CORE_COLL_AREA_CALL_H

#include <string.h>

#include "core/base/far_copy.h"
#include "core/coll/algorithm.h"
#include "core/coll/area/slots.h"

static inline size_t pl_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Often 8 bytes. Buffers of no bytes may be NULL. */
static inline void pl_copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes >= PL_FAR_COPY_FROM)
        pl_far_copy(to, from, bytes);
    else if (bytes > 0)
        memcpy(to, from, bytes);
}

#endif
