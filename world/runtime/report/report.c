/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: asking the processes, waiting a moment for those that can answer, and handing the result out as an event. */
#include <stdlib.h>
#include <string.h>

#include "world/runtime/error.h"
#include "world/runtime/report/report.h"
#include "world/runtime/runtime.h"

enum {
    TICK_MS = 30,  /* between looks; the longest sleep of a thread that waits in MPI is 13 ms */
    MOST_MS = 400, /* who has not answered by then is not waiting in MPI */
};

/* --- events ------------------------------------------------------------------------------------------------ */

/* `text` and `json` are freed. */
static void queue_report(struct plenum_job *job, int rank, int signo, char *text, char *json)
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

static void make_report(struct plenum_job *job)
{
    struct pl_report report;
    char *text = NULL, *json = NULL;
    size_t size;
    FILE *out = pl_report_read(job, &report) ? open_memstream(&text, &size) : NULL;
    if (out) {
        pl_report_find(&report);
        pl_report_write(&report, out);
        fclose(out);
        json = pl_report_json(&report);
    }
    pl_report_fini(&report);
    queue_report(job, PLENUM_ALL, 0, text, json);
}

/* --- asking ------------------------------------------------------------------------------------------------ */

/* Has everybody answered who has MPI open? */
static bool all_answered(const struct plenum_job *job)
{
    uint32_t question = atomic_load(&job->segment->report);
    for (int r = 0; r < job->size; r++) {
        const struct pl_job_record *page = pl_job_record(job->segment, r);
        bool open = !job->ranks[r].ended && atomic_load(&job->segment->ranks[r].owner) > 0;
        if (open && atomic_load_explicit(&page->answered, memory_order_acquire) != question)
            return false;
    }
    return true;
}

static bool any_used_mpi(const struct plenum_job *job)
{
    for (int r = 0; r < job->size; r++)
        if (atomic_load(&job->segment->ranks[r].claims) > 0)
            return true;
    return false;
}

static void report_ask(struct plenum_job *job)
{
    struct pl_job_segment *segment = (struct pl_job_segment *)job->segment;
    if (job->report_at)
        return;
    if (atomic_fetch_add(&segment->report, 1) == UINT32_MAX)
        atomic_store(&segment->report, 1); /* 0 is no question */
    job->report_at = pl_runtime_now() + TICK_MS;
    job->report_until = job->report_at + MOST_MS;
    job->report_all = false;
    pl_runtime_set_timer(job->runtime);
}

bool pl_report_before_end(struct plenum_job *job)
{
    if (!any_used_mpi(job))
        return false;
    report_ask(job);
    job->report_ends = true;
    return true;
}

/* One more look when all have answered: a process may have several threads that wait. */
void pl_report_deadline(struct plenum_job *job, int64_t now)
{
    bool all = all_answered(job);
    if (now < job->report_until && !(all && job->report_all)) {
        job->report_all = all;
        job->report_at = now + TICK_MS;
        return;
    }
    bool ends = job->report_ends;
    job->report_at = 0;
    job->report_ends = false;
    make_report(job);
    if (ends)
        pl_job_end(job);
}

int plenum_job_report(struct plenum_job *job)
{
    if (!job)
        return pl_rt_fail_null("job");
    int err = PLENUM_OK;
    pthread_mutex_lock(&job->runtime->lock);
    if (!pl_job_alive(job))
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job does not run");
    else
        report_ask(job);
    pthread_mutex_unlock(&job->runtime->lock);
    return err;
}

/* --- crashes ----------------------------------------------------------------------------------------------- */

void pl_report_crash(struct plenum_job *job, int rank, int signo)
{
    const struct pl_job_record *page = pl_job_record(job->segment, rank);
    if (!page || atomic_load_explicit(&page->crashed, memory_order_acquire) != (uint32_t)signo)
        return;
    struct pl_symbols symbols = { 0 };
    struct pl_job_record *copy = pl_report_copy_page(page, job->size);
    char *text = NULL, *json = NULL;
    size_t size;
    FILE *out = copy ? open_memstream(&text, &size) : NULL;
    if (out) {
        pl_report_write_crash(&symbols, copy, rank, out);
        fclose(out);
        json = pl_report_json_crash(&symbols, copy, rank);
    }
    free(copy);
    pl_symbols_fini(&symbols);
    queue_report(job, rank, signo, text, json);
}
