/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories in /dev/shm where UCX makes the files of its shared memory. UCX takes their names away again, but a
 * process that is killed in between leaves a file behind: then it lies here, and goes with the directory.
 *
 * A process holds a directory of its own, of a random name, by a lock (flock) on the directory itself. The kernel
 * lets go of it when the process ends, whatever it ends of. Who passes by (a keeper at the end of a job, a runtime
 * that opens, a process that opens UCX) removes the directories of its user that nobody holds.
 *
 * What a living process holds is never removed: only who has got the lock removes, and a process uses a directory
 * only when it has the lock and sees that the directory is still there. Until then one that was just made looks
 * abandoned; if somebody takes it for that, its maker makes another.
 */
#ifndef PLENUM_CORE_JOB_STALE_FILES_H
#define PLENUM_CORE_JOB_STALE_FILES_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_SCRATCH_DIR_NAME = 40 };

struct pl_scratch_dir {
    int fd;          /* -1: there is none */
    uint64_t number; /* by which others find it; 0: there is none */
    char name[PL_SCRATCH_DIR_NAME];
};

/* Makes one and holds it, or there is none: without it files go where UCX puts them. */
void pl_scratch_dir_open(struct pl_scratch_dir *scratch_dir);
/* Removes it, with what is in it. */
void pl_scratch_dir_close(struct pl_scratch_dir *scratch_dir);

/* Does somebody hold the one with this number? False: it has been closed, or its holder has ended. */
bool pl_scratch_dir_is_held(uint64_t number);

/* Removes those that nobody holds. Uses system calls only, for the keeper. */
void pl_stale_files_sweep(void);

#endif
