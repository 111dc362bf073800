/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs by number are a vector, and by key a table; jobs of one key differ by name. */
#include "core/job/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/table.h"
#include "core/base/vec.h"
#include "core/job/process.h"
#include "core/object/group.h"

struct job {
    struct pl_table_node by_key;
    int number;
    char name[];
};

static struct pl_lock jobs_lock = PL_LOCK_INIT(PL_RANK_LEAF);
static PL_VEC(struct job *) jobs; /* job 1 first */
static struct pl_table jobs_by_key;

static bool jobs_is_own(uint64_t key, const char *name, size_t length)
{
    const struct pl_identity *identity = &pl_process.identity;
    return key == identity->key && strlen(identity->nspace) == length && memcmp(identity->nspace, name, length) == 0;
}

static struct job *jobs_find(uint64_t key, const char *name, size_t length)
{
    PL_TABLE_EACH_OF(job, &jobs_by_key, key, struct job, by_key)
        if (strlen(job->name) == length && memcmp(job->name, name, length) == 0)
            return job;
    return NULL;
}

static struct job *jobs_add(uint64_t key, const char *name, size_t length)
{
    struct job *job = PL_VEC_RESERVE(&jobs, 1) ? pl_malloc(sizeof *job + length + 1) : NULL;
    if (!job)
        return NULL;
    memcpy(job->name, name, length);
    job->name[length] = '\0';
    *PL_VEC_PUSH(&jobs) = job;
    job->number = (int)jobs.count;
    pl_table_insert(&jobs_by_key, &job->by_key, key);
    return job;
}

int pl_jobs_number(uint64_t key, const char *name, size_t length, int *number)
{
    *number = 0;
    if (jobs_is_own(key, name, length))
        return MPI_SUCCESS;
    pl_lock_take(&jobs_lock);
    struct job *job = jobs_find(key, name, length);
    if (!job)
        job = jobs_add(key, name, length);
    if (job)
        *number = job->number;
    pl_lock_drop(&jobs_lock);
    return job ? MPI_SUCCESS : pl_fail_memory("another job");
}

const char *pl_jobs_name(int number, uint64_t *key)
{
    const char *name = pl_process.identity.nspace;
    *key = pl_process.identity.key;
    pl_lock_take(&jobs_lock);
    if (number > 0 && number <= (int)jobs.count) {
        name = jobs.items[number - 1]->name;
        *key = jobs.items[number - 1]->by_key.key;
    }
    pl_lock_drop(&jobs_lock);
    return name;
}

void pl_jobs_describe(uint64_t proc, char *text, size_t capacity)
{
    uint64_t key;
    if (proc == UINT64_MAX)
        snprintf(text, capacity, "an unknown process");
    else if (PL_PROC_JOB(proc) == 0)
        snprintf(text, capacity, "rank %d", PL_PROC_RANK(proc));
    else
        snprintf(text, capacity, "rank %d of job %s", PL_PROC_RANK(proc), pl_jobs_name(PL_PROC_JOB(proc), &key));
}

void pl_jobs_forget(void)
{
    pl_lock_take(&jobs_lock);
    for (size_t i = 0; i < jobs.count; i++) {
        pl_table_remove(&jobs_by_key, &jobs.items[i]->by_key);
        free(jobs.items[i]);
    }
    pl_table_fini(&jobs_by_key);
    PL_VEC_FINI(&jobs);
    pl_lock_drop(&jobs_lock);
}
