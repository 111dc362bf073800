/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawn_tree.h. Everything that a process has written is copied or checked before it is used. */
#include "world/runtime/job/spawn_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/shared.h"
#include "core/job/spawn.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/runtime_error.h"

#define LINK "/memfd:" PL_SPAWN_NAME " (deleted)"

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

static void spawn_tree_answer(struct pl_job_spawn *spawn, enum pl_spawn_state state, const char *reason)
{
    if (reason)
        snprintf(spawn->message, sizeof spawn->message, "%s", reason);
    atomic_store_explicit(&spawn->state, state, memory_order_release);
}

void pl_spawn_tree_started(struct plenum_job *job)
{
    if (!job->tree.request)
        return;
    job->tree.parents_told = true;
    spawn_tree_answer(job->tree.request, PL_SPAWN_STARTED, NULL);
}

void pl_spawn_tree_failed(struct plenum_job *job, const char *reason)
{
    if (pl_job_is_starting(job))
        spawn_tree_answer(job->tree.request, PL_SPAWN_FAILED, reason);
}

void pl_spawn_tree_ended(struct plenum_job *job)
{
    if (job->tree.request && job->tree.parents_told)
        spawn_tree_answer(job->tree.request, PL_SPAWN_ENDED, NULL);
    else if (job->tree.request && atomic_load(&job->tree.request->state) == PL_SPAWN_ASKED)
        spawn_tree_answer(job->tree.request, PL_SPAWN_FAILED, "the processes ended before all were started");
}

/* --- spawning ------------------------------------------------------------------------------------------------ */

/* The request of a process, mapped; NULL: the descriptor does not name a valid one. */
static struct pl_job_spawn *spawn_tree_map(const struct plenum_job *job, const struct pl_job_note *note, size_t *bytes)
{
    char path[48], link[sizeof LINK + 1];
    struct stat st;
    void *at = MAP_FAILED;
    if (note->rank < 0 || note->rank >= job->desc.size || !job->segment)
        return NULL;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pl_job_known_pid(&job->shared->ranks[note->rank]), note->code);
    if (readlink(path, link, sizeof link) != (ssize_t)sizeof LINK - 1 || memcmp(link, LINK, sizeof LINK - 1) != 0)
        return NULL;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals >= 0 && seals & F_SEAL_SHRINK && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        st.st_size > (off_t)sizeof(struct pl_job_spawn) && st.st_size <= PL_SPAWN_TEXT_MAX) {
        *bytes = (size_t)st.st_size;
        at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    struct pl_job_spawn *spawn = at;
    if (spawn->magic == PL_SPAWN_MAGIC && atomic_load(&spawn->state) == PL_SPAWN_ASKED)
        return spawn;
    munmap(at, *bytes);
    return NULL;
}

/* The runtime may be short of descriptors or memory: without an answer the process would wait for ever. */
static void spawn_tree_unread(const struct plenum_job *job, int rank)
{
    bool known = job->segment && rank >= 0 && rank < job->desc.size;
    struct pl_job_told *told = known ? pl_job_told(job->segment, rank) : NULL;
    if (told)
        atomic_fetch_add(&told->unread, 1);
}

/* A copy of the description, which the process cannot change. */
static char *spawn_tree_copy_text(const struct pl_job_spawn *spawn, size_t bytes)
{
    uint32_t length;
    pl_copy_shared(&length, &spawn->length, sizeof length);
    char *text = length < bytes - sizeof *spawn ? pl_malloc((size_t)length + 1) : NULL;
    if (text) {
        pl_copy_shared(text, spawn->text, length);
        text[length] = '\0';
    }
    return text;
}

/* Copies options and environment to a spawned job, where its own description sets nothing. */
static int spawn_tree_adopt(struct plenum_job *root, const struct plenum_job *parent, struct plenum_job *child)
{
    struct pl_vars env = { NULL, 0 };
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

/* Adds the job to the tree, if that still runs. The lock is not held. */
static int spawn_tree_join(struct plenum_runtime *rt, uint64_t parent_id, struct plenum_job *child,
                           struct pl_job_spawn *spawn, size_t bytes)
{
    pthread_mutex_lock(&rt->lock);
    struct plenum_job *parent = pl_job_find(rt, parent_id);
    bool lives = parent && parent->phase == PL_JOB_RUNNING && pl_job_root(parent)->phase == PL_JOB_RUNNING;
    int err = PLENUM_OK;
    if (lives)
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
        child->tree.request = spawn;
        child->tree.request_bytes = bytes;
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
        pl_job_end(child);
    if (root->tree.outlived && !pl_spawn_tree_lives(root))
        pl_job_last_process_ended(root);
    pthread_mutex_unlock(&rt->lock);
}

/* The lock is not held. True: the child has stolen the mapping. */
static bool spawn_tree_start(struct plenum_runtime *rt, uint64_t parent_id, const char *text,
                             struct pl_job_spawn *spawn, size_t bytes)
{
    struct plenum_job *child = NULL;
    int err = plenum_job_create_json(rt, text, &child);
    if (!err)
        err = spawn_tree_join(rt, parent_id, child, spawn, bytes);
    bool joined = child && child->tree.request;
    if (!err)
        err = plenum_job_launch(child);
    if (err)
        spawn_tree_answer(spawn, PL_SPAWN_FAILED, plenum_error());
    if (joined)
        spawn_tree_launched(child);
    plenum_job_close(child);
    return joined;
}

void pl_spawn_tree_spawn(struct plenum_job *job, const struct pl_job_note *note)
{
    struct plenum_runtime *rt = job->runtime;
    uint64_t id = job->id;
    size_t bytes;
    struct pl_job_spawn *spawn = spawn_tree_map(job, note, &bytes);
    if (!spawn) {
        spawn_tree_unread(job, note->rank);
        return;
    }
    char *text = spawn_tree_copy_text(spawn, bytes);
    pthread_mutex_unlock(&rt->lock);
    bool kept = false;
    if (text)
        kept = spawn_tree_start(rt, id, text, spawn, bytes);
    else
        spawn_tree_answer(spawn, PL_SPAWN_FAILED, "the request to spawn has no valid description");
    if (!kept)
        munmap(spawn, bytes);
    free(text);
    pthread_mutex_lock(&rt->lock);
}
