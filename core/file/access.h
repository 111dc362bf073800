/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading and writing files: what a call requests, and the worker for all forms of it.
 *
 * Data is a stream of bytes on both sides: of the elements in memory, as a cursor walks them, and of the view, whose
 * runs mostly ascend in the file. An access moves bytes from one stream to the other. A read stops at the end of the
 * file.
 */
#ifndef PLENUM_CORE_FILE_ACCESS_H
#define PLENUM_CORE_FILE_ACCESS_H

#include "core/datatype/cursor.h"
#include "core/file/file.h"

/* What a public function requests. */
struct pl_file_io {
    bool write, collective;
    enum pl_file_position position;
    MPI_Offset offset; /* PL_FILE_AT: in etypes, not negative */
    void *buf;
    MPI_Count count;
    const struct pl_type *type;
};

/* Performs the access. `bytes`: how much of the user's data was read or written. `error`, in a collective access, is an
 * error that the caller has found: this process then only helps the others to complete their part. */
int pl_file_access(struct pl_file *file, const struct pl_file_io *io, int error, MPI_Count *bytes);

/* A resolved access: these bytes of the view, and of memory. */
struct pl_access {
    bool write;
    struct pl_span span;
    struct pl_cursor memory;
};

/* By this process alone. `moved`: bytes of the file. */
int pl_access_alone(struct pl_file *file, const struct pl_access *access, size_t *moved);

/* `bytes` bytes from offset `at`. `moved` is less than that only for a read that meets the end of the file. */
int pl_access_run(struct pl_file *file, bool write, MPI_Offset at, void *data, size_t bytes, size_t *moved);

#endif
