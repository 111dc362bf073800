/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a job segment, and its tenants. Part of both libraries. */
#include "core/job/segment.h"

#include <stdio.h>
#include <string.h>

#include "core/base/version.h"
#include "core/job/report.h"
#include "core/job/sets.h"

enum { RANKS_MAX = 1 << 24 };

/* Are [offset, offset + count * each) inside `bytes` bytes and aligned for the type? */
static bool job_segment_inside(size_t bytes, uint64_t offset, uint64_t count, size_t each, size_t align)
{
    return offset % align == 0 && offset <= bytes && count <= (bytes - offset) / each;
}

/* Does a text at this offset end inside the segment? Offset 0 means no text. */
static bool job_segment_is_text(const struct pl_job_segment *job, size_t bytes, uint32_t offset)
{
    return offset == 0 || (offset < bytes && memchr((const char *)job + offset, '\0', bytes - offset));
}

static const char *job_segment_check_psets(const struct pl_job_segment *job, size_t bytes)
{
    if (!job_segment_inside(bytes, job->psets, job->pset_count, sizeof(struct pl_job_pset),
                            _Alignof(struct pl_job_pset)))
        return "its process sets lie outside";
    const struct pl_job_pset *pset = (const void *)((const char *)job + job->psets);
    for (uint32_t i = 0; i < job->pset_count; i++) {
        if (!pset[i].name || !job_segment_is_text(job, bytes, pset[i].name))
            return "the name of a process set does not end";
        if (!job_segment_inside(bytes, pset[i].ranges, pset[i].count, 2 * sizeof(uint32_t), _Alignof(uint32_t)))
            return "the members of a process set lie outside";
        const uint32_t *range = (const void *)((const char *)job + pset[i].ranges);
        for (uint32_t r = 0; r < pset[i].count; r++)
            if (range[2 * r] > range[2 * r + 1] || range[2 * r + 1] >= job->size)
                return "a process set has members that are not in the job";
    }
    return NULL;
}

static const char *job_segment_check_apps(const struct pl_job_segment *job, size_t bytes)
{
    if (!job_segment_inside(bytes, job->appnum, job->size, sizeof(int32_t), _Alignof(int32_t)))
        return "its program numbers lie outside";
    if (!job_segment_inside(bytes, job->apps, job->app_count, sizeof(struct pl_job_app), _Alignof(struct pl_job_app)))
        return "its programs lie outside";
    const struct pl_job_app *app = (const void *)((const char *)job + job->apps);
    for (uint32_t i = 0; i < job->app_count; i++) {
        if (!job_segment_is_text(job, bytes, app[i].command) || !job_segment_is_text(job, bytes, app[i].argv) ||
            !job_segment_is_text(job, bytes, app[i].wdir))
            return "a text of a program does not end";
        if (app[i].first > job->size || app[i].count > job->size - app[i].first)
            return "a program has ranks that are not in the job";
    }
    return NULL;
}

static const char *job_segment_check_table(const struct pl_job_segment *job)
{
    if (!job->table)
        return NULL;
    if (job->table_capacity < 64 || job->table_capacity % 64)
        return "its table of published process sets is damaged";
    if (!job_segment_inside(job->tenant_bytes, job->table, 1, PL_JOB_TABLE_BYTES(job->table_capacity), 64))
        return "its table of published process sets lies outside";
    return NULL;
}

static const char *job_segment_check_cpus(const struct pl_job_segment *job, size_t bytes)
{
    if (job->cpu_words == 0)
        return NULL;
    bool whole = job_segment_inside(bytes, job->cpus, job->size, job->cpu_words * sizeof(uint64_t), sizeof(uint64_t));
    return whole ? NULL : "the processors of its ranks lie outside";
}

static const char *job_segment_check_hosts(const struct pl_job_segment *job, size_t bytes)
{
    if (job->hosts <= 1 && !job->host_of && job->host == 0)
        return NULL;
    if (job->hosts <= 1 || job->host >= job->hosts || !job->host_of ||
        !job_segment_inside(bytes, job->host_of, job->size, sizeof(uint32_t), _Alignof(uint32_t)))
        return "the hosts of its ranks lie outside";
    return NULL;
}

static const char *job_segment_check_records(const struct pl_job_segment *job)
{
    bool whole = !job->records || job_segment_inside(job->tenant_bytes, job->records, job->size, PL_RECORD_BYTES, 64);
    return whole ? NULL : "the record pages of its ranks lie outside";
}

static const char *job_segment_other_version(uint32_t version)
{
    static _Thread_local char words[160];
    snprintf(words, sizeof words,
             "it was made by another version of Plenum: it is of version %u, and this library (%s) needs version %u",
             (unsigned)version, PL_VERSION, PL_JOB_VERSION);
    return words;
}

const char *pl_job_segment_check(const struct pl_job_segment *job, size_t bytes, uint64_t cookie, long rank)
{
    if (bytes < sizeof *job)
        return "it is shorter than its header";
    if (job->magic != PL_JOB_MAGIC)
        return "it is not a job segment";
    if (job->version != PL_JOB_VERSION)
        return job_segment_other_version(job->version);
    if (job->cookie != cookie)
        return "it belongs to another job";
    if (job->bytes != bytes)
        return "its length is not the one that it states";
    if (job->size == 0 || job->size > RANKS_MAX)
        return "its number of ranks is impossible";
    if (job->tenants == 0 || job->tenants > PL_JOB_TENANTS || job->tenant_bytes % 64 ||
        job->tenant_bytes > job->shared_bytes / job->tenants)
        return "its shared part is too short for its tenants";
    if (!job_segment_inside(job->tenant_bytes, sizeof(struct pl_job_shared), job->size, sizeof(struct pl_job_rank), 64))
        return "it is too short for its ranks";
    if (rank < 0 || (unsigned long)rank >= job->size)
        return "the rank is not in the job";
    if (!job->nspace[0] || !memchr(job->nspace, '\0', sizeof job->nspace))
        return "the job's name is empty or does not end";
    if (!job_segment_is_text(job, bytes, job->parent))
        return "the port of its parents does not end";
    const char *wrong = job_segment_check_psets(job, bytes);
    if (!wrong)
        wrong = job_segment_check_apps(job, bytes);
    if (!wrong)
        wrong = job_segment_check_cpus(job, bytes);
    if (!wrong && job->told &&
        !job_segment_inside(bytes, job->told, job->size, sizeof(struct pl_job_told), _Alignof(struct pl_job_told)))
        wrong = "what the runtime tells of the ranks lies outside";
    if (!wrong)
        wrong = job_segment_check_hosts(job, bytes);
    if (!wrong)
        wrong = job_segment_check_table(job);
    return wrong ? wrong : job_segment_check_records(job);
}

int pl_job_enter_tenant(struct pl_job_shared *first, uint32_t limit, uint64_t key)
{
    uint32_t places = limit < PL_JOB_TENANTS ? limit : PL_JOB_TENANTS;
    for (;;) {
        uint32_t vacant = 0;
        uint64_t there = 0;
        for (uint32_t t = places - 1; t > 0; t--) {
            there = atomic_load(&first->tenant[t]);
            if (there == key)
                return (int)t;
            vacant = there == 0 ? t : vacant;
        }
        there = 0;
        if (!vacant)
            return -1;
        if (atomic_compare_exchange_strong(&first->tenant[vacant], &there, key) || there == key)
            return (int)vacant;
    }
}
