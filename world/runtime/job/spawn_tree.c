/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawn_tree.h. Everything that a process has written is copied or checked before it is used. */
#include "world/runtime/job/spawn_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/job/unable.h"
#include "world/runtime/event/event.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/runtime_error.h"

enum { SPAWN_PROGRAMS_MAX = 65536 };

bool pl_spawn_tree_lives(const struct plenum_job *root)
{
    if (root->tree.pending > 0)
        return true;
    PL_LIST_EACH(job, &root->runtime->alive, struct plenum_job, alive)
        if (job->tree.root == root)
            return true;
    return false;
}

/* --- answers to the parents -------------------------------------------------------------------------------- */

void pl_spawn_tree_missed(struct plenum_job *job, int rank, const char *why)
{
    char text[PL_ANSWER_MAX];
    if (!job->tree.parents_told || job->tree.parents_refused)
        return;
    job->tree.parents_refused = true;
    snprintf(text, sizeof text, "rank %d of the spawned processes %s", rank, why);
    pl_answers_give(job->runtime, &job->tree.parents, PL_QUESTION_ENDED, text);
}

/* One process that has connected shows that all can: the parents have what they waited for. */
bool pl_spawn_tree_is_unmet(const struct plenum_job *job)
{
    const struct pl_asker *parents = &job->tree.parents;
    if (!job->segment || !job->segment->parent || !job->shared)
        return false;
    if (pl_job_has_missed(job))
        return true;
    bool met = parents->file && atomic_load(&parents->file->state) == PL_QUESTION_MET;
    for (int r = 0; !met && r < job->desc.size; r++)
        met = atomic_load(&job->shared->ranks[r].child) == PL_CHILD_CONNECTED;
    return !met;
}

/* A failure that is the consequence of another one is not told: the cause is, or its process has ended. */
static void spawn_tree_check_rank(struct plenum_job *job, int rank)
{
    struct pl_job_rank *slot = &job->shared->ranks[rank];
    struct pl_job_unable unable;
    char card[PL_CARD_MAX], text[sizeof unable.why + 64];
    size_t length;
    if (!pl_job_card_read(&slot->card[PL_CARD_WORLD], card, &length) || !pl_job_unable_is(card, length, &unable) ||
        unable.consequence || !pl_job_unable_settle(slot))
        return;
    snprintf(text, sizeof text, "cannot initialize MPI: %s", unable.why);
    if (!pl_job_is_part(job)) {
        pl_spawn_tree_missed(job, rank, text);
        return;
    }
    struct pl_event *event = pl_event_of_object(job, PLENUM_EVENT_ERROR, rank, 0, "", text);
    if (event)
        event->public.flags = PL_EVENT_UNMET;
    pl_event_queue(job->runtime, event);
}

void pl_spawn_tree_check_unable(struct plenum_job *job)
{
    bool early = pl_job_is_starting(job); /* pl_spawn_tree_started() checks again */
    bool unmet = !early && pl_spawn_tree_is_unmet(job);
    for (int r = 0; unmet && r < job->desc.size; r++)
        spawn_tree_check_rank(job, r);
}

void pl_spawn_tree_started(struct plenum_job *job)
{
    if (!job->tree.parents.job || job->tree.parents_refused)
        return;
    job->tree.parents_told = true;
    pl_answers_give(job->runtime, &job->tree.parents, PL_QUESTION_DONE, NULL);
    pl_spawn_tree_check_unable(job);
}

void pl_spawn_tree_failed(struct plenum_job *job, const char *reason)
{
    if (!pl_job_is_starting(job) || job->tree.parents_refused)
        return;
    job->tree.parents_refused = true;
    pl_answers_give(job->runtime, &job->tree.parents, PL_QUESTION_REFUSED, reason);
}

void pl_spawn_tree_ended(struct plenum_job *job)
{
    if (pl_job_has_missed(job))
        return;
    if (job->tree.parents_told)
        pl_answers_give(job->runtime, &job->tree.parents, PL_QUESTION_ENDED, NULL);
    else
        pl_spawn_tree_failed(job, "the processes ended before all were started");
}

/* --- spawning ------------------------------------------------------------------------------------------------ */

/* A request for processes, in memory of its own. */
struct spawn_request {
    char *port, *text;
    char **hosts; /* [count], of the programs */
    size_t count;
    bool whole;
};

static char *spawn_tree_read_text(struct pl_reader *from)
{
    size_t length;
    const char *text = pl_read_text(from, PL_QUESTION_MAX, &length);
    return text ? pl_strndup(text, length) : NULL;
}

static struct spawn_request spawn_tree_read(const struct pl_asked *asked)
{
    struct pl_reader from = pl_reader(asked->data, asked->length);
    struct spawn_request request = { .port = spawn_tree_read_text(&from), .text = spawn_tree_read_text(&from) };
    request.count = pl_read_count(&from, SPAWN_PROGRAMS_MAX, 1);
    request.hosts = pl_calloc(request.count + 1, sizeof *request.hosts);
    request.whole = request.port && request.text && request.hosts;
    for (size_t i = 0; request.whole && i < request.count; i++)
        request.whole = (request.hosts[i] = spawn_tree_read_text(&from)) != NULL;
    request.whole = request.whole && pl_reader_done(&from);
    return request;
}

static void spawn_tree_free(struct spawn_request *request)
{
    for (size_t i = 0; request->hosts && i < request->count; i++)
        free(request->hosts[i]);
    free(request->hosts);
    free(request->text);
    free(request->port);
}

