/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scratch directories in /dev/shm, where UCX creates the files of its shared memory. UCX unlinks them soon, but a
 * process that is killed before leaves a stale file: it lies in such a directory, and is removed with it.
 *
 * A process holds a directory of its own, with a random name, by a lock (flock) on the directory itself. The kernel
 * releases the lock however the process ends. A keeper at the end of a job, a runtime that opens and a process that
 * opens UCX sweep: they remove the directories of their user that no process holds.
 *
 * That a directory is there and not held shows that its holder was killed, which peers may miss in no other way. The
 * pid of the runtime that has started the holder is in the name. While that runtime lives, a sweep empties and marks
 * the directory (its mode lets no user write), and a later one removes it after some seconds.
 *
 * A file in the directory has one byte, which its holder sets when it closes. A peer maps that file while it is
 * connected. So it can tell how the holder ended when the directory has gone, and needs no descriptor for that.
 *
 * A directory that a living process holds is never removed: only a process that has the lock removes it. Its maker
 * uses it only once it has the lock and sees that the directory still exists. Until then a new directory looks
 * abandoned; if another process removes it, its maker creates another.
 */
#ifndef PLENUM_CORE_JOB_STALE_FILES_H
#define PLENUM_CORE_JOB_STALE_FILES_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_SCRATCH_DIR_NAME = 40 };

typedef _Atomic unsigned char pl_scratch_mark; /* not 0: the holder has closed */

struct pl_scratch_dir {
    int fd;                /* -1: there is none */
    uint64_t number;       /* by which other processes find it; 0: there is none */
    pl_scratch_mark *mark; /* mapped; NULL: there is none */
    char name[PL_SCRATCH_DIR_NAME];
};

/* Creates a directory and holds it. `runtime`: the pid of the runtime that has started this process; 0: none. If that
 * fails there is none, and UCX puts files where it does by default. */
void pl_scratch_dir_open(struct pl_scratch_dir *scratch_dir, uint32_t runtime);
/* Its holder closes in good order, though it may keep the directory until it ends. */
void pl_scratch_dir_mark(const struct pl_scratch_dir *scratch_dir);
/* The same, and removes it with its contents. */
void pl_scratch_dir_close(struct pl_scratch_dir *scratch_dir);

enum pl_scratch_state {
    PL_SCRATCH_HELD, /* as far as is known: another process may be looking or sweeping, too */
    PL_SCRATCH_CLOSED,
    PL_SCRATCH_ABANDONED, /* its holder has ended without closing it */
};

/* Maps the mark of another process's directory. NULL: it has gone, or there is no memory or descriptor. */
const pl_scratch_mark *pl_scratch_mark_open(uint64_t number);
void pl_scratch_mark_close(const pl_scratch_mark *mark);

/* The state of the directory of this number. `mark`: its mark; NULL: a directory that has gone counts as closed, though
 * a sweep may have removed it. */
enum pl_scratch_state pl_scratch_dir_state(uint64_t number, const pl_scratch_mark *mark);

/* Sweeps. `own`: the pid of the runtime of which no process runs any more, so that its directories are not needed; 0:
 * none. Uses system calls only, for the keeper. */
void pl_stale_files_sweep(uint32_t own);

#endif
