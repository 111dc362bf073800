/* SPDX-License-Identifier: BSD-3-Clause */
/* See jobs.h. A table of jobs by number, and chains through it by the hash of their keys. */
#include "core/job/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/job/process.h"
#include "core/object/group.h"

enum { BUCKETS = 64 };

struct job {
    uint64_t key;
    struct job *next; /* in its bucket */
    int number;
    char name[];
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static struct job **jobs; /* [count] job 1 first */
static int count, room;
static struct job *buckets[BUCKETS];

static bool is_own(uint64_t key, const char *name, size_t length)
{
    const struct pl_identity *place = &pl_process.place;
    return key == place->key && strlen(place->nspace) == length && memcmp(place->nspace, name, length) == 0;
}

static struct job *jobs_find(uint64_t key, const char *name, size_t length)
{
    for (struct job *job = buckets[key % BUCKETS]; job; job = job->next)
        if (job->key == key && strlen(job->name) == length && memcmp(job->name, name, length) == 0)
            return job;
    return NULL;
}

static struct job *jobs_add(uint64_t key, const char *name, size_t length)
{
    if (count == room) {
        int more = room ? 2 * room : 4;
        struct job **table = realloc(jobs, (size_t)more * sizeof *table);
        if (!table)
            return NULL;
        jobs = table;
        room = more;
    }
    struct job *job = pl_malloc(sizeof *job + length + 1);
    if (!job)
        return NULL;
    *job = (struct job){ .key = key, .next = buckets[key % BUCKETS], .number = count + 1 };
    memcpy(job->name, name, length);
    job->name[length] = '\0';
    jobs[count++] = buckets[key % BUCKETS] = job;
    return job;
}

int pl_jobs_number(uint64_t key, const char *name, size_t length, int *number)
{
    *number = 0;
    if (is_own(key, name, length))
        return MPI_SUCCESS;
    pl_lock_take(&lock);
    struct job *job = jobs_find(key, name, length);
    if (!job)
        job = jobs_add(key, name, length);
    if (job)
        *number = job->number;
    pl_lock_drop(&lock);
    return job ? MPI_SUCCESS : pl_fail_memory("another job");
}

const char *pl_jobs_name(int number, uint64_t *key)
{
    const char *name = pl_process.place.nspace;
    *key = pl_process.place.key;
    pl_lock_take(&lock);
    if (number > 0 && number <= count) {
        name = jobs[number - 1]->name;
        *key = jobs[number - 1]->key;
    }
    pl_lock_drop(&lock);
    return name;
}

void pl_jobs_describe(uint64_t proc, char *text, size_t size)
{
    uint64_t key;
    if (proc == UINT64_MAX)
        snprintf(text, size, "a process that is not known");
    else if (PL_PROC_JOB(proc) == 0)
        snprintf(text, size, "rank %d", PL_PROC_RANK(proc));
    else
        snprintf(text, size, "rank %d of job %s", PL_PROC_RANK(proc), pl_jobs_name(PL_PROC_JOB(proc), &key));
}

void pl_jobs_forget(void)
{
    pl_lock_take(&lock);
    for (int i = 0; i < count; i++)
        free(jobs[i]);
    free(jobs);
    jobs = NULL;
    count = room = 0;
    memset(buckets, 0, sizeof buckets);
    pl_lock_drop(&lock);
}
