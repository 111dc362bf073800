/* SPDX-License-Identifier: BSD-3-Clause */
/* From a description to running processes. The launch does the work that does not depend on the time of the start: it
 * finds the programs and merges the environments. The start makes the segment and the outputs. No process runs before
 * every step here that can fail has succeeded. */
#include "world/runtime/job/launch.h"
#include "world/runtime/job/host_resources.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/compose.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/job/job_place.h"
#include "world/runtime/job/job_resources.h"
#include "world/runtime/job/notes.h"
#include "world/runtime/job/pmi_server.h"
#include "world/runtime/job/queue.h"
#include "world/runtime/job/segment_make.h"
#include "world/runtime/job/span.h"
#include "world/runtime/pmix/server.h"
#include "world/runtime/runtime_error.h"

/* The descriptors that a start needs until the keeper has them. */
struct launch {
    int segment, shared, plan, null;
    int (*fd)[PL_KEEPER_EACH];   /* [size]: descriptors 0, 1, 2 and PMI's of each rank */
    bool (*own)[PL_KEEPER_EACH]; /* [size]: close it afterwards */
};

static int launch_check(const struct plenum_job *job)
{
    if (job->phase != PL_JOB_DESCRIBED)
        return pl_rt_fail(PLENUM_ERR_STATE, "the job was already launched");
    if (job->desc.program_count == 0)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "no program to run");
    for (int i = 0; i < job->desc.redirect_count; i++)
        if (job->desc.redirects[i].rank >= job->desc.size)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%s is for rank %d, which is not in a job of size %d",
                              job->desc.redirects[i].number == 0 ? "standard input" : "a file for output",
                              job->desc.redirects[i].rank, job->desc.size);
    int err = pl_job_place_check(job);
    if (err)
        return err;
    for (int i = 0; i < job->desc.pset_count; i++)
        for (uint32_t r = 0; r < job->desc.psets[i].count; r++)
            if (job->desc.psets[i].ranges[2 * r + 1] >= (uint32_t)job->desc.size)
                return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                                  "process set \"%s\": rank %" PRIu32 " is not in a job of size %d",
                                  job->desc.psets[i].name, job->desc.psets[i].ranges[2 * r + 1], job->desc.size);
    return PLENUM_OK;
}

/* A part has the name of its job. */
static int launch_name_job(struct plenum_job *job)
{
    if (pl_job_is_part(job))
        return PLENUM_OK;
    if (getrandom(&job->cookie, sizeof job->cookie, 0) != sizeof job->cookie)
        return pl_rt_fail_errno("cannot get a random number from the system");
    snprintf(job->nspace, sizeof job->nspace, "plenum.%d.%" PRIu64 ".%08" PRIx32, (int)getpid(), job->id,
             (uint32_t)job->cookie);
    return PLENUM_OK;
}

/* --- standard streams -------------------------------------------------------------------------------------- */

static const struct pl_redirect *launch_find_redirect(const struct plenum_job *job, int rank, int number)
{
    for (int i = job->desc.redirect_count - 1; i >= 0; i--) {
        const struct pl_redirect *r = &job->desc.redirects[i];
        if (r->number == number && (r->rank == rank || r->rank == PLENUM_ALL))
            return r;
    }
    return NULL;
}

/* A FIFO or a device whose other end is not open yet must not stop the runtime: it is opened without waiting. Reads and
 * writes of the process then wait as usual. */
