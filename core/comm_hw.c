/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting by hardware: the node by what the kernel tells, what is inside it by the hwloc plugin. */
#include "core/comm_hw.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/collective.h"
#include "core/comm_make.h"
#include "core/error.h"
#include "core/info.h"
#include "core/memory.h"
#include "core/plugin.h"
#include "core/topology_hw.h"

#define RESOURCE_KEY "mpi_hw_resource_type"

/* --- the node ------------------------------------------------------------------------------------------------------- */

/* What processes that can open each other's memory have in common: the kernel (boot id) and the PID namespace. */
struct node_key {
    char boot[40];
    uint64_t pids;
};

static struct node_key node_key(void)
{
    struct node_key key = { .pids = 0 };
    struct stat st;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, key.boot, sizeof key.boot - 1);
        key.boot[got > 0 ? got : 0] = '\0';
        close(fd);
    }
    if (stat("/proc/self/ns/pid", &st) == 0)
        key.pids = st.st_ino;
    return key;
}

int pl_comm_node_color(struct pl_comm *parent, int *color)
{
    struct node_key own = node_key();
    struct node_key *keys = pl_malloc((size_t)parent->size * sizeof *keys);
    if (!keys)
        return pl_fail_memory("the nodes of a communicator");
    int rc = pl_allgather(parent, &own, sizeof own, PL_TYPE_BYTE, keys, sizeof own, PL_TYPE_BYTE);
    for (int i = parent->size - 1; rc == MPI_SUCCESS && i >= 0; i--)
        if (memcmp(&keys[i], &own, sizeof own) == 0)
            *color = i;
    free(keys);
    return rc;
}

/* --- inside the node -------------------------------------------------------------------------------------------------- */

enum { LEVELS = 24, INDEX_BITS = 12 };

/* The resources that a process is confined to, from the node down to the smallest. */
struct path {
    int node, count;
    struct pl_topology_place place[LEVELS];
};

static void read_path(struct path *path, int node)
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

/* Are all processes in the same instance of this type? */
static bool all_in(const struct path *paths, int size, const struct path *own, int level)
{
    for (int i = 0; i < size; i++) {
        bool same = false;
        for (int l = 0; l < paths[i].count; l++)
            same |= memcmp(&paths[i].place[l], &own->place[level], sizeof own->place[level]) == 0;
        if (!same)
            return false;
    }
    return true;
}

/* The largest resource that not all share; MPI_UNDEFINED: there is none. */
static int unguided(struct pl_comm *parent, int node, struct pl_info *info, int *color)
{
    struct path *paths = pl_malloc((size_t)(parent->size + 1) * sizeof *paths), *own = &paths[parent->size];
    if (!paths)
        return pl_fail_memory("the resources of a communicator's processes");
    read_path(own, node);
    int rc = pl_allgather(parent, own, sizeof *own, PL_TYPE_BYTE, paths, sizeof *own, PL_TYPE_BYTE);
    const char *taken = NULL;
    for (int i = 0; rc == MPI_SUCCESS && !taken && i < parent->size; i++)
        if (paths[i].node != node)
            taken = "mpi_shared_memory";
    if (taken)
        *color = node;
    for (int level = 0; rc == MPI_SUCCESS && !taken && level < own->count; level++)
        if (!all_in(paths, parent->size, own, level)) {
            taken = own->place[level].type;
            *color = node << INDEX_BITS | own->place[level].index;
        }
    if (taken && info)
        rc = pl_info_set(info, RESOURCE_KEY, taken);
    free(paths);
    return rc;
}

static int guided(const char *type, int node, int *color)
{
    if (strcmp(type, "mpi_shared_memory") == 0) {
        *color = node;
        return MPI_SUCCESS;
    }
    const struct pl_topology_ops *topology = pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL);
    if (!topology)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    int index = topology->index(type);
    if (index >= 0)
        *color = node << INDEX_BITS | index;
    return MPI_SUCCESS;
}

int pl_comm_split_type(struct pl_comm *parent, int type, int key, struct pl_info *info, struct pl_comm **comm)
{
    int node = 0, color = MPI_UNDEFINED;
    int rc = pl_comm_node_color(parent, &node);
    if (rc)
        return rc;
    if (type == MPI_COMM_TYPE_SHARED) {
        color = node;
    } else if (type == MPI_COMM_TYPE_HW_UNGUIDED) {
        rc = unguided(parent, node, info, &color);
    } else if (type == MPI_COMM_TYPE_HW_GUIDED && info) {
        char *resource = pl_info_get(info, RESOURCE_KEY);
        rc = resource ? guided(resource, node, &color) : MPI_SUCCESS;
        free(resource);
    }
    /* An error of one process alone must not leave the others waiting. */
    int split = pl_comm_split(parent, rc ? MPI_UNDEFINED : color, key, comm);
    return rc ? rc : split;
}
