/* SPDX-License-Identifier: BSD-3-Clause */
/* See persistent.h. */
#include "core/coll/persistent.h"

#include "core/coll/schedule.h"
#include "core/engine/request.h"

void pl_persistent_add(struct pl_request *request)
{
    struct pl_persistent *added = &request->coll.schedule->persistent;
    added->request = request;
    atomic_init(&added->starts, 0);
    pl_lock_take(&request->engine->lock);
    pl_list_append(&request->comm->coll.persistent, &added->link);
    pl_lock_drop(&request->engine->lock);
}

void pl_persistent_remove(struct pl_request *request)
{
    pl_lock_take(&request->engine->lock);
    pl_list_remove(&request->coll.schedule->persistent.link);
    pl_lock_drop(&request->engine->lock);
}

void pl_persistent_count(struct pl_request *request)
{
    _Atomic uint32_t *starts = &request->coll.schedule->persistent.starts;
    uint32_t before = atomic_load_explicit(starts, memory_order_relaxed);
    atomic_store_explicit(starts, before + 1, memory_order_release);
}

struct pl_schedule *pl_persistent_find(const struct pl_comm *comm, int tag)
{
    PL_LIST_EACH(each, &comm->coll.persistent, struct pl_persistent, link) {
        struct pl_schedule *schedule = PL_CONTAINER(each, struct pl_schedule, persistent);
        if (schedule->tag == tag)
            return schedule;
    }
    return NULL;
}

uint32_t pl_persistent_start(const struct pl_comm *comm, int tag)
{
    struct pl_schedule *schedule = pl_persistent_find(comm, tag);
    return schedule ? atomic_load_explicit(&schedule->persistent.starts, memory_order_acquire) : 1;
}
