/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs that this process knows: its own, number 0, and others with whose processes it has communicated. The numbers
 * are of this process's making, and are what PL_PROC_JOB() (core/object/group.h) says; between processes a job goes by its
 * name and a key that tells it from all others of that name.
 *
 * A number stays until the process closes, so that the same process is the same member of every group. Any thread; a
 * lock of its own, of the last rank.
 */
#ifndef PLENUM_CORE_JOB_JOBS_H
#define PLENUM_CORE_JOB_JOBS_H

#include <stddef.h>
#include <stdint.h>

enum { PL_JOB_NAME_MAX = 255, PL_JOBS_MAX = INT32_MAX };

/* The number of a job, new or known. MPI_ERR_NO_MEM. */
int pl_jobs_number(uint64_t key, const char *name, size_t length, int *job);

/* What a number stands for, borrowed until the process closes; the own job's name for one that stands for nothing. */
const char *pl_jobs_name(int job, uint64_t *key);

/* "rank 3" for a process of the own job, "rank 3 of job plenum-17" for another's. */
void pl_jobs_describe(uint64_t proc, char *text, size_t room);

/* Forgets the others. The process closes. */
void pl_jobs_forget(void);

#endif
