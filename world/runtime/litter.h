/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory in /dev/shm for each job, named by its cookie, where UCX makes the files of its shared memory
 * (UCX_POSIX_DIR). UCX takes their names away at once, but a process that is killed in between leaves a file behind:
 * then it lies here, and goes with the job. Functions use system calls only, because the keeper makes and removes it;
 * the host removes it when the keeper has died.
 */
#ifndef PLENUM_RUNTIME_LITTER_H
#define PLENUM_RUNTIME_LITTER_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_LITTER_NAME = 40 };

/* Can there be one? */
bool pl_litter_possible(void);

void pl_litter_name(uint64_t cookie, char name[PL_LITTER_NAME]);

void pl_litter_make(uint64_t cookie);
/* With what is in it. Does nothing when there is none. */
void pl_litter_remove(uint64_t cookie);

#endif
