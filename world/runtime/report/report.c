/* SPDX-License-Identifier: BSD-3-Clause */
/* See report.h: asks the processes, waits a moment for the answers, and queues the report as an event. */
#include "world/runtime/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory_libc.h"
#include "world/runtime/event/event.h"
#include "world/runtime/report/find.h"
#include "world/runtime/report/read.h"
#include "world/runtime/report/report_json.h"
#include "world/runtime/report/text.h"

enum {
    CHECK_MS = 30,  /* between checks; the longest sleep of a thread that waits in MPI is 13 ms */
    ANSWER_MS = 400 /* a process that has not answered by then is not waiting in MPI */
};

/* --- events ------------------------------------------------------------------------------------------------ */

/* Steals `text` and `json`. */
static void report_queue(struct plenum_job *job, int rank, int signo, char *text, char *json)
{
    size_t length = text ? strlen(text) : 0, more = json ? strlen(json) + 1 : 0;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    struct pl_event *event = length > 0 ? pl_event_new(job, PLENUM_EVENT_REPORT, rank, length + 1 + more) : NULL;
    if (event) {
        char *to = (char *)event->public.text;
        memcpy(to, text, length);
        to[length] = '\0';
        if (more)
            memcpy(to + length + 1, json, more);
        event->public.length = length;
        event->public.report = more ? to + length + 1 : NULL;
        event->public.signal = signo;
        event->public.pid = rank >= 0 ? job->ranks[rank].pid : 0;
    }
    pl_event_queue(job->runtime, event);
    free(text);
    free(json);
}

void pl_report_make(struct plenum_job *root, struct pl_report *report, int count)
{
    char *text = NULL, *json = NULL;
    bool good = count > 0;
    for (int i = 0; good && i < count; i++)
        good = pl_report_arrange(&report[i]);
    FILE *out = good ? pl_text_open(&text) : NULL;
    for (int i = 0; out && i < count; i++) {
        report[i].job = count > 1 ? report[i].job : NULL;
        pl_report_find(&report[i]);
        pl_report_write(&report[i], out);
    }
    if (out) {
        fclose(out);
        json = pl_report_json(report, count);
    }
    report_queue(root, PLENUM_ALL, 0, text, json);
}

/* --- asking ------------------------------------------------------------------------------------------------ */

static bool report_tenant_answered(const struct plenum_job *job, uint32_t tenant)
{
    struct pl_job_shared *part = pl_job_part(job->segment, job->shared, tenant);
    uint32_t question = atomic_load(&job->segment->report);
    for (int r = 0; r < job->desc.size; r++) {
        const struct pl_job_record *page = pl_job_record(job->segment, part, r);
        bool open = pl_job_is_here(job, r) && !job->ranks[r].ended && atomic_load(&part->ranks[r].owner) > 0;
        if (open && atomic_load_explicit(&page->answered, memory_order_acquire) != question)
            return false;
    }
    return true;
}

/* Has every process answered that has MPI initialized, in each tenant? */
static bool report_all_answered(const struct plenum_job *job)
{
    bool all = true;
    for (uint32_t t = 0; all && t < job->segment->tenants; t++)
        all = !pl_job_has_tenant(job->shared, t) || report_tenant_answered(job, t);
    return all;
}

bool pl_report_used_mpi(const struct plenum_job *job)
{
    for (int r = 0; r < job->desc.size; r++)
        if (atomic_load(&job->shared->ranks[r].process) > 0)
            return true;
    return false;
}

void pl_report_ask(struct plenum_job *job)
{
    struct pl_job_segment *segment = (struct pl_job_segment *)job->segment;
    if (job->reporting.check_at)
        return;
    if (atomic_fetch_add(&segment->report, 1) == UINT32_MAX)
        atomic_store(&segment->report, 1); /* 0: no question */
    job->reporting.check_at = pl_clock_ms() + CHECK_MS;
    job->reporting.until = job->reporting.check_at + ANSWER_MS;
    job->reporting.all_answered = false;
    pl_runtime_set_timer(job->runtime);
}

/* Checks once more when all have answered: a process may have several threads that wait. */
bool pl_report_is_complete(struct plenum_job *job, int64_t now)
{
    bool all = report_all_answered(job);
    if (now >= job->reporting.until || (all && job->reporting.all_answered))
        return true;
    job->reporting.all_answered = all;
    job->reporting.check_at = now + CHECK_MS;
    return false;
}

/* --- crashes ----------------------------------------------------------------------------------------------- */

/* The page with a crash record, of any tenant; NULL: there is none. */
static const struct pl_job_record *report_crash_page(const struct plenum_job *job, int rank, int signo)
{
    for (uint32_t t = 0; t < job->segment->tenants; t++) {
        const struct pl_job_record *page =
            pl_job_has_tenant(job->shared, t)
                ? pl_job_record(job->segment, pl_job_part(job->segment, job->shared, t), rank)
                : NULL;
        if (page && atomic_load_explicit(&page->crashed, memory_order_acquire) == (uint32_t)signo)
            return page;
    }
    return NULL;
}

void pl_report_crash(struct plenum_job *job, int rank, int signo)
{
    const struct pl_job_record *page = report_crash_page(job, rank, signo);
    if (!page)
        return;
    struct pl_job_record *copy = pl_report_copy_page(page, job->desc.size);
    char *text = NULL, *json = NULL;
    FILE *out = copy ? pl_text_open(&text) : NULL;
    if (out) {
        pl_report_write_crash(&job->symbols, copy, job->tree.first_rank + rank, out);
        fclose(out);
        json = pl_report_json_crash(&job->symbols, copy, job->tree.first_rank + rank);
    }
    free(copy);
    pl_symbols_rest(&job->symbols);
    report_queue(job, rank, signo, text, json);
}
