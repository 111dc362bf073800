/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs that this process knows: its own, number 0, and others with whose processes it has communicated. The numbers
 * are local to this process, and are what PL_PROC_JOB() (core/object/group.h) returns. Between processes a job is
 * identified by its name and a key that distinguishes it from other jobs of that name.
 *
 * A number stays valid until the process closes, so one process is always the same member of every group. Any thread;
 * a lock of its own, of the last rank.
 */
#ifndef PLENUM_CORE_JOB_JOBS_H
#define PLENUM_CORE_JOB_JOBS_H

#include <stddef.h>
#include <stdint.h>

enum { PL_JOB_NAME_MAX = 255, PL_JOBS_MAX = INT32_MAX };

/* The number of a job, which is added unless it is known. MPI_ERR_NO_MEM. */
int pl_jobs_number(uint64_t key, const char *name, size_t length, int *job);

/* The name and key of a job, borrowed until the process closes; those of this process's job for an unknown number. */
const char *pl_jobs_name(int job, uint64_t *key);

/* "rank 3" for a process of this job, "rank 3 of job plenum-17" for one of another job. */
void pl_jobs_describe(uint64_t proc, char *text, size_t capacity);

/* Forgets the other jobs, when the process closes. */
void pl_jobs_forget(void);

#endif