/* Copies options and environment to a spawned job, where its own description sets nothing. */
static int spawn_tree_adopt(struct plenum_job *root, const struct plenum_job *parent, struct plenum_job *child)
{
    struct pl_vars env = { 0 };
    child->desc.option[PLENUM_JOB_GRACE] = root->desc.option[PLENUM_JOB_GRACE];
    child->desc.option[PLENUM_JOB_KEEP_GOING] = root->desc.option[PLENUM_JOB_KEEP_GOING];
    child->desc.option[PLENUM_JOB_UNIVERSE] = root->desc.option[PLENUM_JOB_UNIVERSE];
    child->desc.option[PLENUM_JOB_PMIX] = root->desc.option[PLENUM_JOB_PMIX];
    child->desc.option[PLENUM_JOB_REPORT] = root->desc.option[PLENUM_JOB_REPORT];
    child->desc.option[PLENUM_JOB_TERMINAL] = root->desc.option[PLENUM_JOB_TERMINAL];
    child->desc.env_clear = parent->desc.env_clear;
    bool whole = pl_vars_apply(&env, &parent->desc.env) && pl_vars_apply(&env, &child->desc.env);
    pl_vars_fini(whole ? &child->desc.env : &env);
    if (whole)
        child->desc.env = env;
    if (!whole)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a spawned job");
    return PLENUM_OK;
}

/* Moves port and hosts of the request to the job. */
static void spawn_tree_take(struct spawn_request *request, struct plenum_job *child)
{
    child->tree.port = request->port;
    request->port = NULL;
    for (size_t i = 0; i < request->count && i < (size_t)child->desc.program_count; i++) {
        if (!request->hosts[i][0])
            continue;
        child->desc.programs[i].hosts = request->hosts[i];
        request->hosts[i] = NULL;
    }
}

/* Does the process that has asked still run, and its tree? */
static bool spawn_tree_asker_lives(struct plenum_job *parent, const struct pl_asker *asker)
{
    return parent && parent->phase == PL_JOB_RUNNING && pl_job_root(parent)->phase == PL_JOB_RUNNING &&
           !parent->ranks[asker->rank].ended;
}

/* Adds the job to the tree, if that still runs. The lock is not held. */
static int spawn_tree_join(struct plenum_runtime *rt, struct pl_asker *asker, struct spawn_request *request,
                           struct plenum_job *child)
{
    pthread_mutex_lock(&rt->lock);
    struct plenum_job *parent = pl_job_find(rt, asker->job);
    int err = PLENUM_OK;
    if (spawn_tree_asker_lives(parent, asker))
        err = spawn_tree_adopt(pl_job_root(parent), parent, child);
    else
        err = pl_rt_fail(PLENUM_ERR_STATE, "the job is ending");
    if (!err) {
        struct plenum_job *root = pl_job_root(parent);
        child->tree.root = root;
        child->tree.lacking = parent->shared && atomic_load(&parent->shared->lacking);
        child->tree.first_rank = root->desc.size + root->tree.spawned_ranks;
        root->tree.spawned_ranks += child->desc.size;
        root->tree.pending++; /* keeps the root until this job is launched */
        child->tree.parents = *asker;
        *asker = (struct pl_asker){ .job = 0 };
        spawn_tree_take(request, child);
    }
    pthread_mutex_unlock(&rt->lock);
    return err;
}

/* The launch has succeeded or failed. Meanwhile the tree may have been told to end, or all its other processes may have
 * ended. The lock is not held. */
static void spawn_tree_launched(struct plenum_job *child)
{
    struct plenum_runtime *rt = child->runtime;
    struct plenum_job *root = child->tree.root;
    pthread_mutex_lock(&rt->lock);
    root->tree.pending--;
    if (root->phase != PL_JOB_RUNNING)
        pl_job_terminate(child);
    if (root->tree.outlived && !pl_spawn_tree_lives(root))
        pl_job_last_process_ended(root);
    pthread_mutex_unlock(&rt->lock);
}

/* For the reason of the thread's last error. The lock is not held. */
static void spawn_tree_refuse(struct plenum_runtime *rt, struct plenum_job *child, const struct pl_asker *asker)
{
    char why[PL_ANSWER_MAX];
    snprintf(why, sizeof why, "%s", plenum_error());
    pthread_mutex_lock(&rt->lock);
    if (child)
        pl_spawn_tree_failed(child, why);
    else
        pl_answers_give(rt, asker, PL_QUESTION_REFUSED, why);
    pthread_mutex_unlock(&rt->lock);
}

/* The lock is not held. The child steals the asker, once it has joined the tree. */
static void spawn_tree_start(struct plenum_runtime *rt, struct pl_asker *asker, struct spawn_request *request)
{
    struct plenum_job *child = NULL;
    int err = request->whole ? plenum_job_create_json(rt, request->text, &child)
                             : (int)pl_rt_fail(PLENUM_ERR_ARGUMENT, "the request to spawn is damaged");
    if (!err)
        err = spawn_tree_join(rt, asker, request, child);
    bool joined = child && child->tree.root;
    if (!err)
        err = plenum_job_launch(child);
    if (err)
        spawn_tree_refuse(rt, joined ? child : NULL, asker);
    if (joined)
        spawn_tree_launched(child);
    plenum_job_close(child);
}

void pl_spawn_tree_spawn(struct plenum_runtime *rt, struct pl_asked *asked)
{
    pthread_mutex_unlock(&rt->lock);
    struct spawn_request request = spawn_tree_read(asked);
    spawn_tree_start(rt, &asked->from, &request);
    spawn_tree_free(&request);
    pthread_mutex_lock(&rt->lock);
}
