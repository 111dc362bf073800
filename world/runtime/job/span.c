/* SPDX-License-Identifier: BSD-3-Clause */
/* See span.h: the launch, and what the agents are told to do. span_follow.c has what they tell. */
#include "world/runtime/job/span.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "world/runtime/job/compose.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/span_input.h"
#include "world/runtime/job/span_pack.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/job/span_place.h"
#include "world/runtime/job/span_sets.h"
#include "world/runtime/runtime_error.h"

static int span_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the hosts of the job");
}

/* --- the launch -------------------------------------------------------------------------------------------------- */

static int span_check(const struct plenum_job *job)
{
    if (job->desc.option[PLENUM_JOB_PMIX] == PLENUM_PMIX_ON)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "a runtime with hosts has no PMIx server for its jobs; a runtime without hosts has one");
    for (int i = 0; i < job->desc.redirect_count; i++) {
        const struct pl_redirect *redirect = &job->desc.redirects[i];
        if (redirect->file || redirect->null)
            continue;
        if (redirect->number != 0)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a descriptor of this process cannot be the output of a process of "
                                                   "another host: name a file, or take the output as events");
        if (redirect->rank == PLENUM_ALL)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "a descriptor of this process cannot be the standard input of all "
                                                   "processes on several hosts: choose a rank, or name a file");
    }
    return PLENUM_OK;
}

int pl_span_prepare(struct plenum_job *job)
{
    int err = span_check(job);
    if (err)
        return err;
    struct pl_span *span = pl_calloc(1, sizeof *span);
    struct pl_span_parts *parts = pl_calloc(1, sizeof *parts);
    if (!span || !parts) {
        free(span);
        free(parts);
        return span_no_memory();
    }
    pl_list_init(&parts->early);
    pl_list_init(&parts->aborts);
    pl_list_init(&parts->set_changes);
    pl_span_inputs_init(&parts->inputs, job);
    span->here = -1;
    span->id = job->launch.keeper_id;
    span->parts = parts;
    job->launch.span = span;
    return pl_compose_environment(job, &parts->env);
}

static void span_free_parts(struct pl_span_parts *parts, int hosts)
{
    PL_LIST_EACH(early, &parts->early, struct pl_span_early, node)
        free(early);
    pl_span_sets_free(parts);
    pl_span_inputs_fini(&parts->inputs);
    pl_vars_fini(&parts->env);
    for (int h = 0; parts->part && h < hosts; h++)
        free(parts->part[h].answer);
    free(parts->part);
    free(parts->rank);
    free(parts);
}

void pl_span_close(struct plenum_job *job)
{
    struct pl_span *span = job->launch.span;
    if (!span)
        return;
    if (span->parts)
        span_free_parts(span->parts, span->hosts);
    job->launch.span = NULL;
    pl_span_free(span);
}

static int span_make_ranks(struct plenum_job *job)
{
    job->ranks = pl_calloc((size_t)job->desc.size, sizeof *job->ranks);
    job->launch.span->parts->rank = pl_calloc((size_t)job->desc.size, sizeof(struct pl_span_rank));
    if (!job->ranks || !job->launch.span->parts->rank)
        return span_no_memory();
    for (int r = 0; r < job->desc.size; r++)
        for (int s = 0; s < 2; s++) {
            job->ranks[r].out[s].fd = -1;
            pl_list_init(&job->ranks[r].out[s].resting);
        }
    return PLENUM_OK;
}

static int span_write_parts(struct plenum_job *job, struct pl_writer *part)
{
    struct pl_span *span = job->launch.span;
    int err = PLENUM_OK;
    for (int h = 0; !err && h < span->hosts; h++) {
        part[h] = pl_writer_growing(NULL, 0);
        err = pl_span_write(&part[h], job, h, &span->parts->env);
        if (!err && part[h].failed)
            err = span_no_memory();
    }
    return err;
}

