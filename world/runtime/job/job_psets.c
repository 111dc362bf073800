/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_psets.h: the runtime's part in the table of core/job/sets.h. */
#include "world/runtime/job/job_psets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/base/pset_name.h"
#include "core/job/sets.h"
#include "world/runtime/event/event.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/span_sets.h"
#include "world/runtime/runtime_error.h"

/* --- events ------------------------------------------------------------------------------------------------ */

static void job_psets_write(FILE *out, const struct pl_job_set *set)
{
    fprintf(out, "%s %llu ", set->name, (unsigned long long)set->version);
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t *range = set->ranges + 2 * i;
        fprintf(out, range[0] == range[1] ? "%s%u" : "%s%u-%u", i ? "," : "", (unsigned)range[0], (unsigned)range[1]);
    }
    fputc('\n', out);
}

/* One line for each set; NULL: out of memory. */
static char *job_psets_describe(const struct pl_job_sets *sets)
{
    char *text = NULL;
    FILE *out = pl_text_open(&text);
    if (!out)
        return NULL;
    for (int i = 0; i < sets->count; i++)
        job_psets_write(out, &sets->set[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Its memory is NULL: the job has none. An agent only has a copy. */
static struct pl_job_table job_psets_table(const struct plenum_job *job)
{
    if (pl_job_is_spread(job))
        return pl_span_sets_table(job);
    if (job->segment && !pl_job_is_part(job))
        return pl_job_table_of(job->segment, job->shared);
    return (struct pl_job_table){ .memory = NULL };
}

void pl_job_psets_check(struct plenum_job *job)
{
    struct pl_job_sets sets;
    struct pl_job_table table = job_psets_table(job);
    if (!table.memory)
        return;
    if (pl_job_sets_version(&table) == job->psets_version || pl_job_sets_open(&table, &sets))
        return;
    char *text = job_psets_describe(&sets);
    struct pl_event *event = text ? pl_event_new(job, PLENUM_EVENT_PSETS, PLENUM_ALL, strlen(text)) : NULL;
    if (event) {
        memcpy((char *)(event + 1), text, strlen(text));
        event->public.code = sets.count;
        job->psets_version = sets.version;
    }
    pl_event_queue(job->runtime, event);
    free(text);
    pl_job_sets_close(&sets);
}

/* --- changes ----------------------------------------------------------------------------------------------- */

/* How messages show a name, which may be longer than they are. */
enum { SHOWN = 80 };

static int job_psets_check_ranges(const struct plenum_job *job, const char *name, const int (*ranges)[2], int count)
{
    char shown[SHOWN];
    pl_pset_name_show(name, shown, sizeof shown);
    if (count < 0 || (count > 0 && !ranges))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": %d ranges of ranks are not possible", shown, count);
    for (int i = 0; i < count; i++)
        if (ranges[i][0] < 0 || ranges[i][0] > ranges[i][1] || ranges[i][1] >= job->desc.size)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": %d-%d are not ranks of a job of size %d", shown,
                              ranges[i][0], ranges[i][1], job->desc.size);
    return PLENUM_OK;
}

int pl_pset_name_refuse(const char *name)
{
    static const char *const reserved[] = { "mpi", "plenum", "hwloc" };
    char shown[SHOWN];
    const char *wrong = name ? pl_pset_name_check(name) : "is missing";
    if (wrong)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "\"%s\" is not a valid name of a process set: it %s",
                          pl_pset_name_show(name ? name : "", shown, sizeof shown), wrong);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (pl_pset_name_has_scheme(name, reserved[i]))
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process sets %s://... are reserved for Plenum", reserved[i]);
    return PLENUM_OK;
}

static int job_psets_check_name(const struct plenum_job *job, const char *name)
{
    char shown[SHOWN];
    int err = pl_pset_name_refuse(name);
    for (int i = 0; !err && i < job->desc.pset_count; i++)
        if (pl_pset_name_same(job->desc.psets[i].name, name))
            return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                              "process set \"%s\" is part of the job's description and cannot be changed",
                              pl_pset_name_show(job->desc.psets[i].name, shown, sizeof shown));
    return err;
}

