/* SPDX-License-Identifier: BSD-3-Clause */
/* See span_sets.h. */
#include "world/runtime/job/span_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/base/pset_name.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/job_psets.h"
#include "world/runtime/job/segment_make.h"
#include "world/runtime/job/span_parts.h"

enum { SETS_MAX = 1 << 16, SETS_RANGES_MAX = 1 << 20, SETS_NAME_MAX = 1023 };

/* A rank that waits until all hosts know the table of this version. */
struct sets_waiting {
    struct pl_list node; /* in struct pl_span_parts.set_changes */
    struct pl_asker from;
    uint64_t version;
};

/* --- the table --------------------------------------------------------------------------------------------------- */

struct pl_job_table pl_span_sets_table(const struct plenum_job *job)
{
    struct pl_job_table_memory *memory = job->launch.span->parts->sets;
    return (struct pl_job_table){ memory, pl_job_segment_table_capacity(job), (uint32_t)job->desc.size };
}

struct pl_job_table pl_span_sets_need_table(struct plenum_job *job)
{
    struct pl_span_parts *parts = job->launch.span->parts;
    size_t bytes = PL_JOB_TABLE_BYTES(pl_job_segment_table_capacity(job));
    if (!parts->sets && (parts->sets = pl_aligned_alloc(_Alignof(struct pl_job_table_memory), bytes)) != NULL)
        memset((void *)parts->sets, 0, bytes);
    return pl_span_sets_table(job);
}

/* A copy takes a buffer, and for each set a struct of at most twice the bytes that the set has there. */
bool pl_span_sets_reserve(const struct plenum_job *job)
{
    return pl_memory_reserve(4 * (size_t)pl_job_segment_table_capacity(job));
}

void pl_span_sets_free(struct pl_span_parts *parts)
{
    PL_LIST_EACH(waiting, &parts->set_changes, struct sets_waiting, node)
        free(waiting);
    free(parts->sets);
}

static void sets_pack(struct pl_writer *to, const struct pl_job_sets *sets)
{
    pl_write_u64(to, sets->version);
    pl_write_leb128(to, (uint64_t)sets->count);
    for (int i = 0; i < sets->count; i++) {
        const struct pl_job_set *set = &sets->set[i];
        pl_write_text(to, set->name);
        pl_write_u64(to, set->version);
        pl_write_leb128(to, set->count);
        for (size_t r = 0; r < 2 * (size_t)set->count; r++)
            pl_write_u32(to, set->ranges[r]);
    }
}

void pl_span_sets_send(struct plenum_job *job)
{
    struct pl_job_sets sets;
    struct pl_job_table table = pl_span_sets_table(job);
    if (pl_job_sets_open(&table, &sets))
        return; /* another thread has taken what was set aside: the next change tells of this one, too */
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_host *host = pl_span_host_of(job, h);
        if (!host)
            continue;
        sets_pack(pl_wire_begin(&host->wire, PL_FRAME_SETS, job->launch.span->id), &sets);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
    pl_job_sets_close(&sets);
}

/* --- answers to ranks -------------------------------------------------------------------------------------------- */

static bool sets_are_known(const struct plenum_job *job, uint64_t version)
{
    const struct pl_span *span = job->launch.span;
    bool known = true;
    for (int h = 0; h < span->hosts; h++)
        known &= !pl_span_host_of(job, h) || span->parts->part[h].sets_known >= version;
    return known;
}

void pl_span_sets_check_waiting(struct plenum_job *job)
{
    PL_LIST_EACH(waiting, &job->launch.span->parts->set_changes, struct sets_waiting, node) {
        if (!sets_are_known(job, waiting->version))
            continue;
        pl_answers_give(job->runtime, &waiting->from, PL_QUESTION_DONE, NULL);
        pl_list_remove(&waiting->node);
        free(waiting);
    }
}

void pl_span_sets_known(struct plenum_job *job, int part, struct pl_reader *from)
{
    uint64_t version = pl_read_u64(from);
    if (!pl_reader_done(from))
        return;
    job->launch.span->parts->part[part].sets_known = version;
    pl_span_sets_check_waiting(job);
}

