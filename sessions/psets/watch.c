/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress compares the providers' versions (the hook, a few loads). When they have changed, deferred work, which runs
 * without the engine's lock, compares the sets themselves and calls the watcher.
 *
 * One thread at a time calls the watcher, so that it learns changes in their order. A thread that finds another one
 * calling it leaves the rest to that thread.
 */
#include "sessions/psets/watch.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/engine/wait.h"
#include "sessions/psets/registry.h"

/* --- the sets as they are ---------------------------------------------------------------------------------------- */

static void psets_watch_seens_fini(struct pl_pset_seens *seens)
{
    for (size_t i = 0; i < seens->count; i++)
        free(seens->items[i].name);
    PL_VEC_FINI(seens);
}

static int psets_watch_see(void *to, const char *name, uint64_t version)
{
    struct pl_pset_seens *seens = to;
    if (pl_pset_name_check(name))
        return MPI_SUCCESS;
    char *copy = PL_VEC_RESERVE(seens, 1) ? pl_strdup(name) : NULL;
    if (!copy)
        return pl_fail_memory("the process sets that are watched");
    *PL_VEC_PUSH(seens) = (struct pl_pset_seen){ copy, version };
    return MPI_SUCCESS;
}

/* All sets of the providers whose sets may change. */
static int psets_watch_see_all_locked(struct pl_psets *psets, struct pl_pset_seens *seens)
{
    int rc = MPI_SUCCESS;
    *seens = (struct pl_pset_seens){ 0 };
    for (int i = 0; rc == MPI_SUCCESS && i < psets->slots; i++)
        if (psets->slot[i].open && psets->slot[i].ops->version)
            rc = psets->slot[i].ops->list(psets->slot[i].self, psets_watch_see, seens);
    if (rc)
        psets_watch_seens_fini(seens);
    return rc;
}

static const struct pl_pset_seen *psets_watch_find(const struct pl_pset_seens *seens, const char *name)
{
    for (size_t i = 0; i < seens->count; i++)
        if (pl_pset_name_same(seens->items[i].name, name))
            return &seens->items[i];
    return NULL;
}

/* Collects the sets of `these` that `those` lacks. `gone`: they are gone; else also those of another version. */
static int psets_watch_compare(const struct pl_pset_seens *these, const struct pl_pset_seens *those, bool gone,
                               struct pl_pset_seens *changes)
{
    int rc = MPI_SUCCESS;
    for (size_t i = 0; rc == MPI_SUCCESS && i < these->count; i++) {
        const struct pl_pset_seen *other = psets_watch_find(those, these->items[i].name);
        if (!other || (!gone && other->version != these->items[i].version))
            rc = psets_watch_see(changes, these->items[i].name, gone ? 0 : these->items[i].version);
    }
    return rc;
}

/* Takes what has changed since the last call. When memory runs out nothing is taken, and a later call finds it. */
static void psets_watch_take_changes_locked(struct pl_psets *psets, struct pl_pset_seens *changes)
{
    struct pl_pset_seens now;
    *changes = (struct pl_pset_seens){ 0 };
    if (psets_watch_see_all_locked(psets, &now))
        return;
    if (psets_watch_compare(&psets->seen, &now, true, changes) ||
        psets_watch_compare(&now, &psets->seen, false, changes)) {
        psets_watch_seens_fini(changes);
        psets_watch_seens_fini(&now);
        return;
    }
    psets_watch_seens_fini(&psets->seen);
    psets->seen = now;
}

/* --- telling ---------------------------------------------------------------------------------------------------- */

/* Calls the watcher, until it is replaced. The lock is held, and released during each call. */
static void psets_watch_tell_locked(struct pl_psets *psets, const struct pl_pset_seens *changes)
{
    const unsigned watcher = psets->watchers;
    MPI_Session session = pl_object_handle(psets->instance);
    for (size_t i = 0; i < changes->count && psets->changed && watcher == psets->watchers; i++) {
        MPIX_Session_pset_function *changed = psets->changed;
        void *context = psets->context;
        pl_lock_drop(&psets->lock);
        changed(session, changes->items[i].name, (MPI_Count)changes->items[i].version, context);
        pl_lock_take(&psets->lock);
    }
}

