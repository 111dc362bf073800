/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and releasing areas: all members of a communicator make one, and each releases it on its own. */
#include "core/coll/area/area.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/coll/area/slots.h"
#include "core/coll/collective.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/peer.h"
#include "core/job/process.h"

/* What rank 0 tells the others. */
struct notice {
    uint64_t place, bytes; /* of the memory, as in struct pl_shared; 0 bytes: there will be no area */
};

/* The transport that connects this rank to all others; NULL: it cannot share memory, or there are several. */
static const struct pl_transport_ops *common_transport(struct pl_comm *comm)
{
    const struct pl_transport_ops *ops = NULL;
    for (int i = 0; i < comm->size; i++) {
        struct pl_peer *peer;
        if (i == comm->rank)
            continue;
        if (pl_engine_find(comm, i, &peer) != MPI_SUCCESS || !peer->endpoint)
            return NULL;
        if (!peer->endpoint->ops->share || (ops && ops != peer->endpoint->ops))
            return NULL;
        ops = peer->endpoint->ops;
    }
    return ops;
}

static void *area_transport_self(struct pl_engine *engine, const struct pl_transport_ops *ops)
{
    int i = 0;
    while (engine->transport[i].ops != ops)
        i++;
    return engine->transport[i].self;
}

static bool area_unused(const struct pl_area *area)
{
    return (int)atomic_load_explicit(&area->memory->released.word, memory_order_acquire) == area->size - 1;
}

/* Also when the engine closes, while others may still use the area. Engine lock held. */
static void area_close(struct pl_closer *closer)
{
    struct pl_area *area = PL_CONTAINER(closer, struct pl_area, closer);
    area->ops->unshare(area_transport_self(area->engine, area->ops), &area->shared, area_unused(area));
    free(area);
}

/* Frees the areas that all other ranks have released. Engine lock held. */
static void area_sweep(struct pl_engine *engine)
{
    PL_LIST_EACH(closer, &engine->closers, struct pl_closer, link) {
        if (closer->close != area_close || !area_unused(PL_CONTAINER(closer, struct pl_area, closer)))
            continue;
        pl_list_remove(&closer->link);
        area_close(closer);
    }
}

static void area_share(struct pl_area *area, struct notice *notice)
{
    pl_engine_enter(area->engine);
    area_sweep(area->engine);
    int rc =
        area->ops->share(area_transport_self(area->engine, area->ops), pl_area_memory_bytes(area->size), &area->shared);
    pl_engine_leave(area->engine);
    if (rc)
        return;
    area->memory = area->shared.memory;
    *notice = (struct notice){ area->shared.place, area->shared.bytes };
}

static void area_attach(struct pl_area *area, const struct notice *notice)
{
    void *memory;
    if (notice->bytes < pl_area_memory_bytes(area->size))
        return;
    pl_engine_enter(area->engine);
    struct pl_peer *owner = pl_comm_peer(area->comm, 0); /* NULL: the communicator is revoked */
    area->owner = owner ? owner->endpoint : NULL;
    int rc = !owner || owner->error
                 ? MPI_ERR_OTHER
                 : area->ops->attach(area->owner, notice->place, pl_area_memory_bytes(area->size), &memory);
    pl_engine_leave(area->engine);
    if (rc == MPI_SUCCESS)
        area->memory = memory;
}

static void area_drop(struct pl_area *area)
{
    if (area->shared.memory) {
        struct pl_engine *engine = area->engine;
        pl_engine_enter(engine);
        pl_list_append(&engine->closers, &area->closer.link);
        area_sweep(engine);
        pl_engine_leave(engine);
        return;
    }
    if (area->memory) {
        atomic_fetch_add_explicit(&area->memory->released.word, 1, memory_order_release);
        pl_engine_enter(area->engine);
        area->ops->detach(area->owner, area->memory, pl_area_memory_bytes(area->size));
        pl_engine_leave(area->engine);
    }
    free(area);
}