/* The ranges of a question, for free(). NULL: it is damaged, or memory is short. */
static uint32_t *sets_read_ranges(struct pl_reader *from, uint32_t *count)
{
    *count = (uint32_t)pl_read_count(from, SETS_RANGES_MAX, 8);
    uint32_t *ranges = pl_calloc((size_t)*count + 1, 2 * sizeof *ranges);
    for (size_t i = 0; ranges && i < 2 * (size_t)*count; i++)
        ranges[i] = pl_read_u32(from);
    if (ranges && !from->failed)
        return ranges;
    free(ranges);
    return NULL;
}

/* NULL, or why not. */
static const char *sets_change(struct plenum_job *job, const struct pl_asked *asked, uint64_t *version)
{
    struct pl_reader from = pl_reader(asked->data, asked->length);
    size_t length;
    uint32_t count = 0, *ranges = NULL;
    const char *text = pl_read_text(&from, SETS_NAME_MAX, &length), *wrong = "the question about a set is damaged";
    char *name = text ? pl_strndup(text, length) : NULL;
    if (asked->kind == PL_QUESTION_SET)
        ranges = sets_read_ranges(&from, &count);
    if (name && (ranges || asked->kind == PL_QUESTION_NO_SET) && pl_reader_done(&from))
        wrong = pl_job_psets_change(job, name, ranges, count, version);
    free(ranges);
    free(name);
    return wrong;
}

void pl_span_sets_answer(struct plenum_job *job, struct pl_asked *asked)
{
    uint64_t version;
    struct sets_waiting *waiting = pl_calloc(1, sizeof *waiting);
    const char *wrong = waiting ? sets_change(job, asked, &version) : "the runtime is short of memory";
    if (wrong) {
        pl_answers_give(job->runtime, &asked->from, PL_QUESTION_REFUSED, wrong);
        free(waiting);
        return;
    }
    waiting->from = asked->from;
    waiting->version = version;
    pl_list_append(&job->launch.span->parts->set_changes, &waiting->node);
    pl_span_sets_check_waiting(job);
}

/* --- in an agent ------------------------------------------------------------------------------------------------- */

/* The sets that were read so far. */
struct sets_read {
    struct pl_job_sets sets;
    uint32_t size; /* ranks in the job */
};

/* Takes the name and the ranges out of the body into memory of its own. */
static bool sets_read_one(struct pl_reader *from, struct sets_read *read)
{
    struct pl_job_set *set = &read->sets.set[read->sets.count];
    size_t length;
    const char *name = pl_read_text(from, SETS_NAME_MAX, &length);
    set->version = pl_read_u64(from);
    set->ranges = sets_read_ranges(from, &set->count);
    set->name = name && set->ranges ? pl_strndup(name, length) : NULL;
    read->sets.count++;
    if (!set->name || pl_pset_name_check(set->name))
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->ranges[2 * i] > set->ranges[2 * i + 1] || set->ranges[2 * i + 1] >= read->size)
            return false;
    return true;
}

static void sets_tell_known(struct plenum_job *job, uint64_t version)
{
    pl_write_u64(pl_wire_begin(job->runtime->agent, PL_FRAME_SETS, job->launch.span->id), version);
    pl_wire_end(job->runtime->agent);
}

/* An agent that is short of memory says the same, so that no rank waits: the next change tells of this one, too. */
void pl_span_sets_write(struct plenum_job *job, struct pl_reader *from)
{
    struct sets_read read = { .size = (uint32_t)job->desc.size };
    read.sets.version = pl_read_u64(from);
    size_t count = pl_read_count(from, SETS_MAX, 10);
    if (from->failed || !pl_job_is_part(job) || !job->runtime->agent)
        return;
    read.sets.set = pl_calloc(count + 1, sizeof *read.sets.set);
    bool whole = read.sets.set != NULL;
    for (size_t i = 0; whole && i < count; i++)
        whole = sets_read_one(from, &read);
    if (whole && pl_reader_done(from) && job->segment && job->segment->table) {
        struct pl_job_table table = pl_job_table_of(job->segment, job->shared);
        pl_job_sets_replace(&table, &read.sets);
    }
    for (int i = 0; read.sets.set && i < read.sets.count; i++) {
        free((char *)(uintptr_t)read.sets.set[i].name);
        free((uint32_t *)(uintptr_t)read.sets.set[i].ranges);
    }
    free(read.sets.set);
    sets_tell_known(job, read.sets.version);
}
