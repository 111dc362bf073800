/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets that are published, changed and withdrawn while a job runs: a table in the job segment that the runtime
 * and every process of the job may change. Part of both libraries.
 *
 * The table has several buffers, each with space for all sets; `current` says which one is valid. To change a set, a
 * process takes a free buffer, writes all sets into it in their new state, and makes it the current one with one
 * compare-and-swap. If another process was faster, it begins again. So a reader never sees half a change, and a
 * process that is stopped or killed in the middle delays no other: a buffer whose owner is gone is free.
 *
 * A reader copies the current buffer and checks that it is still current. It trusts nothing: a damaged table is an
 * error. No locks; a change waits only while all buffers are taken.
 */
#ifndef PLENUM_CORE_JOB_SETS_H
#define PLENUM_CORE_JOB_SETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/job/segment.h"

enum { PL_JOB_BUFFERS = 8 };

/* What the processes share of a table. The buffers follow. */
struct pl_job_table_memory {
    PL_CACHE_ALIGNED _Atomic uint64_t current; /* changes so far << 8 | number of the buffer; first 0, which is empty */
    _Atomic int32_t owner[PL_JOB_BUFFERS];     /* pid of the process that writes the buffer; 0: it is free */
};

/* Bytes of the memory of a table whose buffers have `capacity` bytes. */
#define PL_JOB_TABLE_BYTES(capacity) (sizeof(struct pl_job_table_memory) + (size_t)PL_JOB_BUFFERS * (capacity))

/* A table: its memory, and what bounds it, which no process of the job can change. */
struct pl_job_table {
    struct pl_job_table_memory *memory; /* NULL: there is no table */
    uint32_t capacity;                  /* bytes of a buffer, a multiple of 64 */
    uint32_t size;                      /* ranks in the job */
};

static inline struct pl_job_table pl_job_table_of(const struct pl_job_segment *job, struct pl_job_shared *shared)
{
    char *at = (char *)shared + job->table;
    return (struct pl_job_table){ job->table ? (struct pl_job_table_memory *)at : NULL, job->table_capacity,
                                  job->size };
}

/* One set in a copy of the table; name and ranges lie in the copy. */
struct pl_job_set {
    const char *name;
    uint64_t version;       /* higher than that of any set that had this name before */
    const uint32_t *ranges; /* [2 * count]: first rank, last rank, in the order of the members */
    uint32_t count;
};

/* A copy of all sets. */
struct pl_job_sets {
    uint64_t version;       /* of the table: the number of changes so far */
    struct pl_job_set *set; /* [count] */
    int count;
    void *memory;
};

/* Increases with every change. One load. */
static inline uint64_t pl_job_sets_version(const struct pl_job_table *table)
{
    return atomic_load_explicit(&table->memory->current, memory_order_acquire) >> 8;
}

/* NULL, or what went wrong: no memory, or the table is damaged. */
const char *pl_job_sets_open(const struct pl_job_table *table, struct pl_job_sets *sets);
void pl_job_sets_close(struct pl_job_sets *sets);

/* The set of this name; NULL: there is none. */
const struct pl_job_set *pl_job_sets_find(const struct pl_job_sets *sets, const char *name);

/* Publishes a set or changes it; an unchanged set is left alone. Withdraws it if `ranges` is NULL; an unknown set is an
 * error then. The caller has checked the name and the ranges. NULL, or what went wrong. `version`: the table's
 * afterwards. */
const char *pl_job_sets_change(const struct pl_job_table *table, const char *name, const uint32_t *ranges,
                               uint32_t count, uint64_t *version);

/* In the table of an agent: replaces all sets by those of the job, in their order, with their versions and that of the
 * table. Only this process changes the table; what else was written there does not matter. NULL, or what went wrong. */
const char *pl_job_sets_replace(const struct pl_job_table *table, const struct pl_job_sets *sets);

#endif