void pl_psets_tell(struct pl_psets *psets)
{
    struct pl_pset_seens changes;
    pl_lock_take(&psets->lock);
    if (psets->telling || !psets->changed) {
        pl_lock_drop(&psets->lock);
        return;
    }
    psets->telling = true;
    psets->teller = pthread_self();
    bool more = true;
    while (more && psets->changed) {
        psets_watch_take_changes_locked(psets, &changes);
        more = changes.count > 0;
        psets_watch_tell_locked(psets, &changes);
        psets_watch_seens_fini(&changes);
    }
    psets->telling = false;
    pl_lock_drop(&psets->lock);
}

/* --- progress --------------------------------------------------------------------------------------------------- */

/* It may be queued again while it runs. */
static void psets_watch_run_deferred(struct pl_deferred *deferred)
{
    struct pl_psets *psets = PL_CONTAINER(deferred, struct pl_psets, deferred);
    atomic_store(&psets->queued, false);
    pl_psets_tell(psets);
    pl_psets_release(psets);
}

static const struct pl_deferred_ops psets_watch_deferred = { .run = psets_watch_run_deferred };

static uint64_t psets_watch_versions(const struct pl_psets *psets)
{
    uint64_t all = 0;
    for (int i = 0; i < psets->slots; i++)
        if (psets->slot[i].ops->version)
            all = all * 31 + psets->slot[i].ops->version(psets->slot[i].self);
    return all;
}

/* The hook. All providers are open while it is installed. */
static int psets_watch_poll(struct pl_hook *hook)
{
    struct pl_psets *psets = PL_CONTAINER(hook, struct pl_psets, hook);
    uint64_t now = psets_watch_versions(psets);
    if (now == psets->noticed || atomic_exchange(&psets->queued, true))
        return 0;
    psets->noticed = now;
    atomic_fetch_add(&psets->refs, 1);
    psets->deferred.ops = &psets_watch_deferred;
    pl_list_append(&psets->instance->engine.deferred.work, &psets->deferred.link);
    return 1;
}

static void psets_watch_hook(struct pl_psets *psets, bool in)
{
    struct pl_engine *engine = &psets->instance->engine;
    pl_engine_enter(engine);
    if (in && !psets->hooked) {
        psets->hook.run = psets_watch_poll;
        psets->noticed = psets_watch_versions(psets);
        pl_list_push(&engine->hooks, &psets->hook.link);
    } else if (!in && psets->hooked) {
        pl_list_remove(&psets->hook.link);
    }
    psets->hooked = in;
    pl_engine_leave(engine);
}

/* --- beginning and ending --------------------------------------------------------------------------------------- */

static int psets_watch_begin_locked(struct pl_psets *psets, MPIX_Session_pset_function *changed, void *context)
{
    struct pl_pset_seens now;
    int rc = pl_psets_complete_locked(psets);
    for (int i = 0; rc == MPI_SUCCESS && i < psets->slots; i++)
        rc = pl_pset_slot_open(&psets->slot[i]);
    if (rc == MPI_SUCCESS)
        rc = psets_watch_see_all_locked(psets, &now);
    if (rc)
        return rc;
    psets_watch_seens_fini(&psets->seen);
    psets->seen = now;
    psets->changed = changed;
    psets->context = context;
    psets->watchers++;
    return MPI_SUCCESS;
}

/* Waits until no other thread is in a call of the watcher. */
static void psets_watch_settle(struct pl_psets *psets)
{
    struct pl_wait wait = { 0 };
    for (;;) {
        pl_lock_take(&psets->lock);
        bool settled = !psets->telling || pthread_equal(psets->teller, pthread_self());
        pl_lock_drop(&psets->lock);
        if (settled)
            return;
        pl_engine_idle(NULL, &wait);
    }
}

void pl_psets_watch_end(struct pl_psets *psets)
{
    psets_watch_hook(psets, false);
    pl_lock_take(&psets->lock);
    psets->changed = NULL;
    psets->watchers++;
    psets_watch_seens_fini(&psets->seen);
    pl_lock_drop(&psets->lock);
    psets_watch_settle(psets);
}

int pl_psets_watch(struct pl_instance *instance, MPIX_Session_pset_function *changed, void *context)
{
    struct pl_psets *psets = pl_psets_of(instance);
    if (!psets)
        return MPI_ERR_NO_MEM;
    if (!changed) {
        pl_psets_watch_end(psets);
        return MPI_SUCCESS;
    }
    pl_lock_take(&psets->lock);
    int rc = psets_watch_begin_locked(psets, changed, context);
    pl_lock_drop(&psets->lock);
    if (rc == MPI_SUCCESS)
        psets_watch_hook(psets, true);
    return rc;
}
