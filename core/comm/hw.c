/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splitting by hardware: the kernel identifies the node, the hwloc plugin its parts. All processes take part in the
 * same exchanges, whatever each of them requests.
 */
#include "core/comm/hw.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/boot_id.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/comm/intercomm.h"
#include "core/comm/topology_hw.h"
#include "core/engine/instance.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/object/plugin.h"

#define RESOURCE_KEY "mpi_hw_resource_type"

/* --- the node ----------------------------------------------------------------------------------------------------- */

/* The same for processes that can open each other's memory: the kernel (boot id), the PID and the user namespace. */
struct node_key {
    char boot[PL_BOOT_ID_SIZE];
    uint64_t pids, users;
};

static struct node_key node_key(void)
{
    struct node_key key = { .pids = 0 };
    struct stat st;
    strcpy(key.boot, pl_boot_id());
    if (stat("/proc/self/ns/pid", &st) == 0)
        key.pids = st.st_ino;
    if (stat("/proc/self/ns/user", &st) == 0)
        key.users = st.st_ino;
    return key;
}

struct node_report {
    struct node_key key;
    uint64_t shares; /* a transport in use shares memory: not with PLENUM_TRANSPORT=ucx */
};

/* Colors: the lowest rank on the same node, and the lowest rank that shares memory with this process. */
struct node_colors {
    int node, memory;
};

static int hw_find_node(struct pl_comm *parent, struct node_colors *colors)
{
    void *self;
    struct node_report own = { .key = node_key() };
    struct node_report *all = pl_malloc((size_t)parent->size * sizeof *all);
    if (!all)
        return pl_fail_memory("the nodes of a communicator");
    own.shares = pl_engine_find_sharing(&parent->instance->engine, &self) != NULL;
    int rc = pl_allgather(parent, &own, sizeof own, PL_TYPE_BYTE, all, sizeof own, PL_TYPE_BYTE);
    colors->memory = parent->rank;
    for (int i = parent->size - 1; rc == MPI_SUCCESS && i >= 0; i--)
        if (memcmp(&all[i].key, &own.key, sizeof own.key) == 0) {
            colors->node = i;
            if (own.shares && all[i].shares)
                colors->memory = i;
        }
    free(all);
    return rc;
}

int pl_comm_node_color(struct pl_comm *parent, int *color)
{
    struct node_colors colors = { .node = 0 };
    int rc = hw_find_node(parent, &colors);
    *color = colors.node;
    return rc;
}

/* --- inside the node ---------------------------------------------------------------------------------------------- */

enum { LEVELS = 24, INDEX_BITS = 12 };

/* The resources that a process is confined to, from the node down to the smallest. */
struct path {
    int node, count;
    struct pl_topology_place place[LEVELS];
};

static void hw_read_path(struct path *path, int node)
{
    const struct pl_topology_ops *topology = pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL);
    memset(path, 0, sizeof *path);
    path->node = node;
    path->count = topology ? topology->places(path->place, LEVELS) : 0;
    if (path->count < 0)
        path->count = 0;
    if (path->count > LEVELS)
        path->count = LEVELS;
}

/* Whether the process is confined to this place. */
static bool hw_is_in(const struct path *path, int node, const struct pl_topology_place *place)
{
    bool in = false;
    for (int l = 0; l < path->count; l++)
        in |= memcmp(&path->place[l], place, sizeof *place) == 0;
    return in && path->node == node;
}

/* The level of the largest place that not all processes share; -1: they share all of them. */
static int hw_level_of(const struct path *paths, int size, const struct path *own)
{
    for (int level = 0; level < own->count; level++)
        for (int i = 0; i < size; i++)
            if (!hw_is_in(&paths[i], own->node, &own->place[level]))
                return level;
    return -1;
}

/* Processes in the same place get the same color, the lowest rank among them. Without a place `*color` stays as it is.
 * A process that does not take part has node -1. */
static int hw_unguided(struct pl_comm *parent, int node, struct pl_info *info, int *color)
{
    struct path *paths = pl_malloc((size_t)(parent->size + 1) * sizeof *paths), *own = &paths[parent->size];
    if (!paths)
        return pl_fail_memory("the resources of a communicator's processes");
    hw_read_path(own, node);
    int rc = pl_allgather(parent, own, sizeof *own, PL_TYPE_BYTE, paths, sizeof *own, PL_TYPE_BYTE);
    const char *taken = NULL;
    for (int i = 0; rc == MPI_SUCCESS && !taken && i < parent->size; i++)
        if (paths[i].node != node)
            taken = "mpi_shared_memory";
    if (taken && node >= 0)
        *color = node;
    int level = rc || taken || node < 0 ? -1 : hw_level_of(paths, parent->size, own);
    if (level >= 0) {
        taken = own->place[level].type;
        for (int i = parent->size - 1; i >= 0; i--)
            if (hw_is_in(&paths[i], node, &own->place[level]))
                *color = i;
    }
    if (taken && info && node >= 0)
        rc = pl_info_set(info, RESOURCE_KEY, taken);
    free(paths);
    return rc;
}

