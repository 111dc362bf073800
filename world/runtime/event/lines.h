/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a stream of bytes into chunks that end at a newline. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_EVENT_LINES_H
#define PLENUM_WORLD_RUNTIME_EVENT_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_LINE_MAX = 1 << 20 }; /* bytes of a line that are held back before it is passed on in chunks */

/* The bytes since the last newline. */
struct pl_lines {
    char *held;
    size_t length, capacity;
};

/* Gets whole lines in two parts, the held bytes and the new ones; neither is NUL-terminated. `partial`: the last line
 * has no newline. */
typedef void pl_lines_fn(void *arg, const char *held, size_t held_length, const char *fresh, size_t length,
                         bool partial);

/* Adds `length` bytes; calls `emit` at most once. */
void pl_lines_feed(struct pl_lines *lines, const char *fresh, size_t length, pl_lines_fn *emit, void *arg);

/* Emits the held bytes and frees them. */
void pl_lines_end(struct pl_lines *lines, pl_lines_fn *emit, void *arg);

#endif
