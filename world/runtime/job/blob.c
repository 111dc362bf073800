/* SPDX-License-Identifier: BSD-3-Clause */
/* See blob.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file_limit.h"
#include "core/base/memory.h"
#include "world/runtime/job/blob.h"
#include "world/runtime/runtime_error.h"

static bool blob_reserve(struct pl_blob *b, size_t bytes)
{
    if (b->failed || bytes > UINT32_MAX - b->used) {
        b->failed = true;
        return false;
    }
    if (b->used + bytes <= b->capacity)
        return true;
    size_t capacity = 2 * (b->used + bytes) + 4096;
    unsigned char *data = pl_realloc(b->data, capacity);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

static uint32_t blob_add(struct pl_blob *b, const void *from, size_t bytes, size_t align)
{
    size_t gap = (align - b->used % align) % align;
    if (!blob_reserve(b, gap + bytes))
        return 0;
    memset(b->data + b->used, 0, gap);
    unsigned char *to = b->data + b->used + gap;
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
    b->used += gap + bytes;
    return (uint32_t)(to - b->data);
}

uint32_t pl_blob_add(struct pl_blob *b, const void *from, size_t bytes)
{
    return blob_add(b, from, bytes, bytes >= 64 ? 64 : 8);
}

uint32_t pl_blob_text(struct pl_blob *b, const char *text)
{
    return blob_add(b, text, strlen(text) + 1, 1);
}

void *pl_blob_at(struct pl_blob *b, uint32_t offset)
{
    return b->failed ? NULL : b->data + offset;
}

static bool blob_write_all(int fd, const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(fd, data, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        bytes -= (size_t)done;
    }
    return true;
}

int pl_blob_file(const struct pl_blob *b, const char *name, int seals, int *error)
{
    if (b->failed) {
        *error = pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
        return -1;
    }
    if (!pl_file_may_have(b->used + b->tail)) {
        *error = pl_rt_fail(PLENUM_ERR_LIMIT,
                            "the job needs a memory file of %zu bytes, more than the limit allows (ulimit -f)",
                            b->used + b->tail);
        return -1;
    }
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        *error = pl_rt_fail_errno("cannot create a memory file for the job");
        return -1;
    }
    if (!blob_write_all(fd, b->data, b->used)) {
        *error = pl_rt_fail_errno("cannot write a memory file of %zu bytes for the job", b->used);
        close(fd);
        return -1;
    }
    if (b->tail && ftruncate(fd, (off_t)(b->used + b->tail)) != 0) {
        *error = pl_rt_fail_errno("cannot create a memory file of %zu bytes for the job", b->used + b->tail);
        close(fd);
        return -1;
    }
    if (seals)
        fcntl(fd, F_ADD_SEALS, seals);
    return fd;
}

void pl_blob_fini(struct pl_blob *b)
{
    free(b->data);
    *b = (struct pl_blob){ 0 };
}
