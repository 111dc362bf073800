/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of files, the same on all processes. Unknown keys and invalid values are ignored. See docs/files.md. */
#ifndef PLENUM_CORE_FILE_HINTS_H
#define PLENUM_CORE_FILE_HINTS_H

#include "mpi.h"

struct pl_file;
struct pl_info;

/* When a collective access uses the buffers of the aggregators; otherwise each process performs its own. */
enum pl_file_buffering { PL_FILE_AUTOMATIC, PL_FILE_ENABLE, PL_FILE_DISABLE };

struct pl_file_hints {
    int nodes;                               /* cb_nodes: aggregators */
    MPI_Offset buffer;                       /* cb_buffer_size: bytes that each aggregator buffers */
    enum pl_file_buffering reading, writing; /* romio_cb_read, romio_cb_write */
};

void pl_file_hints_default(struct pl_file *file);

/* Adopts the first process's hints (`info` may be NULL), and this process's assertions about kinds of memory.
 * Collective. */
int pl_file_hints_set(struct pl_file *file, struct pl_info *info);

/* Stores the values in effect in `used`. Not collective. */
int pl_file_hints_get(struct pl_file *file, struct pl_info *used);

#endif
