/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: ordered lists of processes. Immutable.
 *
 * A process is known by a 64-bit id that is local to this process: the index of its job (core/job/jobs.h) and its rank.
 * A group that is an arithmetic sequence of ids (MPI_COMM_WORLD, most splits) keeps no list.
 */
#ifndef PLENUM_CORE_OBJECT_GROUP_H
#define PLENUM_CORE_OBJECT_GROUP_H

#include <stdatomic.h>

#include "core/object/object.h"
#include "mpi.h"

#define PL_PROC(job, rank) ((uint64_t)(job) << 32 | (uint32_t)(rank))
#define PL_PROC_JOB(proc)  ((int)((proc) >> 32))
#define PL_PROC_RANK(proc) ((int)(uint32_t)(proc))

struct pl_instance;

struct pl_group {
    struct pl_object obj;
    struct pl_instance *instance; /* the session or world it comes from, NULL for MPI_GROUP_EMPTY; not retained:
                                     only compared, never followed */
    uint64_t instance_serial;     /* tells it from a later instance at the same address */
    int size;
    int rank;       /* of this process; MPI_UNDEFINED: not a member */
    uint64_t first; /* members[i] = list ? list[i] : first + i * stride */
    int64_t stride;
    uint64_t *list;                       /* [size], NULL for a sequence */
    struct pl_group_index *_Atomic index; /* group.c: finds members of a list; NULL until it is needed */
};

static inline uint64_t pl_group_proc(const struct pl_group *group, int rank)
{
    return group->list ? group->list[rank] : group->first + (uint64_t)((int64_t)rank * group->stride);
}

/* This process as a member of groups. Set when the process opens (core/job/process.c). */
extern uint64_t pl_group_self;

/* A group with these members in this order, of the instance with that serial number. The list is copied, and compressed
 * where it is a sequence. One handle. Without members it is MPI_GROUP_EMPTY. NULL: out of memory. Callers that have an
 * instance use pl_instance_group(). */
struct pl_group *pl_group_create(struct pl_instance *instance, uint64_t serial, int size, const uint64_t *procs);
struct pl_group *pl_group_create_range(struct pl_instance *instance, uint64_t serial, int size, uint64_t first,
                                       int64_t stride);

/* The rank of a process; MPI_UNDEFINED: not a member. O(1) for sequences, else O(log size). */
int pl_group_find(const struct pl_group *group, uint64_t proc);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int pl_group_compare(const struct pl_group *a, const struct pl_group *b);

/* Set operations, in the order that MPI demands. Results have one handle. MPI_ERR_GROUP: the groups are of different
 * instances. */
int pl_group_union(const struct pl_group *a, const struct pl_group *b, struct pl_group **result);
int pl_group_intersection(const struct pl_group *a, const struct pl_group *b, struct pl_group **result);
int pl_group_difference(const struct pl_group *a, const struct pl_group *b, struct pl_group **result);
int pl_group_check_same(const struct pl_group *a, const struct pl_group *b);

/* The members with these ranks, in this order; all except them. MPI_ERR_RANK: a rank is invalid or repeated. */
int pl_group_incl(const struct pl_group *group, int n, const int ranks[], struct pl_group **result);
int pl_group_excl(const struct pl_group *group, int n, const int ranks[], struct pl_group **result);

/* The ranks of ranges (first, last, stride), in malloc'ed memory. MPI_ERR_ARG: a stride does not lead from first to
 * last. */
int pl_group_expand(const struct pl_group *group, int n, int ranges[][3], int *count, int **ranks);

void *pl_group_predefined(uintptr_t constant);
void pl_group_destroy(void *group);

#endif
