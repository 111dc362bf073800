/* SPDX-License-Identifier: BSD-3-Clause */
/* See job.h. */
#include "world/runtime/job.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "world/runtime/event/event.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/answers.h"
#include "world/runtime/job/job_place.h"
#include "world/runtime/job/pmi_server.h"
#include "world/runtime/job/segment_make.h"
#include "world/runtime/job/span.h"
#include "world/runtime/job/span_parts.h"
#include "world/runtime/job/span_slots.h"
#include "world/runtime/runtime_error.h"

long pl_job_option_default(long option)
{
    return option == PLENUM_JOB_GRACE ? 2000 : option == PLENUM_JOB_REPORT ? 1 : 0;
}

static _Atomic uint64_t last_id;

int plenum_job_create(struct plenum_runtime *rt, struct plenum_job **out)
{
    int err = out ? pl_runtime_enter(rt) : pl_rt_fail_null("job pointer");
    if (err)
        return err;
    struct plenum_job *job = pl_calloc(1, sizeof *job);
    if (!job || !pl_event_prepare_last(job)) {
        free(job);
        return pl_runtime_leave(rt, pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a job"));
    }
    job->runtime = rt;
    job->symbols.link = &rt->keeper.link;
    job->id = atomic_fetch_add(&last_id, 1) + 1;
    job->handle.open = true;
    for (long option = 0; option < PL_JOB_OPTIONS; option++)
        job->desc.option[option] = pl_job_option_default(option);
    pl_list_init(&job->task.node);
    pl_list_init(&job->alive);
    pl_list_append(&rt->jobs, &job->node);
    *out = job;
    return pl_runtime_leave(rt, PLENUM_OK);
}

void pl_program_fini(struct pl_program *program)
{
    for (char **arg = program->argv; arg && *arg; arg++)
        free(*arg);
    free(program->argv);
    free(program->wdir);
    free(program->path);
    free(program->hosts);
    pl_vars_fini(&program->env);
}

static void job_discard_output(void *arg, const char *held, size_t held_length, const char *fresh, size_t length,
                               bool partial)
{
    (void)arg, (void)held, (void)held_length, (void)fresh, (void)length, (void)partial;
}

static void job_close_output(struct plenum_job *job, struct pl_output *output)
{
    if (output->fd >= 0) {
        pl_list_remove(&output->resting);
        pl_runtime_unwatch(job->runtime, output->fd);
        close(output->fd);
    }
    pl_lines_end(&output->lines, job_discard_output, NULL);
}

static void job_free_description(struct pl_job_desc *desc)
{
    for (int i = 0; i < desc->program_count; i++)
        pl_program_fini(&desc->programs[i]);
    for (int i = 0; i < desc->pset_count; i++) {
        free(desc->psets[i].name);
        free(desc->psets[i].ranges);
    }
    for (int i = 0; i < desc->redirect_count; i++) {
        if (desc->redirects[i].fd >= 0)
            close(desc->redirects[i].fd);
        free(desc->redirects[i].file);
    }
    pl_vars_fini(&desc->env);
    pl_job_place_fini(desc);
    free(desc->programs);
    free(desc->psets);
    free(desc->redirects);
}

void pl_job_free(struct plenum_job *job)
{
    pl_list_remove(&job->node);
    pl_list_remove(&job->task.node);
    pl_list_remove(&job->alive);
    pl_blob_fini(&job->launch.plan);
    if (job->launch.placer)
        job->launch.placer->placer = NULL;
    for (int r = 0; job->ranks && r < job->desc.size; r++) {
        job_close_output(job, &job->ranks[r].out[0]);
        job_close_output(job, &job->ranks[r].out[1]);
    }
    pl_pmi_close(job);
    pl_slots_forget(job);
    pl_span_close(job);
    pl_job_segment_unmap(job);
    free(job->outcome.last);
    free(job->launch.bound);
    free(job->launch.numbers);
    free(job->ranks);
    pl_symbols_fini(&job->symbols);
    pl_answers_forget(job);
    pl_answers_close(&job->tree.parents);
    free(job->tree.port);
    job_free_description(&job->desc);
    free(job);
}

void pl_job_drop(struct plenum_job *job)
{
    if (!job->handle.open && atomic_load(&job->handle.calls) == 0 && job->phase != PL_JOB_QUEUED && !pl_job_alive(job))
        pl_job_free(job);
}

struct plenum_job *pl_job_find(struct plenum_runtime *rt, uint64_t id)
{
    PL_LIST_EACH(job, &rt->jobs, struct plenum_job, node)
        if (job->id == id)
            return job;
    return NULL;
}

void plenum_job_close(struct plenum_job *job)
{
    if (!pl_job_enter_anyway(job))
        return;
    job->handle.open = false;
    pl_event_forget(job->runtime, job);
    if (atomic_load(&job->handle.calls) > 1)
        pl_runtime_wake_waiters(job->runtime);
    pl_job_leave(job, PLENUM_OK);
}

uint64_t plenum_job_id(const struct plenum_job *job)
{
    if (pl_job_enter(job) != PLENUM_OK)
        return 0;
    uint64_t id = job->id;
    pl_job_leave(job, PLENUM_OK);
    return id;
}

int plenum_job_size(const struct plenum_job *job)
{
    if (pl_job_enter(job) != PLENUM_OK)
        return 0;
    int size = job->desc.size;
    pl_job_leave(job, PLENUM_OK);
    return size;
}

static const char *job_program_of(const struct plenum_job *job, int rank)
{
    const struct pl_program *program = job->desc.programs;
    while (rank >= program->first + program->ranks)
        program++;
    return program->argv[0];
}

static enum plenum_process_state job_process_state(const struct plenum_job *job, const struct pl_rank *rank)
{
    if (rank->ended || rank->pid == 0)
        return rank->pid ? PLENUM_PROCESS_ENDED : PLENUM_PROCESS_NONE;
    return job->desc.option[PLENUM_JOB_STOPPED] && !rank->continued ? PLENUM_PROCESS_STOPPED : PLENUM_PROCESS_RUNNING;
}

int plenum_job_process(const struct plenum_job *job, int rank, struct plenum_process *out, size_t size)
{
    int err = out && size > 0 ? pl_job_enter(job) : pl_rt_fail_null("place for a process");
    if (err)
        return err;
    if (rank < 0 || rank >= job->desc.size)
        return pl_job_leave(job, pl_rt_fail(PLENUM_ERR_ARGUMENT, "rank %d is not in a job of size %d", rank,
                                            job->desc.size));
    struct plenum_process found = { .program = job_program_of(job, rank) };
    bool spread = pl_job_alive(job) && pl_job_is_spread(job);
    struct pl_host *host = spread ? pl_span_host_of(job, (int)job->launch.span->host_of[rank]) : NULL;
    if (host)
        snprintf(found.host, sizeof found.host, "%s", host->name);
    if (job->ranks) {
        found.pid = (int)job->ranks[rank].pid;
        found.state = job_process_state(job, &job->ranks[rank]);
    }
    memset(out, 0, size);
    memcpy(out, &found, size < sizeof found ? size : sizeof found);
    return pl_job_leave(job, PLENUM_OK);
}

void plenum_job_set_user(struct plenum_job *job, void *user)
{
    if (pl_job_enter(job) != PLENUM_OK)
        return;
    job->handle.user = user;
    pl_job_leave(job, PLENUM_OK);
}

int plenum_job_hold_output(struct plenum_job *job, int hold)
{
    int err = pl_job_enter(job);
    if (err)
        return err;
    job->handle.holds_output = hold != 0;
    PL_LIST_EACH(member, &job->runtime->alive, struct plenum_job, alive)
        if (pl_job_root(member) == job && pl_job_is_spread(member))
            pl_span_hold(member, hold != 0);
    PL_LIST_EACH(member, &job->runtime->alive, struct plenum_job, alive)
        for (int r = 0; pl_job_root(member) == job && r < member->desc.size; r++)
            for (int s = 0; !err && s < 2; s++)
                err = pl_output_hold(&member->ranks[r].out[s], hold != 0);
    pl_runtime_wake_waiters(job->runtime);
    return pl_job_leave(job, err);
}
