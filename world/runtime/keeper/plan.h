/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launch plan: all data that the keeper needs to start the processes of a job. The runtime writes it into one
 * anonymous memory file before it sends it; it is constant afterwards. References are offsets from the start, because
 * runtime and keeper map it at different addresses. Only this library writes plans, so they are not checked as input.
 */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_PLAN_H
#define PLENUM_WORLD_RUNTIME_KEEPER_PLAN_H

#include <stdint.h>

struct pl_plan {
    uint64_t cookie; /* of the job: identifies its processes by their environment */
    uint32_t ranks;  /* offset and number of struct pl_plan_rank */
    uint32_t rank_count;
    uint32_t here;      /* ranks that this keeper starts: all, unless the job is on several hosts */
    uint32_t job_fd;    /* the descriptor of the job's description in the processes, */
    uint32_t shared_fd; /* ... and that of its shared part, which is one less */
    uint32_t placer;    /* a command that leads to another host: it is to end by itself when its input ends */
    uint32_t notes_fd;  /* the descriptor of the runtime's pipe for notes, which is one less again; 0: none */
    uint32_t pmi_fd;    /* the descriptor of a rank's socket to the PMI server, which is the next lower one; 0: none */
    uint32_t stopped;   /* each process stops before its program's first instruction, until it gets SIGCONT */
};

struct pl_plan_rank {
    uint32_t path;       /* offset of the program's file name; relative to wdir unless it begins with a slash */
    uint32_t wdir;       /* offset of an absolute directory */
    uint32_t argv, argc; /* offset of uint32_t[argc], offsets of texts */
    uint32_t env, envc;  /* the same for "NAME=value" of all ranks of the program */
    uint32_t own, ownc;  /* the same for "NAME=value" of this rank alone */
    uint32_t cpus;       /* offset of the cpu_set_t to bind it to; 0: not bound */
};

/* The data at an offset of `plan`. */
static inline const void *pl_plan_at(const struct pl_plan *plan, uint32_t offset)
{
    return (const char *)plan + offset;
}

#endif