/* Ranks that share cores share their caches, too. */
static void area_tell_place(struct pl_area *area)
{
    struct pl_area_place place =
        pl_area_place_self(area->engine->wait.oversubscribed || area->size < PL_AREA_TREE_FROM);
    memcpy(pl_area_completed(area, area->rank)->data, &place, sizeof place);
}

/* All ranks have told their places. */
static void area_make_tree(struct pl_area *area)
{
    struct pl_area_place places[PL_AREA_RANKS];
    int caches, given = 0;
    for (int i = 0; i < area->size; i++) {
        pl_copy_shared(&places[i], pl_area_completed(area, i)->data, sizeof places[i]);
        given += places[i].given == 1;
    }
    caches = pl_area_tree_make(&area->tree, area->rank, area->size, places);
    if (caches > 1 || area->size > PL_AREA_FLAT)
        area->trees = given == area->size ? PL_TREE_ALWAYS : PL_TREE_BY_SIZE;
    if (area->trees != PL_TREE_NONE && area->rank == 0)
        pl_log("coll", 2, "%s: %d ranks in %d caches", pl_comm_label(area->comm), area->size, caches);
}

/* Collective. A failure that all ranks learn of is not an error: then the communicator has no area. */
static int area_make(struct pl_comm *comm, struct pl_area **made)
{
    struct notice notice = { 0 };
    const struct pl_transport_ops *ops = common_transport(comm);
    struct pl_area *area = ops ? pl_calloc(1, sizeof *area) : NULL;
    if (area) {
        *area = (struct pl_area){
            .comm = comm, .engine = &comm->instance->engine, .ops = ops, .size = comm->size, .rank = comm->rank
        };
        pl_list_init(&area->closer.link);
        area->closer.close = area_close;
        area->balance.on = area->engine->wait.oversubscribed && area->size == pl_process.identity.local_size;
        area->balance.moved_to = -1;
        if (comm->rank == 0)
            area_share(area, &notice);
    }
    int good = 0, all = 0, rc = pl_bcast(comm, &notice, sizeof notice, PL_TYPE_BYTE, 0);
    if (rc == MPI_SUCCESS && notice.bytes > 0) {
        if (area && comm->rank != 0)
            area_attach(area, &notice);
        good = area && area->memory;
        if (good)
            area_tell_place(area);
        rc = pl_allreduce(comm, &good, &all, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MIN));
    }
    if (rc == MPI_SUCCESS && all) {
        pl_area_begin(area);
        area_make_tree(area);
        *made = area;
    } else if (area) {
        area_drop(area);
    }
    return rc;
}

int pl_area_get(struct pl_comm *comm, bool at_once, struct pl_area **area)
{
    *area = comm->coll.area.open;
    if (pl_likely(*area != NULL))
        return MPI_SUCCESS;
    if (comm->coll.area.none || comm->size > PL_AREA_RANKS || (!at_once && comm->coll.area.wanted < PL_AREA_AFTER)) {
        comm->coll.area.wanted += comm->coll.area.wanted < PL_AREA_AFTER;
        return MPI_SUCCESS;
    }
    comm->coll.area.none = true; /* so that the collectives below use messages */
    if (!pl_config_bool("coll_shm"))
        return MPI_SUCCESS;
    int rc = area_make(comm, &comm->coll.area.open);
    *area = comm->coll.area.open;
    return rc;
}

int pl_area_count(const struct pl_comm *comm)
{
    return (int)((comm->coll.tags.blocking + comm->coll.area.count) & INT32_MAX);
}

int pl_area_message_count(const struct pl_request *request)
{
    bool blocking = request->args.tag >= 0 && request->args.tag < PL_NONBLOCKING_TAGS;
    return blocking ? pl_area_count(request->comm) : PL_ANY;
}

void pl_area_release(struct pl_comm *comm)
{
    struct pl_area *area = comm->coll.area.open;
    comm->coll.area.open = NULL;
    comm->coll.area.kinds = 0;
    comm->coll.area.none = true;
    if (area)
        area_drop(area);
}
