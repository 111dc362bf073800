/* SPDX-License-Identifier: BSD-3-Clause */
/* See hierarchy.h. */
#include "core/coll/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/coll/area/area.h"
#include "core/coll/collective.h"
#include "core/coll/select.h"
#include "core/engine/comm.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_table.h"
#include "core/engine/instance.h"
#include "core/engine/request.h"
#include "core/job/locator.h"

/* Nodes are numbered in the order of their first ranks. */
struct map {
    const struct pl_hierarchy_notice *notices; /* [size] */
    int size, count;
    int *node;  /* [size] of each rank */
    int *first; /* [count] its first rank; space for [size] */
};

/* Searches from the node of the rank before: most ranks are on that node or on the next. */
static void map_number_nodes(struct map *map)
{
    int at = 0;
    for (int rank = 0; rank < map->size; rank++) {
        int tried = 0;
        while (tried < map->count && map->notices[map->first[at]].node != map->notices[rank].node) {
            at = at + 1 < map->count ? at + 1 : 0;
            tried++;
        }
        if (tried == map->count) {
            at = map->count++;
            map->first[at] = rank;
        }
        map->node[rank] = at;
    }
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static void part_release(struct pl_comm *part)
{
    if (!part)
        return;
    struct pl_engine *engine = &part->instance->engine;
    pl_engine_enter(engine);
    part->role.whole = NULL;
    pl_engine_leave(engine);
    pl_request_free_spares(part);
    pl_object_release(part);
}

/* A communicator of some ranks of `whole`; `what` describes them in its name. */
static int part_create(struct pl_comm *whole, const int *ranks, int count, struct pl_comm_id id, const char *what,
                       struct pl_comm **part)
{
    uint64_t *procs = pl_malloc((size_t)count * sizeof *procs);
    struct pl_engine *engine = &whole->instance->engine;
    struct pl_comm *made = NULL;
    if (!procs)
        return pl_fail_memory("the members of a node");
    for (int i = 0; i < count; i++)
        procs[i] = pl_group_proc(whole->group, ranks[i]);
    struct pl_group *group = pl_instance_group(whole->instance, count, procs);
    free(procs);
    int rc = group ? pl_comm_build(whole->instance, whole, group, NULL, &made) : MPI_ERR_NO_MEM;
    if (group)
        pl_handle_drop(group);
    if (rc)
        return rc;
    made->role.serves = "";
    pl_handle_drop(pl_object_retain(made)); /* a reference without a handle */
    snprintf(made->name, sizeof made->name, "%.80s (%s)", pl_comm_label(whole), what);
    made->coll.hierarchy.none = true;
    made->role.whole = whole;
    made->id = id;
    pl_engine_enter(engine);
    pl_engine_add_comm(engine, made);
    pl_comm_break_alike(made, whole);
    pl_engine_leave(engine);
    *part = made;
    return MPI_SUCCESS;
}

static int hierarchy_create_here(struct pl_comm *comm, const struct map *map, struct pl_hierarchy *hierarchy)
{
    int *ranks = pl_calloc((size_t)map->size, sizeof *ranks), count = 0;
    if (!ranks)
        return pl_fail_memory("the ranks of a node");
    for (int i = 0; i < map->size; i++)
        if (map->node[i] == map->node[comm->rank])
            ranks[count++] = i;
    const struct pl_hierarchy_notice *first = &map->notices[ranks[0]];
    int rc = MPI_SUCCESS;
    if (count > 1)
        rc = part_create(comm, ranks, count, (struct pl_comm_id){ first->home, first->here }, "the ranks of a node",
                         &hierarchy->here);
    if (hierarchy->here)
        hierarchy->here->coll.area.wanted = PL_AREA_AFTER; /* it is worth an area at once */
    free(ranks);
    return rc;
}

static int hierarchy_create_leaders(struct pl_comm *comm, const struct map *map, struct pl_hierarchy *hierarchy)
{
    struct pl_comm_id id = { map->notices->home, map->notices->leaders };
    if (map->first[map->node[comm->rank]] != comm->rank)
        return MPI_SUCCESS;
    int rc = part_create(comm, map->first, map->count, id, "the first rank of each node", &hierarchy->leaders);
    if (hierarchy->leaders)
        hierarchy->leaders->coll.area.none = true;
    return rc;
}

static void hierarchy_release(struct pl_hierarchy *hierarchy)
{
    if (!hierarchy)
        return;
    part_release(hierarchy->here);
    part_release(hierarchy->leaders);
    free(hierarchy);
}

/* --- making ------------------------------------------------------------------------------------------------------- */

static bool map_begins_run(const struct map *map, int rank)
{
    return rank == 0 || map->node[rank] != map->node[rank - 1];
}

static struct pl_hierarchy *hierarchy_create(struct pl_comm *comm, const struct map *map)
{
    int runs = 0, kept = 0;
    for (int i = 0; i < map->size; i++)
        runs += map_begins_run(map, i);
    struct pl_hierarchy *hierarchy = pl_calloc(1, sizeof *hierarchy + ((size_t)runs + 1) * sizeof *hierarchy->runs);
    if (!hierarchy) {
        pl_fail_memory("the node hierarchy of a communicator");
        return NULL;
    }
    hierarchy->contiguous = runs == map->count;
    hierarchy->run_count = runs;
    hierarchy->node = map->node[comm->rank];
    for (int i = 0; i <= map->size; i++)
        if (i == map->size || map_begins_run(map, i))
            hierarchy->runs[kept++] = (struct pl_hierarchy_run){ i, i == map->size ? map->count : map->node[i] };
    if (hierarchy_create_here(comm, map, hierarchy) == MPI_SUCCESS &&
        hierarchy_create_leaders(comm, map, hierarchy) == MPI_SUCCESS)
        return hierarchy;
    hierarchy_release(hierarchy);
    return NULL;
}

struct pl_hierarchy_notice pl_hierarchy_own_notice(void)
{
    struct pl_comm_id here = pl_comm_new_id();
    return (struct pl_hierarchy_notice){ pl_locator_node(), here.home, here.serial, pl_comm_second_id(here).serial };
}

int pl_hierarchy_create(struct pl_comm *comm, struct pl_hierarchy_notice *notices, struct pl_hierarchy **made)
{
    int *numbers = (int *)(notices + comm->size);
    struct map map = { notices, comm->size, 0, numbers, numbers + comm->size };
    *made = NULL;
    map_number_nodes(&map);
    if (map.count == 1 || map.count == comm->size)
        return MPI_SUCCESS;
    *made = hierarchy_create(comm, &map);
    if (*made && comm->rank == 0)
        pl_log("coll", 2, "%s: %d ranks on %d nodes", pl_comm_label(comm), comm->size, map.count);
    return *made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int hierarchy_agree(struct pl_comm *comm, struct pl_hierarchy **made)
{
    struct pl_hierarchy_notice *notices = pl_malloc(pl_hierarchy_notices_bytes(comm->size));
    if (!notices)
        return pl_fail_memory("the node hierarchy of a communicator");
    struct pl_hierarchy_notice own = pl_hierarchy_own_notice();
    struct pl_hierarchy *hierarchy = NULL;
    int good = 0, all = 0;
    int rc = pl_allgather(comm, &own, sizeof own, PL_TYPE_BYTE, notices, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS)
        good = pl_hierarchy_create(comm, notices, &hierarchy) == MPI_SUCCESS;
    if (rc == MPI_SUCCESS && (hierarchy || !good)) /* alike on all; making it may find no memory on some */
        rc = pl_allreduce(comm, &good, &all, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MIN));
    if (rc == MPI_SUCCESS && all)
        *made = hierarchy;
    else
        hierarchy_release(hierarchy);
    free(notices);
    return rc;
}

int pl_hierarchy_get(struct pl_comm *comm, bool at_once, struct pl_hierarchy **hierarchy)
{
    *hierarchy = comm->coll.hierarchy.open;
    if (pl_likely(*hierarchy != NULL) || comm->coll.hierarchy.none)
        return MPI_SUCCESS;
    if (comm->coll.area.open || comm->size < 3 || !pl_config_bool("coll_shm") || pl_coll_are_near(comm)) {
        comm->coll.hierarchy.none = true;
        return MPI_SUCCESS;
    }
    bool early =
        comm->size <= PL_AREA_RANKS ? !comm->coll.area.none : !at_once && comm->coll.area.wanted < PL_AREA_AFTER;
    if (early)
        return MPI_SUCCESS;
    comm->coll.hierarchy.none = true; /* so that the collectives below use messages */
    int rc = hierarchy_agree(comm, &comm->coll.hierarchy.open);
    *hierarchy = comm->coll.hierarchy.open;
    return rc;
}

int pl_hierarchy_node_of(const struct pl_hierarchy *hierarchy, int rank)
{
    int low = 0, high = hierarchy->run_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (hierarchy->runs[middle].rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return hierarchy->runs[low].node;
}

void pl_hierarchy_release(struct pl_comm *comm)
{
    hierarchy_release(comm->coll.hierarchy.open);
    hierarchy_release(comm->coll.hierarchy.started);
    comm->coll.hierarchy.open = comm->coll.hierarchy.started = NULL;
    comm->coll.hierarchy.none = true;
}
