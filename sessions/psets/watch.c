/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watching process sets. Progress compares the providers' versions (the hook, a few loads); when they are others than
 * before, a chore, which runs without the engine's lock, compares the sets themselves and calls the watcher.
 *
 * One thread at a time calls it, so that changes are told in their order; whoever finds it at work leaves the rest to
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/engine/wait.h"
#include "sessions/psets/registry.h"

/* --- what there is to see --------------------------------------------------------------------------------------- */

static void seens_fini(struct pl_pset_seens *seens)
{
    for (int i = 0; i < seens->count; i++)
        free(seens->set[i].name);
    free(seens->set);
    *seens = (struct pl_pset_seens){ .count = 0 };
}

static int psets_watch_see(void *to, const char *name, uint64_t version)
{
    struct pl_pset_seens *seens = to;
    if (pl_pset_name_check(name))
        return MPI_SUCCESS;
    struct pl_pset_seen *grown = pl_realloc(seens->set, ((size_t)seens->count + 1) * sizeof *grown);
    if (grown)
        seens->set = grown;
    char *own = grown ? pl_strdup(name) : NULL;
    if (!own)
        return pl_fail_memory("the process sets that are watched");
    seens->set[seens->count++] = (struct pl_pset_seen){ own, version };
    return MPI_SUCCESS;
}

/* All sets of the providers whose sets may change. */
static int see_all_locked(struct pl_psets *psets, struct pl_pset_seens *seens)
{
    int rc = MPI_SUCCESS;
    *seens = (struct pl_pset_seens){ .count = 0 };
    for (int i = 0; rc == MPI_SUCCESS && i < psets->slots; i++)
        if (psets->slot[i].open && psets->slot[i].ops->version)
            rc = psets->slot[i].ops->list(psets->slot[i].self, psets_watch_see, seens);
    if (rc)
        seens_fini(seens);
    return rc;
}

static const struct pl_pset_seen *psets_watch_find(const struct pl_pset_seens *seens, const char *name)
{
    for (int i = 0; i < seens->count; i++)
        if (pl_pset_name_same(seens->set[i].name, name))
            return &seens->set[i];
    return NULL;
}

/* What is in one and not, or of another version, in the other; `gone`: told as gone. */
static int psets_watch_compare(const struct pl_pset_seens *these, const struct pl_pset_seens *those, bool gone,
                               struct pl_pset_seens *changes)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < these->count; i++) {
        const struct pl_pset_seen *other = psets_watch_find(those, these->set[i].name);
        if (!other || (!gone && other->version != these->set[i].version))
            rc = psets_watch_see(changes, these->set[i].name, gone ? 0 : these->set[i].version);
    }
    return rc;
}

/* What has changed since it was told last, which is now; nothing when memory is short: then later. */
static void take_changes_locked(struct pl_psets *psets, struct pl_pset_seens *changes)
{
    struct pl_pset_seens now;
    *changes = (struct pl_pset_seens){ .count = 0 };
    if (see_all_locked(psets, &now))
        return;
    if (psets_watch_compare(&psets->seen, &now, true, changes) ||
        psets_watch_compare(&now, &psets->seen, false, changes)) {
        seens_fini(changes);
        seens_fini(&now);
        return;
    }
    seens_fini(&psets->seen);
    psets->seen = now;
}

/* --- telling ---------------------------------------------------------------------------------------------------- */

/* Calls the watcher, as long as it is this one. Lock held, and given up for each call. */
static void tell_locked(struct pl_psets *psets, const struct pl_pset_seens *changes)
{
    const unsigned watcher = psets->watchers;
    MPI_Session session = pl_object_handle(psets->instance);
    for (int i = 0; i < changes->count && psets->changed && watcher == psets->watchers; i++) {
        MPIX_Session_pset_function *changed = psets->changed;
        void *context = psets->context;
        pl_lock_drop(&psets->lock);
        changed(session, changes->set[i].name, (MPI_Count)changes->set[i].version, context);
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
        take_changes_locked(psets, &changes);
        more = changes.count > 0;
        tell_locked(psets, &changes);
        seens_fini(&changes);
    }
    psets->telling = false;
    pl_lock_drop(&psets->lock);
}

/* --- progress --------------------------------------------------------------------------------------------------- */

/* The chore may be queued again while it runs. */
static void psets_watch_run_deferred(struct pl_deferred *deferred)
{
    struct pl_psets *psets = PL_CONTAINER(deferred, struct pl_psets, deferred);
    atomic_store(&psets->queued, false);
    pl_psets_tell(psets);
    pl_psets_release(psets);
}

static uint64_t psets_watch_versions(const struct pl_psets *psets)
{
    uint64_t all = 0;
    for (int i = 0; i < psets->slots; i++)
        if (psets->slot[i].ops->version)
            all = all * 31 + psets->slot[i].ops->version(psets->slot[i].self);
    return all;
}

/* All providers were opened before it was hooked in, and are closed after it was taken out. */
static int psets_watch_look(struct pl_hook *hook)
{
    struct pl_psets *psets = PL_CONTAINER(hook, struct pl_psets, hook);
    uint64_t now = psets_watch_versions(psets);
    if (now == psets->noticed || atomic_exchange(&psets->queued, true))
        return 0;
    psets->noticed = now;
    atomic_fetch_add(&psets->refs, 1);
    psets->deferred.run = psets_watch_run_deferred;
    pl_list_append(&psets->instance->engine.deferred.work, &psets->deferred.link);
    return 1;
}

static void hook_in(struct pl_psets *psets, bool in)
{
    struct pl_engine *engine = &psets->instance->engine;
    pl_engine_enter(engine);
    if (in && !psets->hooked) {
        psets->hook.run = psets_watch_look;
        psets->noticed = psets_watch_versions(psets);
        pl_list_append(&engine->hooks, &psets->hook.link);
    } else if (!in && psets->hooked) {
        pl_list_remove(&psets->hook.link);
    }
    psets->hooked = in;
    pl_engine_leave(engine);
}

/* --- beginning and ending --------------------------------------------------------------------------------------- */

static int begin_locked(struct pl_psets *psets, MPIX_Session_pset_function *changed, void *context)
{
    struct pl_pset_seens now;
    int rc = pl_psets_complete_locked(psets);
    for (int i = 0; rc == MPI_SUCCESS && i < psets->slots; i++)
        rc = pl_pset_slot_open(&psets->slot[i]);
    if (rc == MPI_SUCCESS)
        rc = see_all_locked(psets, &now);
    if (rc)
        return rc;
    seens_fini(&psets->seen);
    psets->seen = now;
    psets->changed = changed;
    psets->context = context;
    psets->watchers++;
    return MPI_SUCCESS;
}

/* No call is under way any more, but for one of this very thread. */
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
    hook_in(psets, false);
    pl_lock_take(&psets->lock);
    psets->changed = NULL;
    psets->watchers++;
    seens_fini(&psets->seen);
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
    int rc = begin_locked(psets, changed, context);
    pl_lock_drop(&psets->lock);
    if (rc == MPI_SUCCESS)
        hook_in(psets, true);
    return rc;
}
