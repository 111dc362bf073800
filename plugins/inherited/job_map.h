/* SPDX-License-Identifier: BSD-3-Clause */
/* The job that this process has inherited from the embedded launcher (core/job/segment.h), and mapping it. */
#ifndef PLENUM_PLUGINS_INHERITED_JOB_MAP_H
#define PLENUM_PLUGINS_INHERITED_JOB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/job/segment.h"

/* All zero while no job is mapped. */
struct pl_inherited {
    const struct pl_job_segment *job; /* mapped for reading */
    size_t job_bytes;
    struct pl_job_shared *common; /* the first tenant's part */
    struct pl_job_shared *shared; /* this copy's part */
    int held;                     /* the rank */
    bool apart, hidden, confined; /* as in struct pl_identity */
    struct pl_job_rank *own;      /* the rank in `shared` */
    uint32_t generation;          /* of this copy's claim */
    char *neighbours;             /* struct pl_identity.local_ranks */
};
extern struct pl_inherited pl_inherited;

/* Maps the job that the environment names, and its first part. PL_UNREACHABLE: it names none. */
int pl_inherited_map(int *rank);
/* The part of a tenant. NULL: an error, recorded. */
struct pl_job_shared *pl_inherited_map_part(int tenant, const char *text);
void pl_inherited_unmap(void);

#endif
