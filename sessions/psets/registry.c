/* SPDX-License-Identifier: BSD-3-Clause */
/* The providers of an instance and their order, and how a name is looked up among them. */
#include "sessions/psets/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/job/process.h"
#include "core/object/plugin.h"
#include "sessions/psets/watch.h"

enum { DEPTH_MAX = 32 /* of sets that are made of other sets */ };

/* --- providers -------------------------------------------------------------------------------------------------- */

static int registry_host_members(const struct plenum_pset_host *host, const char *name,
                                 plenum_pset_range_function *range, void *to);
static const char *registry_host_holder(const struct plenum_pset_host *host, const char *name);

static int registry_host_same(const char *a, const char *b)
{
    return pl_pset_name_same(a, b);
}

static void registry_host_log(int level, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pl_log("pset", level, "%s", text);
}

static void registry_add_provider(struct pl_psets *psets, const struct plenum_pset_provider *ops)
{
    struct pl_pset_slot *slot = &psets->slot[psets->slots++];
    *slot = (struct pl_pset_slot){
        .host = {
            .abi = PLENUM_PSET_ABI,
            .rank = pl_process.identity.rank,
            .size = pl_process.identity.size,
            .job = pl_process.identity.nspace,
            .fail = pl_fail,
            .log = registry_host_log,
            .same = registry_host_same,
            .members = registry_host_members,
            .holder = registry_host_holder,
        },
        .psets = psets,
        .ops = ops,
    };
}

int pl_pset_slot_open(struct pl_pset_slot *slot)
{
    if (slot->open)
        return MPI_SUCCESS;
    int rc = slot->ops->open(&slot->host, &slot->self);
    slot->open = rc == MPI_SUCCESS;
    return rc;
}

/* A plugin may not take a scheme of another provider. */
static int registry_check_scheme(const struct pl_psets *psets, const struct plenum_pset_provider *ops,
                                 const char *plugin)
{
    char name[64];
    for (int i = 0; ops->scheme && i < psets->slots; i++) {
        snprintf(name, sizeof name, "%s://x", ops->scheme);
        const char *taken = psets->slot[i].ops->scheme;
        if (taken && pl_pset_name_has_scheme(name, taken))
            return pl_fail(MPI_ERR_ARG,
                           "PLENUM_PSET_PROVIDERS: %s has the scheme %s://, which belongs to the provider %s", plugin,
                           ops->scheme, psets->slot[i].ops->name);
    }
    return MPI_SUCCESS;
}

static int registry_load_plugin(struct pl_psets *psets, const char *name, size_t length)
{
    char plugin[64];
    if (length == 0 || length >= sizeof plugin || memchr(name, '/', length))
        return pl_fail(MPI_ERR_ARG,
                       "PLENUM_PSET_PROVIDERS is \"%.80s\": it must be a list of names of plugins, separated by commas",
                       pl_config_text("pset_providers"));
    snprintf(plugin, sizeof plugin, "%.*s", (int)length, name);
    if (psets->slots == PL_PSET_SLOTS - 1)
        return pl_fail(MPI_ERR_ARG, "PLENUM_PSET_PROVIDERS names more providers than the %d that are allowed",
                       PL_PSET_SLOTS - 6);
    const struct plenum_pset_provider *ops = pl_plugin_load(plugin, PLENUM_PSET_SYMBOL);
    if (!ops) {
        int class = MPI_ERR_OTHER;
        pl_error_detail(&class);
        return class;
    }
    int rc = registry_check_scheme(psets, ops, plugin);
    if (rc == MPI_SUCCESS)
        registry_add_provider(psets, ops);
    return rc;
}

int pl_psets_complete_locked(struct pl_psets *psets)
{
    const int before = psets->slots;
    if (psets->complete)
        return MPI_SUCCESS;
    const char *list = pl_config_text("pset_providers");
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        int rc = registry_load_plugin(psets, at, length);
        if (rc) {
            psets->slots = before; /* none of the new ones is open yet */
            return rc;
        }
        at += length;
        at += *at == ',';
    }
    registry_add_provider(psets, &pl_psets_app);
    psets->complete = true;
    return MPI_SUCCESS;
}

/* --- life ------------------------------------------------------------------------------------------------------- */

static struct pl_psets *registry_create(struct pl_instance *instance)
{
    struct pl_psets *psets = pl_calloc(1, sizeof *psets);
    if (!psets) {
        pl_fail_memory("the process sets of a session");
        return NULL;
    }
    pl_lock_init(&psets->lock, PL_RANK_REGISTRY, true);
    atomic_init(&psets->refs, 1);
    psets->instance = instance;
    pl_list_init(&psets->hook.link);
    pl_list_init(&psets->deferred.link);
    registry_add_provider(psets, &pl_psets_builtin);
    registry_add_provider(psets, &pl_psets_node);
    registry_add_provider(psets, &pl_psets_hwloc);
    registry_add_provider(psets, &pl_psets_launcher);
    registry_add_provider(psets, &pl_psets_json);
    return psets;
}

struct pl_psets *pl_psets_of(struct pl_instance *instance)
{
    struct pl_psets *psets = atomic_load(&instance->psets), *expected = NULL;
    if (psets)
        return psets;
    psets = registry_create(instance);
    if (psets && !atomic_compare_exchange_strong(&instance->psets, &expected, psets)) {
        pl_psets_release(psets);
        psets = expected;
    }
    return psets;
}

void pl_psets_release(struct pl_psets *psets)
{
    if (atomic_fetch_sub(&psets->refs, 1) > 1)
        return;
    pl_lock_fini(&psets->lock);
    free(psets);
}

