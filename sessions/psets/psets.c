/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of process sets: which provider has a name, what it says, and the numbers of the names. */
#include "sessions/psets/psets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/job/process.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/object/plugin.h"
#include "sessions/psets/registry.h"

enum { DEPTH_MAX = 32, SHOWN = 80 };

/* --- providers -------------------------------------------------------------------------------------------------- */

static int host_members(const struct plenum_pset_host *host, const char *name, plenum_pset_range_function *range,
                        void *to);
static const char *host_holder(const struct plenum_pset_host *host, const char *name);

static int host_same(const char *a, const char *b)
{
    return pl_pset_name_same(a, b);
}

static void psets_host_log(int level, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pl_log("pset", level, "%s", text);
}

static void add_slot(struct pl_psets *psets, const struct plenum_pset_provider *ops)
{
    struct pl_pset_slot *slot = &psets->slot[psets->slots++];
    *slot = (struct pl_pset_slot){
        .host = {
            .abi = PLENUM_PSET_ABI,
            .rank = pl_process.place.rank,
            .size = pl_process.place.size,
            .job = pl_process.place.nspace,
            .fail = pl_fail,
            .log = psets_host_log,
            .same = host_same,
            .members = host_members,
            .holder = host_holder,
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

/* A plugin may not take a scheme that somebody has. */
static int check_scheme(const struct pl_psets *psets, const struct plenum_pset_provider *ops, const char *plugin)
{
    char name[64];
    for (int i = 0; ops->scheme && i < psets->slots; i++) {
        snprintf(name, sizeof name, "%s://x", ops->scheme);
        const char *taken = psets->slot[i].ops->scheme;
        if (taken && pl_pset_name_has_scheme(name, taken))
            return pl_fail(MPI_ERR_ARG,
                           "PLENUM_PSET_PROVIDERS: %s has process sets %s://..., which belong to the provider %s",
                           plugin, ops->scheme, psets->slot[i].ops->name);
    }
    return MPI_SUCCESS;
}

static int load_plugin(struct pl_psets *psets, const char *name, size_t length)
{
    char plugin[64];
    if (length == 0 || length >= sizeof plugin || memchr(name, '/', length))
        return pl_fail(MPI_ERR_ARG,
                       "PLENUM_PSET_PROVIDERS is \"%.80s\": it must be a list, with commas, of names of plugins",
                       pl_config_text("pset_providers"));
    snprintf(plugin, sizeof plugin, "%.*s", (int)length, name);
    if (psets->slots == PL_PSET_SLOTS - 1)
        return pl_fail(MPI_ERR_ARG, "PLENUM_PSET_PROVIDERS names more providers than the %d that there can be",
                       PL_PSET_SLOTS - 6);
    const struct plenum_pset_provider *ops = pl_plugin_load(plugin, PLENUM_PSET_SYMBOL);
    if (!ops) {
        int class = MPI_ERR_OTHER;
        pl_error_detail(&class);
        return class;
    }
    int rc = check_scheme(psets, ops, plugin);
    if (rc == MPI_SUCCESS)
        add_slot(psets, ops);
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
        int rc = load_plugin(psets, at, length);
        if (rc) {
            psets->slots = before; /* none of them is open yet */
            return rc;
        }
        at += length;
        at += *at == ',';
    }
    add_slot(psets, &pl_psets_app);
    psets->complete = true;
    return MPI_SUCCESS;
}

/* --- life ------------------------------------------------------------------------------------------------------- */

static struct pl_psets *psets_create(struct pl_instance *instance)
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
    add_slot(psets, &pl_psets_builtin);
    add_slot(psets, &pl_psets_node);
    add_slot(psets, &pl_psets_hwloc);
    add_slot(psets, &pl_psets_launcher);
    add_slot(psets, &pl_psets_json);
    return psets;
}

struct pl_psets *pl_psets_of(struct pl_instance *instance)
{
    struct pl_psets *psets = atomic_load(&instance->psets), *nobody = NULL;
    if (psets)
        return psets;
    psets = psets_create(instance);
    if (psets && !atomic_compare_exchange_strong(&instance->psets, &nobody, psets)) {
        pl_psets_release(psets);
        psets = nobody;
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

/* The registry itself may be needed for a moment yet by a thread that is about to tell the watcher. */
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
    for (int i = 0; i < psets->names; i++)
        free(psets->name[i]);
    free(psets->name);
    pl_lock_drop(&psets->lock);
    pl_psets_release(psets);
}

/* --- members ---------------------------------------------------------------------------------------------------- */

/* What a provider says about a set; ranks that come again are taken once. */
struct gathered {
    const struct pl_pset_slot *slot;
    const char *name;
    int *rank; /* [count] */
    int count, room;
    unsigned char *is_in; /* [size]; made with the first member */
};

static int psets_gather(void *to, int first, int last)
{
    struct gathered *g = to;
    char shown[SHOWN];
    int size = g->slot->host.size;
    if (first < 0 || last < first || last >= size)
        return pl_fail(MPI_ERR_ARG,
                       "provider %s says that ranks %d to %d are in process set \"%s\", the job has %d processes",
                       g->slot->ops->name, first, last, pl_pset_name_show(g->name, shown, sizeof shown), size);
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

static void gathered_fini(struct gathered *g)
{
    free(g->rank);
    free(g->is_in);
}

/* Asks the providers that may have the name, up to the slot `end`, and gathers the members with the first that has it.
 * PLENUM_PSET_NONE: nobody has. */
static int psets_find_locked(struct pl_psets *psets, const char *name, int end, struct gathered *g, uint64_t *version)
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
        bool asked = only >= 0 ? i == only : !slot->ops->scheme || pl_pset_name_has_scheme(name, slot->ops->scheme);
        if (!asked)
            continue;
        *g = (struct gathered){ .slot = slot, .name = name };
        *version = 0;
        rc = pl_pset_slot_open(slot);
        if (rc == MPI_SUCCESS)
            rc = slot->ops->members(slot->self, name, version, psets_gather, g);
        if (rc)
            gathered_fini(g);
    }
    return rc;
}

static int fail_none(const char *name)
{
    char shown[SHOWN];
    const char *wrong = pl_pset_name_check(name);
    pl_pset_name_show(name, shown, sizeof shown);
    if (wrong)
        return pl_fail(MPI_ERR_ARG, "\"%s\" is no name of a process set: it %s", shown, wrong);
    return pl_fail(MPI_ERR_ARG, "there is no process set \"%s\"; plenum-info psets lists those of a job", shown);
}

static int find_checked_locked(struct pl_psets *psets, const char *name, struct gathered *g, uint64_t *version)
{
    int rc = pl_pset_name_check(name) ? PLENUM_PSET_NONE : psets_find_locked(psets, name, PL_PSET_SLOTS, g, version);
    return rc == PLENUM_PSET_NONE ? fail_none(name) : rc;
}

static int host_members(const struct plenum_pset_host *host, const char *name, plenum_pset_range_function *range,
                        void *to)
{
    struct pl_psets *psets = PL_CONTAINER(host, struct pl_pset_slot, host)->psets;
    struct gathered g;
    uint64_t version;
    if (psets->depth == DEPTH_MAX)
        return pl_fail(MPI_ERR_ARG, "process set \"%.80s\" needs more than %d others, or itself", name, DEPTH_MAX);
    psets->depth++;
    int rc = find_checked_locked(psets, name, &g, &version);
    psets->depth--;
    if (rc)
        return rc;
    for (int i = 0; rc == MPI_SUCCESS && i < g.count; i++)
        rc = range(to, g.rank[i], g.rank[i]);
    gathered_fini(&g);
    return rc;
}

static const char *host_holder(const struct plenum_pset_host *host, const char *name)
{
    struct pl_pset_slot *slot = PL_CONTAINER(host, struct pl_pset_slot, host);
    struct pl_psets *psets = slot->psets;
    struct gathered g;
    uint64_t version;
    for (int i = 0; i < psets->slots; i++)
        if (psets->slot[i].ops->scheme && pl_pset_name_has_scheme(name, psets->slot[i].ops->scheme))
            return psets->slot[i].ops->name;
    if (psets_find_locked(psets, name, (int)(slot - psets->slot), &g, &version) != MPI_SUCCESS)
        return NULL;
    const char *holder = g.slot->ops->name;
    gathered_fini(&g);
    return holder;
}

int pl_psets_group(struct pl_instance *instance, const char *name, struct pl_group **group)
{
    if (strcmp(name, "mpi://WORLD") == 0 || strcmp(name, "mpi://SELF") == 0) { /* the usual ones need no registry */
        bool world = name[6] == 'W';
        *group = world ? pl_instance_group_range(instance, pl_process.place.size, PL_PROC(0, 0), 1)
                       : pl_instance_group_range(instance, 1, pl_process_self(), 1);
        return *group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    struct pl_psets *psets = pl_psets_of(instance);
    struct gathered g;
    uint64_t version;
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_psets_tell(psets);
    pl_lock_take(&psets->lock);
    int rc = find_checked_locked(psets, name, &g, &version);
    pl_lock_drop(&psets->lock);
    if (rc)
        return rc;
    uint64_t *procs = pl_malloc(((size_t)g.count + 1) * sizeof *procs);
    for (int i = 0; procs && i < g.count; i++)
        procs[i] = PL_PROC(0, g.rank[i]);
    *group = procs ? pl_instance_group(instance, g.count, procs) : NULL;
    free(procs);
    gathered_fini(&g);
    return *group ? MPI_SUCCESS : pl_fail_memory("a group");
}

/* --- information ------------------------------------------------------------------------------------------------ */

static int add_property(void *to, const char *key, const char *value)
{
    return pl_info_set(to, key, value);
}

static int fill_info(struct pl_info *info, const struct gathered *g, uint64_t version)
{
    char text[32];
    const struct pl_pset_slot *slot = g->slot;
    int rc = slot->ops->properties ? slot->ops->properties(slot->self, g->name, add_property, info) : MPI_SUCCESS;
    if (rc == PLENUM_PSET_NONE)
        rc = MPI_SUCCESS; /* it went just now */
    snprintf(text, sizeof text, "%d", g->count);
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(info, "mpi_size", text);
    if (rc == MPI_SUCCESS)
        rc = pl_info_set(info, "plenum_provider", slot->ops->name);
    snprintf(text, sizeof text, "%" PRIu64, version);
    return rc ? rc : pl_info_set(info, "plenum_version", text);
}

int pl_psets_info(struct pl_instance *instance, const char *name, struct pl_info **info)
{
    struct pl_psets *psets = pl_psets_of(instance);
    struct gathered g;
    uint64_t version;
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_psets_tell(psets);
    *info = pl_info_create();
    if (!*info)
        return MPI_ERR_NO_MEM;
    pl_lock_take(&psets->lock);
    int rc = find_checked_locked(psets, name, &g, &version);
    if (rc == MPI_SUCCESS) {
        rc = fill_info(*info, &g, version);
        gathered_fini(&g);
    }
    pl_lock_drop(&psets->lock);
    if (rc)
        pl_handle_drop(*info);
    return rc;
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static int number_name(void *to, const char *name, uint64_t version)
{
    struct pl_pset_slot *slot = to;
    struct pl_psets *psets = slot->psets;
    char shown[SHOWN];
    (void)version;
    if (pl_pset_name_check(name)) {
        pl_log("pset", 1, "provider %s has a process set \"%s\", which is no URI: left out", slot->ops->name,
               pl_pset_name_show(name, shown, sizeof shown));
        return MPI_SUCCESS;
    }
    for (int i = 0; i < psets->names; i++)
        if (pl_pset_name_same(psets->name[i], name))
            return MPI_SUCCESS;
    char **grown = pl_realloc(psets->name, ((size_t)psets->names + 1) * sizeof *grown);
    if (grown)
        psets->name = grown;
    char *own = grown ? pl_strdup(name) : NULL;
    if (!own)
        return pl_fail_memory("the names of process sets");
    psets->name[psets->names++] = own;
    return MPI_SUCCESS;
}

/* Asks those that were not asked yet or have changed. */
static int list_locked(struct pl_psets *psets)
{
    int rc = pl_psets_complete_locked(psets);
    for (int i = 0; rc == MPI_SUCCESS && i < psets->slots; i++) {
        struct pl_pset_slot *slot = &psets->slot[i];
        rc = pl_pset_slot_open(slot);
        if (rc)
            break;
        uint64_t now = slot->ops->version ? slot->ops->version(slot->self) : 0;
        if (slot->listed && slot->listed_at == now)
            continue;
        rc = slot->ops->list(slot->self, number_name, slot);
        slot->listed = rc == MPI_SUCCESS;
        slot->listed_at = now;
    }
    return rc;
}

int pl_psets_count(struct pl_instance *instance, int *count)
{
    struct pl_psets *psets = pl_psets_of(instance);
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_psets_tell(psets);
    pl_lock_take(&psets->lock);
    int rc = list_locked(psets);
    *count = psets->names;
    pl_lock_drop(&psets->lock);
    return rc;
}

int pl_psets_name(struct pl_instance *instance, int n, const char **name)
{
    struct pl_psets *psets = pl_psets_of(instance);
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_lock_take(&psets->lock);
    int rc = n >= psets->names ? list_locked(psets) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && (n < 0 || n >= psets->names))
        rc = pl_fail(MPI_ERR_ARG, "n is %d, there are %d process sets", n, psets->names);
    if (rc == MPI_SUCCESS)
        *name = psets->name[n];
    pl_lock_drop(&psets->lock);
    return rc;
}
