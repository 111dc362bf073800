/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a pool, and seats: a seat is a rank in a pool that this process holds.
 *
 * A pool is a job segment (core/job/segment.h) in one file: the description, which the process that makes the pool
 * writes and all map for reading, then, from a page's start, the shared part. The file is a named one in a directory
 * that the processes share, or an anonymous one of rank 0, whose location the others learn through the user's exchange
 * callback. The holder of a rank has a record lock on the byte of that number. The kernel releases the lock however the
 * process ends, so pids are never trusted, and a dead process never blocks its rank.
 *
 * The kernel also releases the locks of a living process when that closes any descriptor of the file. Another copy of
 * the library may leave the same pool, or code open what it finds below /proc/PID/fd. So a rank without a lock
 * belongs to its `owner` as long as that process has the pool's file as the descriptor `fd`. When it has not, the owner
 * has died; `deaths` counts those whose rank another process took over.
 *
 * No locking here; the process lock or the caller serializes changes of a seat.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_FILE_H
#define PLENUM_CORE_JOB_ATTACH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/job/attach_far.h"
#include "core/job/segment.h"

#define PL_ATTACH_FILE "plenum-pool"

struct pl_seat {
    const struct pl_job_segment *job; /* mapped for reading */
    struct pl_job_shared *shared;
    size_t bytes, shared_bytes;
    int fd;
    int rank;
    char *path;           /* NULL: the file has no name */
    uint32_t *settled;    /* [pool size] deaths by rank before this process came: they do not concern it */
    struct pl_far *far;   /* a pool on several machines; NULL: all of it is on this one */
    bool removed_by_last; /* the file is created in a directory when needed, and removed by the last process */
};

/* Each sets the whole seat, or fails and holds nothing: takes a rank in the pool of a directory; creates an anonymous
 * pool; opens one of another process, by a descriptor there. */
int pl_seat_in_directory(const char *directory, int rank, int size, struct pl_seat *seat);
int pl_seat_make(int size, uint64_t cookie, struct pl_seat *seat);
int pl_seat_open(int pid, int fd, int size, uint64_t cookie, struct pl_seat *seat);

/* Takes a rank in an open anonymous pool. */
int pl_seat_claim(struct pl_seat *seat, int rank);

/* Releases the rank, if one is held, and closes the pool. */
void pl_seat_leave(struct pl_seat *seat);

/* MPI_SUCCESS: the process is attached, has departed, or has not come yet. MPI_ERR_PROC_ABORTED (not recorded): it died
 * since this process came, and its rank is free. PL_AGAIN: it is on another machine. */
int pl_seat_alive(const struct pl_seat *seat, int rank);

/* The number of processes that died as this rank and either do not concern this process or have been replaced. */
uint32_t pl_seat_deaths(const struct pl_seat *seat, int rank);

/* A card of another rank. PL_AGAIN: it is not there. MPI_ERR_PROC_ABORTED: the process has died. */
int pl_seat_card(const struct pl_seat *seat, int rank, enum pl_card_slot slot, void *card, size_t *length);

#endif
