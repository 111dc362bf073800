/* SPDX-License-Identifier: BSD-3-Clause */
/* See copy.h. */
#include "core/coll/area/copy.h"

void pl_area_pack_runs(struct pl_block block, size_t at, void *packed, size_t bytes, bool pack)
{
    struct pl_cursor cursor;
    pl_cursor_init(&cursor, block.buf, block.count, block.type);
    pl_cursor_seek(&cursor, at);
    if (pack)
        pl_cursor_pack(&cursor, packed, bytes);
    else
        pl_cursor_unpack(&cursor, packed, bytes);
}