/* A thread that is about to call the watcher may still hold a reference to the registry. */
void pl_psets_close(struct pl_instance *instance)
{
    struct pl_psets *psets = atomic_exchange(&instance->psets, NULL);
    if (!psets)
        return;
    pl_psets_watch_end(psets);
    pl_lock_take(&psets->lock);
    for (int i = 0; i < psets->slots; i++)
        if (psets->slot[i].open)
            psets->slot[i].ops->close(psets->slot[i].self);
    for (size_t i = 0; i < psets->names.count; i++)
        free(psets->names.items[i]);
    PL_VEC_FINI(&psets->names);
    pl_lock_drop(&psets->lock);
    pl_psets_release(psets);
}

/* --- members ---------------------------------------------------------------------------------------------------- */

static int registry_add_range(void *to, int first, int last)
{
    struct pl_pset_members *g = to;
    char shown[PL_PSET_SHOWN];
    int size = g->slot->host.size;
    if (first < 0 || last < first || last >= size)
        return pl_fail(MPI_ERR_ARG,
                       "provider %s gives process set \"%s\" the ranks %d to %d, but the job has %d processes",
                       g->slot->ops->name, pl_pset_name_show(g->name, shown, sizeof shown), first, last, size);
    if (!g->is_in) {
        g->is_in = pl_calloc((size_t)size, 1);
        g->rank = pl_malloc((size_t)size * sizeof *g->rank);
    }
    if (!g->is_in || !g->rank)
        return pl_fail_memory("the members of a process set");
    for (int r = first; r <= last; r++) {
        if (!g->is_in[r])
            g->rank[g->count++] = r;
        g->is_in[r] = 1;
    }
    return MPI_SUCCESS;
}

void pl_pset_members_fini(struct pl_pset_members *g)
{
    free(g->rank);
    free(g->is_in);
}

/* Asks the providers that may have the name, up to the slot `end`, and takes the members from the first that has it.
 * PLENUM_PSET_NONE: no provider has it. */
static int registry_find_locked(struct pl_psets *psets, const char *name, int end, struct pl_pset_members *g,
                                uint64_t *version)
{
    int only = -1, rc = PLENUM_PSET_NONE;
    for (int i = 0; i < psets->slots; i++)
        if (psets->slot[i].ops->scheme && pl_pset_name_has_scheme(name, psets->slot[i].ops->scheme))
            only = i;
    if (only < 0 && (rc = pl_psets_complete_locked(psets)))
        return rc;
    rc = PLENUM_PSET_NONE;
    for (int i = 0; rc == PLENUM_PSET_NONE && i < (end < psets->slots ? end : psets->slots); i++) {
        struct pl_pset_slot *slot = &psets->slot[i];
        bool matches = only >= 0 ? i == only : !slot->ops->scheme || pl_pset_name_has_scheme(name, slot->ops->scheme);
        if (!matches)
            continue;
        *g = (struct pl_pset_members){ .slot = slot, .name = name };
        *version = 0;
        rc = pl_pset_slot_open(slot);
        if (rc == MPI_SUCCESS)
            rc = slot->ops->members(slot->self, name, version, registry_add_range, g);
        if (rc)
            pl_pset_members_fini(g);
    }
    return rc;
}

static int registry_fail_unknown(const char *name)
{
    char shown[PL_PSET_SHOWN];
    const char *wrong = pl_pset_name_check(name);
    pl_pset_name_show(name, shown, sizeof shown);
    if (wrong)
        return pl_fail(MPI_ERR_ARG, "\"%s\" is not a name of a process set: it %s", shown, wrong);
    return pl_fail(MPI_ERR_ARG, "there is no process set \"%s\"; plenum-info psets lists those of a job", shown);
}

int pl_psets_find_locked(struct pl_psets *psets, const char *name, struct pl_pset_members *g, uint64_t *version)
{
    int rc = pl_pset_name_check(name) ? PLENUM_PSET_NONE : registry_find_locked(psets, name, PL_PSET_SLOTS, g, version);
    return rc == PLENUM_PSET_NONE ? registry_fail_unknown(name) : rc;
}

static int registry_host_members(const struct plenum_pset_host *host, const char *name,
                                 plenum_pset_range_function *range, void *to)
{
    struct pl_psets *psets = PL_CONTAINER(host, struct pl_pset_slot, host)->psets;
    struct pl_pset_members g;
    uint64_t version;
    if (psets->depth == DEPTH_MAX)
        return pl_fail(MPI_ERR_ARG, "process set \"%.80s\" depends on more than %d others, or on itself", name,
                       DEPTH_MAX);
    psets->depth++;
    int rc = pl_psets_find_locked(psets, name, &g, &version);
    psets->depth--;
    if (rc)
        return rc;
    for (int i = 0; rc == MPI_SUCCESS && i < g.count; i++)
        rc = range(to, g.rank[i], g.rank[i]);
    pl_pset_members_fini(&g);
    return rc;
}

static const char *registry_host_holder(const struct plenum_pset_host *host, const char *name)
{
    struct pl_pset_slot *slot = PL_CONTAINER(host, struct pl_pset_slot, host);
    struct pl_psets *psets = slot->psets;
    struct pl_pset_members g;
    uint64_t version;
    for (int i = 0; i < psets->slots; i++)
        if (psets->slot[i].ops->scheme && pl_pset_name_has_scheme(name, psets->slot[i].ops->scheme))
            return psets->slot[i].ops->name;
    if (registry_find_locked(psets, name, (int)(slot - psets->slot), &g, &version) != MPI_SUCCESS)
        return NULL;
    const char *holder = g.slot->ops->name;
    pl_pset_members_fini(&g);
    return holder;
}
