/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session asks about process sets: their number and names, their members, their properties. */
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
#include "sessions/psets/registry.h"
#include "sessions/psets/watch.h"

/* --- members ---------------------------------------------------------------------------------------------------- */

int pl_psets_group(struct pl_instance *instance, const char *name, struct pl_group **group)
{
    if (strcmp(name, "mpi://WORLD") == 0 || strcmp(name, "mpi://SELF") == 0) { /* these need no registry */
        bool world = name[6] == 'W';
        *group = world ? pl_instance_group_range(instance, pl_process.identity.size, PL_PROC(0, 0), 1)
                       : pl_instance_group_range(instance, 1, pl_process_self(), 1);
        return *group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    struct pl_psets *psets = pl_psets_of(instance);
    struct pl_pset_members g;
    uint64_t version;
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_psets_tell(psets);
    pl_lock_take(&psets->lock);
    int rc = pl_psets_find_locked(psets, name, &g, &version);
    pl_lock_drop(&psets->lock);
    if (rc)
        return rc;
    uint64_t *procs = pl_malloc(((size_t)g.count + 1) * sizeof *procs);
    for (int i = 0; procs && i < g.count; i++)
        procs[i] = PL_PROC(0, g.rank[i]);
    *group = procs ? pl_instance_group(instance, g.count, procs) : NULL;
    free(procs);
    pl_pset_members_fini(&g);
    return *group ? MPI_SUCCESS : pl_fail_memory("a group");
}

/* --- information ------------------------------------------------------------------------------------------------ */

static int psets_add_property(void *to, const char *key, const char *value)
{
    return pl_info_set(to, key, value);
}

static int psets_fill_info(struct pl_info *info, const struct pl_pset_members *g, uint64_t version)
{
    char text[32];
    const struct pl_pset_slot *slot = g->slot;
    int rc = slot->ops->properties ? slot->ops->properties(slot->self, g->name, psets_add_property, info) : MPI_SUCCESS;
    if (rc == PLENUM_PSET_NONE)
        rc = MPI_SUCCESS; /* it was withdrawn just now */
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
    struct pl_pset_members g;
    uint64_t version;
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_psets_tell(psets);
    *info = pl_info_create();
    if (!*info)
        return MPI_ERR_NO_MEM;
    pl_lock_take(&psets->lock);
    int rc = pl_psets_find_locked(psets, name, &g, &version);
    if (rc == MPI_SUCCESS) {
        rc = psets_fill_info(*info, &g, version);
        pl_pset_members_fini(&g);
    }
    pl_lock_drop(&psets->lock);
    if (rc)
        pl_handle_drop(*info);
    return rc;
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static int psets_number_name(void *to, const char *name, uint64_t version)
{
    struct pl_pset_slot *slot = to;
    struct pl_psets *psets = slot->psets;
    char shown[PL_PSET_SHOWN];
    (void)version;
    if (pl_pset_name_check(name)) {
        pl_log("pset", 1, "provider %s has a process set \"%s\", which is not a URI: ignored", slot->ops->name,
               pl_pset_name_show(name, shown, sizeof shown));
        return MPI_SUCCESS;
    }
    for (size_t i = 0; i < psets->names.count; i++)
        if (pl_pset_name_same(psets->names.items[i], name))
            return MPI_SUCCESS;
    char *copy = PL_VEC_RESERVE(&psets->names, 1) ? pl_strdup(name) : NULL;
    if (!copy)
        return pl_fail_memory("the names of process sets");
    *PL_VEC_PUSH(&psets->names) = copy;
    return MPI_SUCCESS;
}

/* Asks the providers that were not asked yet or have changed since. */
static int psets_list_locked(struct pl_psets *psets)
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
        rc = slot->ops->list(slot->self, psets_number_name, slot);
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
    int rc = psets_list_locked(psets);
    *count = (int)psets->names.count;
    pl_lock_drop(&psets->lock);
    return rc;
}

int pl_psets_name(struct pl_instance *instance, int n, const char **name)
{
    struct pl_psets *psets = pl_psets_of(instance);
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_lock_take(&psets->lock);
    int rc = n >= (int)psets->names.count ? psets_list_locked(psets) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && (n < 0 || n >= (int)psets->names.count))
        rc = pl_fail(MPI_ERR_ARG, "n is %d, there are %zu process sets", n, psets->names.count);
    if (rc == MPI_SUCCESS)
        *name = psets->names.items[n];
    pl_lock_drop(&psets->lock);
    return rc;
}
