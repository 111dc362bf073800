/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines.h. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "world/runtime/event/lines.h"

static bool lines_hold(struct pl_lines *lines, const char *fresh, size_t length)
{
    size_t need = lines->length + length;
    if (need > PL_LINE_MAX)
        return false;
    if (need > lines->capacity) {
        size_t capacity = 2 * need + 64;
        char *held = pl_realloc(lines->held, capacity);
        if (!held)
            return false;
        lines->held = held;
        lines->capacity = capacity;
    }
    memcpy(lines->held + lines->length, fresh, length);
    lines->length = need;
    return true;
}

void pl_lines_feed(struct pl_lines *lines, const char *fresh, size_t length, pl_lines_fn *emit, void *arg)
{
    const char *newline = memrchr(fresh, '\n', length);
    size_t whole = newline ? (size_t)(newline - fresh) + 1 : 0;
    if (whole > 0) {
        emit(arg, lines->held, lines->length, fresh, whole, false);
        lines->length = 0;
    }
    if (length > whole && !lines_hold(lines, fresh + whole, length - whole)) {
        emit(arg, lines->held, lines->length, fresh + whole, length - whole, true);
        lines->length = 0;
    }
}

void pl_lines_end(struct pl_lines *lines, pl_lines_fn *emit, void *arg)
{
    if (lines->length > 0)
        emit(arg, lines->held, lines->length, NULL, 0, true);
    free(lines->held);
    *lines = (struct pl_lines){ 0 };
}
