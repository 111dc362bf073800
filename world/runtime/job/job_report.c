/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_report.h. */
#include "world/runtime/job/job_report.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/report/read.h"
#include "world/runtime/report/report.h"
#include "world/runtime/report/report_pack.h"
#include "world/runtime/runtime_error.h"

enum {
    HOSTS_MS = 10000, /* an agent takes 0.4 s for the processes and at most 5 s for the symbols */
    TREE_MS = 20      /* between checks whether the spawned jobs are complete, too */
};

/* The first byte of an answer. */
enum { NO_MPI, USED_MPI, PART_ENDED };

static bool job_report_is_asking(const struct plenum_job *job)
{
    return job->reporting.check_at != 0;
}

/* --- the runtime that has the hosts ------------------------------------------------------------------------------ */

static bool job_report_awaits(const struct plenum_job *job)
{
    bool awaits = false;
    for (int h = 0; h < job->launch.span->hosts; h++)
        awaits |= job->launch.span->parts->part[h].asked;
    return awaits;
}

/* Once nothing is awaited any more the report is due. */
static void job_report_advance(struct plenum_job *job)
{
    if (!job_report_is_asking(job) || job_report_awaits(job))
        return;
    job->reporting.check_at = pl_clock_ms();
    pl_runtime_set_timer(job->runtime);
}

static void job_report_forget_answers(struct plenum_job *job)
{
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_span_part *part = &job->launch.span->parts->part[h];
        free(part->answer);
        part->answer = NULL;
        part->asked = false;
    }
}

/* A host whose agent does not run yet cannot answer. */
static void job_report_ask_hosts(struct plenum_job *job)
{
    if (job_report_is_asking(job))
        return;
    job->reporting.number++;
    job->reporting.check_at = pl_clock_ms() + HOSTS_MS;
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_host *host = pl_span_host_of(job, h);
        if (!host || host->state != PLENUM_HOST_READY)
            continue;
        job->launch.span->parts->part[h].asked = true;
        pl_write_u32(pl_wire_begin(&host->wire, PL_FRAME_REPORT, job->launch.span->id), job->reporting.number);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
    pl_runtime_set_timer(job->runtime);
    job_report_advance(job);
}

void pl_job_report_answer(struct plenum_job *job, int number, const struct pl_frame *frame)
{
    struct pl_span_part *part = &job->launch.span->parts->part[number];
    struct pl_reader body = frame->body;
    bool right = pl_read_u32(&body) == job->reporting.number && part->asked;
    size_t length = pl_reader_left(&body);
    if (!right || !job_report_is_asking(job))
        return;
    part->asked = false;
    part->answer = length <= PL_REPORT_PACKED_MAX + 16 ? pl_malloc(length + 1) : NULL;
    part->answer_bytes = length;
    if (part->answer)
        memcpy(part->answer, body.at, length);
    job_report_advance(job);
}

void pl_job_report_part_ended(struct plenum_job *job, int part)
{
    job->launch.span->parts->part[part].asked = false;
    job_report_advance(job);
}

/* Without an answer it may have used MPI. */
static bool job_report_unpack_part(const struct plenum_job *job, int number, struct pl_report *report)
{
    const struct pl_span_part *part = &job->launch.span->parts->part[number];
    const uint32_t *host_of = job->launch.span->host_of;
    struct pl_reader answer = pl_reader(part->answer, part->answer ? part->answer_bytes : 0);
    int use = pl_read_u8(&answer);
    if (answer.failed)
        return part->host != NULL;
    for (int r = 0; use == PART_ENDED && r < report->size; r++)
        if (host_of[r] == (uint32_t)number)
            report->rank[r].life = PL_LIFE_ENDED;
    if (use != PART_ENDED)
        pl_report_unpack(&answer, host_of, (uint32_t)number, report);
    return use == USED_MPI;
}

/* Has a process used MPI, as far as is known? */
static bool job_report_unpack(const struct plenum_job *job, struct pl_report *report)
{
    const struct pl_span *span = job->launch.span;
    bool used = false;
    for (int r = 0; r < report->size; r++) {
        const struct pl_host *host = pl_span_host_of(job, (int)span->host_of[r]);
        report->rank[r].host = host ? host->name : NULL;
        report->rank[r].symbols = &report->symbols[span->host_of[r]];
        if (job->ranks[r].ended || !host)
            report->rank[r].life = PL_LIFE_ENDED;
    }
    for (int h = 0; h < span->hosts; h++)
        used |= job_report_unpack_part(job, h, report);
    return used;
}

/* False: out of memory. */
static bool job_report_read_hosts(struct plenum_job *job, struct pl_report *report, bool *used)
{
    bool good = pl_report_begin(job, job->launch.span->hosts, report);
    *used |= good && job_report_unpack(job, report);
    job_report_forget_answers(job);
    return good;
}

/* --- an agent ---------------------------------------------------------------------------------------------------- */