static void span_send_parts(struct plenum_job *job, const struct pl_writer *part)
{
    struct pl_span *span = job->launch.span;
    span->parts->running = span->hosts;
    for (int h = 0; h < span->hosts; h++) {
        struct pl_host *host = span->parts->part[h].host;
        pl_host_count(host, span->parts->part[h].ranks);
        pl_host_resources_take(job, host, span->parts->part[h].ranks);
        pl_write_raw(pl_wire_begin(&host->wire, PL_FRAME_JOB, span->id), part[h].data, part[h].length);
        pl_wire_end(&host->wire);
    }
    if (pl_job_root(job)->handle.holds_output)
        pl_span_hold(job, true);
    for (int h = 0; h < span->hosts; h++)
        pl_host_flush(span->parts->part[h].host);
    pl_span_inputs_flow(&span->parts->inputs);
}

/* What a failed start has made. */
static void span_undo(struct plenum_job *job)
{
    struct pl_span *span = job->launch.span;
    free(job->ranks);
    free(span->host_of);
    free(span->parts->part);
    free(span->parts->rank);
    pl_span_inputs_fini(&span->parts->inputs);
    job->ranks = NULL;
    span->host_of = NULL;
    span->parts->part = NULL;
    span->parts->rank = NULL;
    span->hosts = 0;
}

int pl_span_start(struct plenum_job *job)
{
    struct pl_writer *part = NULL;
    int err = pl_span_place(job), hosts = job->launch.span->hosts;
    if (!err)
        err = span_make_ranks(job);
    if (!err && !(part = pl_calloc((size_t)hosts, sizeof *part)))
        err = span_no_memory();
    if (!err)
        err = span_write_parts(job, part);
    if (!err)
        err = pl_span_inputs_start(&job->launch.span->parts->inputs);
    if (!err)
        span_send_parts(job, part);
    for (int h = 0; part && h < hosts; h++)
        pl_writer_fini(&part[h]);
    free(part);
    if (err)
        span_undo(job);
    return err;
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

int pl_span_signal(struct plenum_job *job, int rank, int signo)
{
    struct pl_span *span = job->launch.span;
    for (int h = 0; h < span->hosts; h++) {
        struct pl_host *host = pl_span_host_of(job, h);
        if (!host || (rank >= 0 && span->host_of[rank] != (uint32_t)h))
            continue;
        struct pl_writer *to = pl_wire_begin(&host->wire, PL_FRAME_SIGNAL, span->id);
        pl_write_i32(to, rank);
        pl_write_i32(to, signo);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
    return PLENUM_OK;
}

/* A frame with one byte, or with none, to all hosts. */
static void span_send_all(struct plenum_job *job, enum pl_frame_kind kind, const uint8_t *byte)
{
    for (int h = 0; h < job->launch.span->hosts; h++) {
        struct pl_host *host = pl_span_host_of(job, h);
        if (!host)
            continue;
        pl_write_raw(pl_wire_begin(&host->wire, kind, job->launch.span->id), byte, byte ? 1 : 0);
        pl_wire_end(&host->wire);
        pl_host_flush(host);
    }
}

void pl_span_forgo(struct plenum_job *job)
{
    span_send_all(job, PL_FRAME_FORGO, NULL);
}

void pl_span_hold(struct plenum_job *job, bool hold)
{
    span_send_all(job, PL_FRAME_HOLD, &(uint8_t){ hold });
}

void pl_span_send_input(struct plenum_job *job, int rank, const void *data, size_t bytes)
{
    struct pl_span *span = job->launch.span;
    struct pl_host *host = pl_span_host_of(job, (int)span->host_of[rank]);
    if (!host)
        return;
    struct pl_writer *to = pl_wire_begin(&host->wire, PL_FRAME_INPUT, span->id);
    pl_write_u32(to, (uint32_t)rank);
    pl_write_blob(to, data, bytes);
    pl_wire_end(&host->wire);
    pl_host_flush(host);
}
