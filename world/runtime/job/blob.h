/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing block of bytes whose parts are named by their offsets. Launch plans and job segments are built in it.
 * Offset 0 is always taken by a header, so it can stand for "not given". A failed allocation is remembered;
 * pl_blob_file() reports it once, at the end. No locking.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_BLOB_H
#define PLENUM_WORLD_RUNTIME_JOB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_blob {
    unsigned char *data;
    size_t used, capacity;
    size_t tail; /* zeros after `data` in the file, which take no memory until a process writes there */
    bool failed;
};

/* Appends a copy of `from`, or zeros (NULL), aligned to 64 from 64 bytes on, else to 8. Returns the offset, 0 on
 * failure. */
uint32_t pl_blob_add(struct pl_blob *b, const void *from, size_t bytes);
uint32_t pl_blob_text(struct pl_blob *b, const char *text);

/* The part at an offset; valid until the next addition, NULL after a failure. */
void *pl_blob_at(struct pl_blob *b, uint32_t offset);

/* The size of the file is fixed, and so are its seals. */
#define PL_BLOB_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* An anonymous memory file with this content and these seals, close-on-exec; -1: the error is recorded and stored in
 * `*error`. */
int pl_blob_file(const struct pl_blob *b, const char *name, int seals, int *error);

void pl_blob_fini(struct pl_blob *b);

#endif