void pl_job_report_of_ended(struct pl_wire *runtime, uint32_t part, uint32_t number)
{
    struct pl_writer *to = pl_wire_begin(runtime, PL_FRAME_REPORT, part);
    pl_write_u32(to, number);
    pl_write_u8(to, PART_ENDED);
    pl_wire_end(runtime);
}

void pl_job_report_question(struct plenum_job *part, uint32_t number)
{
    if (!part->segment) {
        pl_job_report_of_ended(part->runtime->agent, part->launch.span->id, number);
        return;
    }
    pl_report_ask(part);
    part->reporting.number = number;
    if (pl_report_used_mpi(part))
        return;
    part->reporting.check_at = part->reporting.until = pl_clock_ms();
    pl_runtime_set_timer(part->runtime);
}

static void job_report_send(struct plenum_job *part)
{
    struct pl_report report;
    bool good = pl_report_read(part, &report);
    struct pl_writer *to = pl_wire_begin(part->runtime->agent, PL_FRAME_REPORT, part->launch.span->id);
    pl_write_u32(to, part->reporting.number);
    if (good) {
        pl_write_u8(to, pl_report_used_mpi(part) ? USED_MPI : NO_MPI);
        pl_report_pack(to, part, &report);
    }
    pl_wire_end(part->runtime->agent);
    pl_report_fini(&report);
}

/* --- the jobs of a spawn tree ------------------------------------------------------------------------------------ */

/* Is it a spawned job whose start its parents know of? */
static bool job_report_is_below(struct plenum_job *job, const struct plenum_job *root)
{
    return job->tree.root == root && !pl_job_is_starting(job);
}

static void job_report_ask_one(struct plenum_job *job)
{
    job->reporting.complete = false;
    if (pl_job_is_spread(job))
        job_report_ask_hosts(job);
    else
        pl_report_ask(job);
}

/* A job that is spawned meanwhile has no part in the report. */
static void job_report_ask(struct plenum_job *root)
{
    if (job_report_is_asking(root))
        return;
    job_report_ask_one(root);
    PL_LIST_EACH(job, &root->runtime->alive, struct plenum_job, alive)
        if (job_report_is_below(job, root))
            job_report_ask_one(job);
}

/* Do others of its tree still ask? Counts those that are complete. */
static bool job_report_tree_asks(struct plenum_job *root, int *complete)
{
    bool asks = false;
    *complete = 0;
    PL_LIST_EACH(job, &root->runtime->alive, struct plenum_job, alive) {
        asks |= job->tree.root == root && job_report_is_asking(job);
        *complete += job->tree.root == root && job->reporting.complete;
    }
    return asks;
}

static bool job_report_read(struct plenum_job *job, struct pl_report *report, bool *used)
{
    job->reporting.complete = false;
    if (pl_job_is_spread(job))
        return job_report_read_hosts(job, report, used);
    *used = true;
    return pl_report_read(job, report);
}

/* At the end of a job that has not used MPI there is nothing to say. */
static void job_report_make(struct plenum_job *root, int spawned, bool ends)
{
    struct pl_report *report = pl_calloc((size_t)spawned + 1, sizeof *report);
    bool used = false, good = report && job_report_read(root, &report[0], &used);
    int count = 1;
    PL_LIST_EACH(job, &root->runtime->alive, struct plenum_job, alive)
        if (report && job->tree.root == root && job->reporting.complete)
            good = job_report_read(job, &report[count++], &used) && good;
    if (used || !ends)
        pl_report_make(root, report, good ? count : 0);
    for (int i = 0; report && i < count; i++)
        pl_report_fini(&report[i]);
    free(report);
}

/* --- all --------------------------------------------------------------------------------------------------------- */

bool pl_job_report_before_end(struct plenum_job *job)
{
    bool can = pl_job_is_spread(job) || (job->segment && pl_report_used_mpi(job));
    if (!can || !job->desc.option[PLENUM_JOB_REPORT])
        return false;
    job_report_ask(job);
    job->reporting.ends_job = true;
    return true;
}

bool pl_job_report_deadline(struct plenum_job *job, int64_t now)
{
    int spawned;
    bool ends = job->reporting.ends_job;
    if (!pl_job_is_spread(job) && !pl_report_is_complete(job, now))
        return false;
    if (!job->tree.root && job_report_tree_asks(job, &spawned)) {
        job->reporting.check_at = now + TREE_MS;
        return false;
    }
    job->reporting.check_at = 0;
    job->reporting.ends_job = false;
    job->reporting.complete = job->tree.root != NULL;
    if (pl_job_is_part(job))
        job_report_send(job);
    else if (!job->tree.root)
        job_report_make(job, spawned, ends);
    return ends;
}

int plenum_job_report(struct plenum_job *job)
{
    int err = pl_job_enter(job);
    if (err)
        return err;
    if (!pl_job_alive(job))
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job is not running");
    else
        job_report_ask(job);
    return pl_job_leave(job, err);
}