/* NULL, or what went wrong. The agents of hosts are told of a change. */
static const char *job_psets_change(struct plenum_job *job, const char *name, const uint32_t *ranges, uint32_t count,
                                    uint64_t *version)
{
    bool spread = pl_job_is_spread(job);
    struct pl_job_table table = spread ? pl_span_sets_need_table(job) : job_psets_table(job);
    if (!table.memory || (spread && !pl_span_sets_reserve(job)))
        return "out of memory for the job's table of process sets";
    uint64_t before = pl_job_sets_version(&table);
    const char *wrong = pl_job_sets_change(&table, name, ranges, count, version);
    if (!wrong && spread && *version != before)
        pl_span_sets_send(job);
    pl_memory_free_reserve();
    pl_job_psets_check(job);
    return wrong;
}

const char *pl_job_psets_change(struct plenum_job *job, const char *name, const uint32_t *ranges, uint32_t count,
                                uint64_t *version)
{
    if (job_psets_check_name(job, name))
        return plenum_error();
    for (uint32_t i = 0; i < count; i++)
        if (ranges[2 * i] > ranges[2 * i + 1] || ranges[2 * i + 1] >= (uint32_t)job->desc.size)
            return "its members are not ranks of the job";
    return job_psets_change(job, name, ranges, count, version);
}

/* Ranges in the table's form, at most one for each rank, where a repeated rank is taken once. NULL: out of memory. */
static uint32_t *job_psets_table_ranges(int size, const int (*ranges)[2], int count, uint32_t *used)
{
    uint32_t *table = pl_malloc(((size_t)size + 1) * 2 * sizeof *table);
    char *seen = pl_calloc((size_t)size + 1, 1);
    *used = 0;
    for (int i = 0; table && seen && i < count; i++)
        for (int r = ranges[i][0]; r <= ranges[i][1]; r++) {
            uint32_t *last = *used ? table + 2 * (*used - 1) : NULL;
            if (seen[r])
                continue;
            seen[r] = 1;
            if (last && last[1] + 1 == (uint32_t)r)
                last[1]++;
            else
                table[2 * *used] = table[2 * *used + 1] = (uint32_t)r, ++*used;
        }
    if (!seen) {
        free(table);
        table = NULL;
    }
    free(seen);
    return table;
}

static int job_psets_publish(struct plenum_job *job, const char *name, const int (*ranges)[2], int count,
                             const char **wrong)
{
    uint64_t version;
    uint32_t used, *table = job_psets_table_ranges(job->desc.size, ranges, count, &used);
    if (!table)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a process set");
    *wrong = job_psets_change(job, name, table, used, &version);
    free(table);
    return PLENUM_OK;
}

static int job_psets_change_checked(struct plenum_job *job, const char *name, bool publish, const int (*ranges)[2],
                                    int count)
{
    char shown[SHOWN];
    uint64_t version;
    const char *wrong = NULL;
    int err = pl_job_enter(job);
    if (err)
        return err;
    err = job_psets_check_name(job, name);
    if (!err && !(pl_job_alive(job) && (job->segment || pl_job_is_spread(job))))
        err = pl_rt_fail(PLENUM_ERR_STATE, "process set \"%s\": the job is not running",
                         pl_pset_name_show(name, shown, sizeof shown));
    if (!err)
        err = job_psets_check_ranges(job, name, ranges, count);
    if (!err && publish)
        err = job_psets_publish(job, name, ranges, count, &wrong);
    else if (!err)
        wrong = job_psets_change(job, name, NULL, 0, &version);
    if (wrong)
        err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": %s", pl_pset_name_show(name, shown, sizeof shown),
                         wrong);
    return pl_job_leave(job, err);
}

int plenum_job_pset_publish(struct plenum_job *job, const char *name, const int (*ranges)[2], int count)
{
    return job_psets_change_checked(job, name, true, ranges, count);
}

int plenum_job_pset_withdraw(struct plenum_job *job, const char *name)
{
    return job_psets_change_checked(job, name, false, NULL, 0);
}
