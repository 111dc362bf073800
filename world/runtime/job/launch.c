/* SPDX-License-Identifier: BSD-3-Clause */
/* From a description to running processes. A launch does what does not depend on the moment: it finds the programs and
 * merges the environments. The start makes segment and streams; nothing runs before everything that can fail here has
 * succeeded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "world/runtime/error.h"
#include "world/runtime/job/compose.h"
#include "world/runtime/job/segment.h"
#include "world/runtime/pmix/pmix.h"
#include "world/runtime/runtime.h"

/* The descriptors that a launch needs until the keeper has them. */
struct launch {
    int segment, plan, null;
    int (*fd)[3];   /* [size]: what becomes 0, 1 and 2 of each rank */
    bool (*own)[3]; /* ours to close */
};

static int check_description(const struct plenum_job *job)
{
    if (job->phase != PL_JOB_DESCRIBED)
        return pl_rt_fail(PLENUM_ERR_STATE, "the job was launched already");
    if (job->program_count == 0)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "there is no program to run");
    for (int i = 0; i < job->redirect_count; i++)
        if (job->redirects[i].rank >= job->size)
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "%s is for rank %d, which is not in a job of %d",
                              job->redirects[i].stream == 0 ? "standard input" : "a file for output",
                              job->redirects[i].rank, job->size);
    for (int i = 0; i < job->pset_count; i++)
        for (uint32_t r = 0; r < job->psets[i].count; r++)
            if (job->psets[i].ranges[2 * r + 1] >= (uint32_t)job->size)
                return pl_rt_fail(PLENUM_ERR_ARGUMENT, "process set \"%s\": rank %" PRIu32 " is not in a job of %d",
                                  job->psets[i].name, job->psets[i].ranges[2 * r + 1], job->size);
    return PLENUM_OK;
}

static int name_job(struct plenum_job *job)
{
    if (getrandom(&job->cookie, sizeof job->cookie, 0) != sizeof job->cookie)
        return pl_rt_fail_errno("the system gives no random number");
    snprintf(job->nspace, sizeof job->nspace, "plenum.%d.%" PRIu64 ".%08" PRIx32, (int)getpid(), job->id,
             (uint32_t)job->cookie);
    return PLENUM_OK;
}

/* --- standard streams -------------------------------------------------------------------------------------- */

static const struct pl_redirect *find_redirect(const struct plenum_job *job, int rank, int stream)
{
    for (int i = job->redirect_count - 1; i >= 0; i--) {
        const struct pl_redirect *r = &job->redirects[i];
        if (r->stream == stream && (r->rank == rank || r->rank == PLENUM_ALL))
            return r;
    }
    return NULL;
}

/* The file of a rank, by the name with %r in it; -1: errno says why. */
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
    else if (redirect->stream == 0)
        return open(name, O_RDONLY | O_CLOEXEC);
    else
        return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    return -1;
}

static int open_stream(struct plenum_job *job, struct launch *l, int rank, int stream)
{
    const struct pl_redirect *redirect = find_redirect(job, rank, stream);
    int *fd = &l->fd[rank][stream], err = PLENUM_OK;
    if (redirect && redirect->file) {
        *fd = launch_open_file(redirect, rank);
        if (*fd < 0) {
            err = pl_rt_fail_errno("cannot %s \"%s\" for rank %d", stream ? "write" : "read", redirect->file, rank);
            return err == PLENUM_ERR_LIMIT ? err : PLENUM_ERR_SYSTEM; /* not the program is missing */
        }
    } else if (redirect) {
        *fd = redirect->fd;
        return PLENUM_OK;
    } else if (stream == 0) {
        *fd = l->null;
        return PLENUM_OK;
    } else {
        err = pl_output_open(&job->ranks[rank].out[stream - 1], job, rank, stream, fd);
    }
    l->own[rank][stream] = !err;
    return err;
}

static int open_streams(struct plenum_job *job, struct launch *l)
{
    l->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    l->fd = calloc((size_t)job->size, sizeof *l->fd);
    l->own = calloc((size_t)job->size, sizeof *l->own);
    job->ranks = calloc((size_t)job->size, sizeof *job->ranks);
    if (!l->fd || !l->own || !job->ranks)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for %d processes", job->size);
    for (int r = 0; r < job->size; r++)
        job->ranks[r].out[0].fd = job->ranks[r].out[1].fd = -1;
    if (l->null < 0)
        return pl_rt_fail_errno("cannot open /dev/null");
    for (int r = 0; r < job->size; r++)
        for (int s = 0; s < 3; s++) {
            int err = open_stream(job, l, r, s);
            if (err)
                return err;
        }
    return PLENUM_OK;
}

static void launch_fini(const struct plenum_job *job, struct launch *l)
{
    for (int r = 0; l->own && l->fd && r < job->size; r++)
        for (int s = 0; s < 3; s++)
            if (l->own[r][s])
                close(l->fd[r][s]);
    free(l->fd);
    free(l->own);
    if (l->segment >= 0)
        close(l->segment);
    if (l->plan >= 0)
        close(l->plan);
    if (l->null >= 0)
        close(l->null);
}

/* --- the launch -------------------------------------------------------------------------------------------- */