static int launch_open_now(const char *name, int flags)
{
    int fd = open(name, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    int status = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (status >= 0)
        fcntl(fd, F_SETFL, status & ~O_NONBLOCK);
    return fd;
}

/* Opens a rank's file by the name with %r in it; -1: errno says why. */
static int launch_open_file(const struct pl_redirect *redirect, int rank)
{
    char name[4096];
    size_t used = 0;
    for (const char *at = redirect->file; *at && used + 12 < sizeof name; at++) {
        if (*at == '%' && at[1] == 'r')
            used += (size_t)snprintf(name + used, sizeof name - used, "%d", rank);
        else
            name[used++] = *at;
        at += *at == '%';
    }
    name[used] = '\0';
    if (used + 12 >= sizeof name)
        errno = ENAMETOOLONG;
    else if (redirect->number == 0)
        return launch_open_now(name, O_RDONLY);
    else
        return launch_open_now(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    return -1;
}

static int launch_open_one(struct plenum_job *job, struct launch *l, int rank, int number)
{
    const struct pl_redirect *redirect = launch_find_redirect(job, rank, number);
    int *fd = &l->fd[rank][number], err = PLENUM_OK;
    if (redirect && redirect->file) {
        *fd = launch_open_file(redirect, rank);
        if (*fd < 0 && errno == ENXIO)
            return pl_rt_fail(PLENUM_ERR_SYSTEM, "cannot write \"%s\" for rank %d: it is a FIFO that no process reads",
                              redirect->file, rank);
        if (*fd < 0)
            return pl_rt_fail_errno("cannot %s \"%s\" for rank %d", number ? "write" : "read", redirect->file, rank);
    } else if (redirect) {
        *fd = redirect->fd;
        return PLENUM_OK;
    } else if (number == 0) {
        *fd = l->null;
        return PLENUM_OK;
    } else {
        err = pl_output_open(&job->ranks[rank].out[number - 1], job, rank, number, fd);
    }
    l->own[rank][number] = !err;
    return err;
}

static int launch_open_pmi(struct plenum_job *job, struct launch *l, int rank)
{
    int *fd = &l->fd[rank][PL_KEEPER_EACH - 1];
    *fd = l->null;
    int err = job->launch.pmi ? pl_pmi_open(job, rank, fd) : PLENUM_OK;
    l->own[rank][PL_KEEPER_EACH - 1] = job->launch.pmi && !err;
    return err;
}

static int launch_open_all(struct plenum_job *job, struct launch *l)
{
    l->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    l->fd = pl_calloc((size_t)job->desc.size, sizeof *l->fd);
    l->own = pl_calloc((size_t)job->desc.size, sizeof *l->own);
    job->ranks = pl_calloc((size_t)job->desc.size, sizeof *job->ranks);
    for (int r = 0; job->ranks && r < job->desc.size; r++) /* before any failure, which closes what is open */
        job->ranks[r].out[0].fd = job->ranks[r].out[1].fd = -1;
    if (!l->fd || !l->own || !job->ranks)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for %d processes", job->desc.size);
    if (l->null < 0)
        return pl_rt_fail_errno("cannot open /dev/null");
    int err = PLENUM_OK;
    for (int r = 0; !err && r < job->desc.size; r++) {
        for (int s = 0; !err && s < 3 && pl_job_is_here(job, r); s++)
            err = launch_open_one(job, l, r, s);
        if (!err && pl_job_is_here(job, r))
            err = launch_open_pmi(job, l, r);
    }
    return err;
}

static void launch_fini(const struct plenum_job *job, struct launch *l)
{
    for (int r = 0; l->own && l->fd && r < job->desc.size; r++)
        for (int s = 0; s < PL_KEEPER_EACH; s++)
            if (l->own[r][s])
                close(l->fd[r][s]);
    free(l->fd);
    free(l->own);
    if (l->segment >= 0)
        close(l->segment);
    if (l->shared >= 0)
        close(l->shared);
    if (l->plan >= 0)
        close(l->plan);
    if (l->null >= 0)
        close(l->null);
}

/* --- the launch -------------------------------------------------------------------------------------------- */

/* A runtime with hosts starts all jobs of the embedder there, and what these spawn. */
static bool launch_is_for_hosts(const struct plenum_job *job)
{
    if (job->tree.root)
        return pl_job_is_spread(job->tree.root);
    return !pl_list_empty(&job->runtime->hosts) && !job->launch.placer;
}

/* The steps that are the same whether the job starts now or later. */
static int launch_prepare(struct plenum_job *job)
{
    static _Atomic uint32_t last;
    int err = launch_is_for_hosts(job) ? pl_host_resources_check(job) : pl_job_resources_check(job);
    if (!err)
        err = launch_name_job(job);
    if (err)
        return err;
    job->launch.keeper_id = atomic_fetch_add(&last, 1) + 1;
    pl_queue_describe(job);
    if (launch_is_for_hosts(job))
        return pl_span_prepare(job);
    if (job->launch.pmix)
        err = pl_pmix_register(job);
    return err ? err : pl_compose_plan(job, &job->launch.plan);
}

static int launch_make_ready(struct plenum_job *job, struct launch *l)
{
    int slots = job->desc.option[PLENUM_JOB_SLOTS] ? (int)job->desc.option[PLENUM_JOB_SLOTS] : pl_compose_cores();
    int err = pl_compose_bind(job); /* the segment tells the ranks their processors */
    if (!err)
        err = pl_compose_resources(job);
    if (!err)
        err = pl_job_segment_make(job, slots, &l->segment, &l->shared);
    if (err)
        return err;
    pl_notes_watch(job);
    l->plan = pl_blob_file(&job->launch.plan, "plenum-plan", PL_BLOB_SEALS | F_SEAL_WRITE, &err);
    return l->plan < 0 ? err : launch_open_all(job, l);
}

/* The next ranks of this host from *first on, as many as one request takes. Returns their number. */
static int launch_next_ranks(const struct plenum_job *job, int *first)
{
    int count = 0;
    while (*first < job->desc.size && !pl_job_is_here(job, *first))
        ++*first;
    while (count < PL_KEEPER_BATCH && *first + count < job->desc.size && pl_job_is_here(job, *first + count))
        count++;
    return count;
}

static int launch_hand_over(struct plenum_job *job, struct launch *l)
{
    struct pl_link *link = &job->runtime->keeper.link;
    struct pl_keeper_request request = { .op = PL_KEEPER_JOB, .job = job->launch.keeper_id };
    int notes = job->runtime->notes.pipe[1];
    int err = pl_link_send(link, &request, (int[]){ l->plan, l->segment, l->shared, notes }, notes < 0 ? 3 : 4);
    for (int first = 0, count; !err && (count = launch_next_ranks(job, &first)) > 0; first += count) {
        request = (struct pl_keeper_request){
            .op = PL_KEEPER_RANKS, .job = job->launch.keeper_id, .first = first, .count = (uint32_t)count
        };
        err = pl_link_send(link, &request, l->fd[first], PL_KEEPER_EACH * count);
    }
    if (err) { /* the keeper may have started some ranks */
        request = (struct pl_keeper_request){ .op = PL_KEEPER_FORGO, .job = job->launch.keeper_id };
        pl_link_send(link, &request, NULL, 0);
        request = (struct pl_keeper_request){
            .op = PL_KEEPER_SIGNAL, .job = job->launch.keeper_id, .first = -1, .signal = 9
        };
        pl_link_send(link, &request, NULL, 0);
    }
    return err;
}

static void launch_undo(struct plenum_job *job)
{
    for (int r = 0; job->ranks && r < job->desc.size; r++)
        for (int s = 0; s < 2; s++)
            pl_output_close(&job->ranks[r].out[s]);
    free(job->launch.bound);
    job->launch.bound = NULL;
    pl_job_resources_give(job);
    pl_pmi_close(job);
    free(job->ranks);
    job->ranks = NULL;
    pl_job_segment_unmap(job);
}

/* The keeper of this runtime starts the processes. */
static int launch_start_here(struct plenum_job *job)
{
    struct launch l = { -1, -1, -1, -1, NULL, NULL };
    int err = pl_runtime_need_keeper(job->runtime);
    if (err)
        return err;
    err = launch_make_ready(job, &l);
    if (!err)
        err = launch_hand_over(job, &l);
    int why = errno;
    launch_fini(job, &l);
    if (err) {
        launch_undo(job);
        errno = why;
        return err;
    }
    pl_blob_fini(&job->launch.plan);
    return PLENUM_OK;
}

int pl_launch_start(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    int64_t now = pl_clock_ns() / 1000; /* before its processes start, so that it does not run shorter than they */
    int err = job->launch.span && !pl_job_is_part(job) ? pl_span_start(job) : launch_start_here(job);
    if (err)
        return err;
    pl_dispatch_start(&rt->supply.dispatch, &job->task, pl_clock_ms());
    if (job->launch.bound)
        rt->supply.next_place = (rt->supply.next_place + job->desc.size) % (1 << 24);
    pl_list_append(&rt->alive, &job->alive);
    job->phase = PL_JOB_RUNNING;
    job->launch.started_us = now;
    job->deadline.rouse = pl_clock_ms() + PL_ROUSE_MS;
    if (job->desc.option[PLENUM_JOB_TIME_LIMIT])
        job->deadline.limit = pl_clock_ms() + job->desc.option[PLENUM_JOB_TIME_LIMIT];
    pl_runtime_set_timer(rt);
    return PLENUM_OK;
}

static int launch_locked(struct plenum_job *job)
{
    int err = launch_check(job);
    if (err)
        return err;
    err = launch_prepare(job);
    if (!err && !pl_queue_must_wait(job))
        err = pl_launch_start(job);
    if (err) { /* back to a description, which the embedder may correct and launch again */
        pl_pmix_deregister(job);
        pl_blob_fini(&job->launch.plan);
        if (!pl_job_is_part(job))
            pl_span_close(job);
        return err;
    }
    if (job->phase == PL_JOB_DESCRIBED)
        pl_queue_append(job);
    return PLENUM_OK;
}

int plenum_job_launch(struct plenum_job *job)
{
    int err = pl_job_enter(job);
    if (err)
        return err;
    struct plenum_runtime *rt = job->runtime;
    long mode = job->desc.option[PLENUM_JOB_PMIX];
    bool native = mode == PLENUM_PMIX_OFF || launch_is_for_hosts(job) || pl_compose_all_native(job);
    bool pmix = (mode == PLENUM_PMIX_ON && !launch_is_for_hosts(job)) || !native;
    pthread_mutex_unlock(&rt->lock);

    err = pmix ? pl_pmix_open() : PLENUM_OK; /* slow: not under the lock */
    pthread_mutex_lock(&rt->lock);
    if (err && mode != PLENUM_PMIX_AUTO)
        return pl_job_leave(job, err);
    if (job->phase == PL_JOB_DESCRIBED)
        job->launch.pmix = pmix && !err, job->launch.pmi = !native;
    err = pl_job_check_open(job);
    return pl_job_leave(job, err ? err : launch_locked(job));
}
