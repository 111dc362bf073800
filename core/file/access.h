/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading and writing files: what is asked for, and the worker for all forms of it.
 *
 * Data is a stream of bytes on both sides: of the elements in memory, as a cursor walks them, and of the view, whose
 * runs mostly ascend in the file. An access moves the one into the other. A read stops at the end of the file.
 */
#ifndef PLENUM_CORE_FILE_ACCESS_H
#define PLENUM_CORE_FILE_ACCESS_H

#include "core/file/file.h"

/* What a function of the interface asks for. */
struct pl_file_io {
    bool write, collective;
    enum pl_file_position position;
    MPI_Offset offset; /* PL_FILE_AT: in etypes, not negative */
    void *buf;
    MPI_Count count;
    const struct pl_type *type;
};

/* Does it. `bytes`: of the user's data that was read or written. `error` of a collective access: what the caller has
 * found wrong with it; this process then only lets the others do theirs. */
int pl_file_access(struct pl_file *file, const struct pl_file_io *io, int error, MPI_Count *bytes);

/* An access that is resolved: these bytes of the view, and of memory. */
struct pl_access {
    bool write;
    struct pl_span span;
    struct pl_cursor memory;
};

/* By this process alone; or together with the others, some of which may have failed before (`error`: this one has).
 * `moved`: bytes of the file. */
int pl_access_alone(struct pl_file *file, const struct pl_access *access, size_t *moved);
int pl_access_together(struct pl_file *file, const struct pl_access *access, int error, size_t *moved);

/* Bytes at one place. Of a read `moved` is less at the end of the file. */
int pl_access_run(struct pl_file *file, bool write, MPI_Offset at, void *data, size_t bytes, size_t *moved);

#endif