/* `*color` stays as it is for a type that is not known here. */
static void hw_guided(const char *type, const struct node_colors *colors, int *color)
{
    if (strcmp(type, "mpi_shared_memory") == 0) {
        *color = colors->memory;
        return;
    }
    const struct pl_topology_ops *topology = pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL);
    int index = topology ? topology->index(type) : -1;
    if (!topology)
        pl_error_clear();
    if (index >= 0)
        *color = colors->node << INDEX_BITS | index;
}

/* --- process sets ------------------------------------------------------------------------------------------------- */

/* Each process's request. Processes may name different sets, which a hash of the name (FNV-1a) identifies. */
struct wish {
    uint64_t pset; /* 0: not a member of one */
    int type;
};

static struct wish hw_wish_of(const struct pl_comm *parent, int type, const char *name, const struct pl_group *members)
{
    struct wish wish;
    memset(&wish, 0, sizeof wish);
    wish.type = type;
    if (!name || !members || pl_group_find(members, pl_group_proc(parent->group, parent->rank)) < 0)
        return wish;
    wish.pset = pl_hash_text(PL_HASH_BEGIN, name);
    return wish;
}

/* The lowest rank with the same process set, and whether any process splits unguided. */
static int hw_exchange_wishes(struct pl_comm *parent, const struct wish *own, int *color, bool *any_unguided)
{
    struct wish *all = pl_malloc((size_t)parent->size * sizeof *all);
    if (!all)
        return pl_fail_memory("the split types of a communicator's processes");
    int rc = pl_allgather(parent, own, sizeof *own, PL_TYPE_BYTE, all, sizeof *own, PL_TYPE_BYTE);
    for (int i = parent->size - 1; rc == MPI_SUCCESS && i >= 0; i--) {
        if (own->pset && all[i].pset == own->pset)
            *color = i;
        *any_unguided |= all[i].type == MPI_COMM_TYPE_HW_UNGUIDED;
    }
    free(all);
    return rc;
}

/* --- all types ---------------------------------------------------------------------------------------------------- */

/* Processes with the same color belong together. An error may be of one process alone. */
static int hw_find_color(struct pl_comm *parent, int type, struct pl_info *info, const char *pset,
                         const struct pl_group *members, int *color)
{
    struct wish wish = hw_wish_of(parent, type, pset, members);
    struct node_colors colors = { .node = 0 };
    bool any_unguided = false;
    int rc = hw_find_node(parent, &colors);
    if (rc == MPI_SUCCESS)
        rc = hw_exchange_wishes(parent, &wish, color, &any_unguided);
    if (rc)
        return rc;
    if (any_unguided)
        rc = hw_unguided(parent, type == MPI_COMM_TYPE_HW_UNGUIDED ? colors.memory : -1, info, color);
    char *resource = NULL;
    rc = rc ? rc : pl_info_get(info, RESOURCE_KEY, &resource);
    bool is_guided = type == MPI_COMM_TYPE_HW_GUIDED || type == MPI_COMM_TYPE_RESOURCE_GUIDED;
    if (type == MPI_COMM_TYPE_SHARED)
        *color = colors.memory;
    else if (is_guided && resource && pset)
        rc = pl_fail(MPI_ERR_INFO, RESOURCE_KEY " and mpi_pset_name are both given; only one of them may be");
    else if (is_guided && resource)
        hw_guided(resource, &colors, color);
    free(resource);
    return rc;
}

/* The processes of both groups of an intercommunicator find their colors together. */
int pl_comm_split_type(struct pl_comm *parent, int type, int key, struct pl_info *info, const char *pset,
                       const struct pl_group *members, struct pl_comm **comm)
{
    int color = MPI_UNDEFINED;
    struct pl_comm *all = parent;
    int rc = parent->inter.remote ? pl_intercomm_merge(parent, 0, &all) : MPI_SUCCESS;
    if (rc)
        return rc;
    rc = hw_find_color(all, type, info, pset, members, &color);
    if (all != parent)
        pl_comm_free(all);
    /* An error of one process alone must not leave the others waiting. */
    int split = pl_comm_split(parent, rc ? MPI_UNDEFINED : color, key, comm);
    return rc ? rc : split;
}
