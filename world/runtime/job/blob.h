/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing block of bytes in which parts are named by their offset: launch plans and job segments are made in it.
 * Offset 0 is always taken, so it can stand for "not given". Running out of memory is remembered and found once, at
 * the end, by pl_blob_file().
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_BLOB_H
#define PLENUM_WORLD_RUNTIME_JOB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_blob {
    unsigned char *data;
    size_t used, room;
    size_t tail; /* zeros behind it in the file, which take no memory until somebody writes there */
    bool failed;
};

/* Appends zeros, or a copy of `from`, aligned to 64 or to the size's own need. Returns the offset, 0 on failure. */
uint32_t pl_blob_add(struct pl_blob *buffer, const void *from, size_t bytes);
uint32_t pl_blob_text(struct pl_blob *buffer, const char *text);

/* The part at an offset; valid until the next addition, NULL after a failure. */
void *pl_blob_at(struct pl_blob *buffer, uint32_t offset);

/* An anonymous memory file of fixed size with this content, close-on-exec; -1: the error is recorded, and is
 * `*error`. */
int pl_blob_file(const struct pl_blob *buffer, const char *name, int *error);

void pl_blob_fini(struct pl_blob *buffer);

#endif