/* What can be done whether the job starts now or later. */
static int launch_prepare(struct plenum_job *job)
{
    static _Atomic uint32_t last;
    int err = name_job(job);
    if (err)
        return err;
    job->kept_as = atomic_fetch_add(&last, 1) + 1;
    job->takes = job->option[PLENUM_JOB_SLOTS] ? job->option[PLENUM_JOB_SLOTS] : job->size;
    if (job->pmix)
        err = pl_pmix_register(job);
    return err ? err : pl_compose_plan(job, &job->plan);
}

static int make_ready(struct plenum_job *job, struct launch *l)
{
    int slots = job->option[PLENUM_JOB_SLOTS] ? (int)job->option[PLENUM_JOB_SLOTS] : pl_compose_cores();
    int err = PLENUM_OK;
    l->segment = pl_job_segment_make(job, slots, &err);
    if (l->segment < 0)
        return err;
    pl_job_notes_watch(job);
    l->plan = pl_blob_file(&job->plan, "plenum-plan", &err);
    return l->plan < 0 ? err : open_streams(job, l);
}

static int hand_over(struct plenum_job *job, struct launch *l)
{
    struct pl_link *link = &job->runtime->link;
    struct pl_keeper_request request = { .op = PL_KEEPER_JOB, .job = job->kept_as };
    int err = pl_link_send(link, &request, (int[]){ l->plan, l->segment }, 2);
    for (int first = 0; !err && first < job->size; first += PL_KEEPER_BATCH) {
        int count = job->size - first < PL_KEEPER_BATCH ? job->size - first : PL_KEEPER_BATCH;
        request = (struct pl_keeper_request){
            .op = PL_KEEPER_RANKS, .job = job->kept_as, .first = first, .count = (uint32_t)count
        };
        err = pl_link_send(link, &request, l->fd[first], 3 * count);
    }
    if (err) { /* it may have begun */
        request = (struct pl_keeper_request){ .op = PL_KEEPER_FORGO, .job = job->kept_as };
        pl_link_send(link, &request, NULL, 0);
        request = (struct pl_keeper_request){ .op = PL_KEEPER_SIGNAL, .job = job->kept_as, .first = -1, .signal = 9 };
        pl_link_send(link, &request, NULL, 0);
    }
    return err;
}

static void undo_start(struct plenum_job *job)
{
    for (int r = 0; job->ranks && r < job->size; r++)
        for (int s = 0; s < 2; s++)
            pl_output_close(&job->ranks[r].out[s]);
    free(job->ranks);
    job->ranks = NULL;
    if (job->segment)
        munmap((void *)job->segment, job->segment_bytes);
    job->segment = NULL;
}

int pl_job_start(struct plenum_job *job)
{
    struct plenum_runtime *rt = job->runtime;
    struct launch l = { -1, -1, -1, NULL, NULL };
    int err = pl_runtime_need_keeper(rt);
    if (err)
        return err;
    err = make_ready(job, &l);
    if (!err)
        err = hand_over(job, &l);
    int why = errno;
    launch_fini(job, &l);
    if (err) {
        undo_start(job);
        errno = why;
        return err;
    }
    pl_blob_fini(&job->plan);
    rt->used += job->takes;
    pl_list_append(&rt->alive, &job->alive);
    job->phase = PL_JOB_RUNNING;
    if (job->option[PLENUM_JOB_TIME_LIMIT]) {
        job->limit_at = pl_runtime_now() + job->option[PLENUM_JOB_TIME_LIMIT];
        pl_runtime_set_timer(rt);
    }
    return PLENUM_OK;
}

static int launch_locked(struct plenum_job *job)
{
    int err = check_description(job);
    if (err)
        return err;
    err = launch_prepare(job);
    if (!err && !pl_queue_must_wait(job))
        err = pl_job_start(job);
    if (err) { /* back to a description, so that the host may mend it and try again */
        pl_pmix_deregister(job);
        pl_blob_fini(&job->plan);
        return err;
    }
    if (job->option[PLENUM_JOB_BIND]) {
        job->first_place = job->runtime->bound;
        job->runtime->bound = (job->runtime->bound + job->size) % (1 << 24);
    }
    if (job->phase == PL_JOB_DESCRIBED)
        pl_queue_append(job);
    return PLENUM_OK;
}

int plenum_job_launch(struct plenum_job *job)
{
    if (!job)
        return pl_rt_fail_null("job");
    struct plenum_runtime *rt = job->runtime;
    pthread_mutex_lock(&rt->lock);
    long mode = job->option[PLENUM_JOB_PMIX];
    bool pmix = mode == PLENUM_PMIX_ON || (mode == PLENUM_PMIX_AUTO && !pl_compose_all_native(job));
    pthread_mutex_unlock(&rt->lock);

    int err = pmix ? pl_pmix_open() : PLENUM_OK; /* slow: not under the lock */
    if (err && mode != PLENUM_PMIX_AUTO)
        return err;
    pthread_mutex_lock(&rt->lock);
    if (job->phase == PL_JOB_DESCRIBED)
        job->pmix = pmix && !err;
    err = launch_locked(job);
    pthread_mutex_unlock(&rt->lock);
    return err;
}
