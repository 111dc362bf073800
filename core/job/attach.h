/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools: processes of one machine that nobody launched together, and that have a rank among each other while they are
 * attached. docs/attach.md.
 *
 * A pool is a job segment (core/job/segment.h) in a file: in a directory that the processes share, with a name, or an anonymous
 * one of rank 0, whose place the others hear through an exchange of theirs. Whoever has a rank holds a record lock on
 * the byte of that number, which the kernel takes away when the process ends, whatever it ends of: no pid is
 * believed, and what is left of the dead is never in the way. A rank whose `owner` is set and whose byte nobody locks
 * belongs to one who died; `gone` counts those whose place was taken by another.
 *
 * Attaching and detaching may be called by any thread; one at a time succeeds.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_H
#define PLENUM_CORE_JOB_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/job/segment.h"
#include "mpi-ext.h"

#define PL_ATTACH_ENV  "PLENUM_ATTACH" /* DIRECTORY:RANK:SIZE */
#define PL_ATTACH_FILE "plenum-pool"

enum { PL_ATTACH_MAX = 4096 }; /* processes in a pool */

/* A rank in a pool, held by this process. Holding needs the descriptor: closing it, or another one of the file, lets
 * go. */
struct pl_seat {
    struct pl_job_segment *job;
    size_t bytes;
    int fd;
    int rank;
    char *path;           /* NULL: it has no name */
    uint32_t *settled;    /* [pool size] deaths by rank, counted when this process came: they do not concern it */
    bool removed_by_last; /* it is in a directory, and made when it is needed */
};

/* MPI error classes, recorded. */
int pl_attach_directory(const char *directory, int rank, int size);
int pl_attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size);
int pl_attach_end(void);

/* For the bootstrap: takes the seat that the functions above, or PLENUM_ATTACH, have prepared. PL_UNREACHABLE: none. */
int pl_attach_take(struct pl_seat *seat);

#endif
