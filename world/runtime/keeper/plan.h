/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launch plan: what the keeper needs to start the processes of a job, written by the runtime into one anonymous
 * memory file. Everything refers to everything else by offsets from the start, because the two map it elsewhere.
 * Written before it is sent and constant afterwards; only this library writes it, so it is not checked as input.
 */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_PLAN_H
#define PLENUM_WORLD_RUNTIME_KEEPER_PLAN_H

#include <stdint.h>

struct pl_plan {
    uint64_t cookie; /* of the job: finds the processes that belong to it by their environment */
    uint32_t ranks;  /* offset and number of struct pl_plan_rank */
    uint32_t rank_count;
    uint32_t job_fd; /* the number that the job segment has in the processes */
};

struct pl_plan_rank {
    uint32_t path;       /* offset of the program's file name; relative to wdir unless it begins with a slash */
    uint32_t wdir;       /* offset of an absolute directory */
    uint32_t argv, argc; /* offset of uint32_t[argc], offsets of texts */
    uint32_t env, envc;  /* the same for "NAME=value" that the ranks of a program share */
    uint32_t own, ownc;  /* and for those that this rank has for itself */
    uint32_t cpus;       /* offset of the cpu_set_t that it is bound to; 0: not bound */
};

/* What an offset of `plan` refers to. */
static inline const void *pl_plan_at(const struct pl_plan *plan, uint32_t offset)
{
    return (const char *)plan + offset;
}

#endif
