/* SPDX-License-Identifier: BSD-3-Clause */
/* See started.h. */
#include "core/coll/hierarchy/started.h"

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/coll/agree.h"
#include "core/coll/algorithm.h"
#include "core/coll/hierarchy/collectives.h"
#include "core/coll/hierarchy/hierarchy.h"
#include "core/coll/hierarchy/step.h"
#include "core/coll/schedule.h"
#include "core/coll/select.h"

/* --- the exchange ------------------------------------------------------------------------------------------------- */

static int nodes_arrived(struct pl_schedule *schedule, void *notices)
{
    struct pl_comm_hierarchy *found = &schedule->comm->coll.hierarchy;
    int rc = pl_hierarchy_create(schedule->comm, notices, &found->started);
    atomic_store_explicit(&found->search, found->started ? PL_HIERARCHY_FOUND : PL_HIERARCHY_NONE,
                          memory_order_release);
    return rc;
}

static void nodes_append(struct pl_schedule *schedule)
{
    struct pl_comm *comm = schedule->comm;
    struct pl_hierarchy_notice *notices = pl_schedule_temp(schedule, pl_hierarchy_notices_bytes(comm->size));
    if (!notices)
        return;
    notices[comm->rank] = pl_hierarchy_own_notice();
    pl_coll_append(schedule, &(struct pl_coll){ .kind = PL_COLL_ALLGATHER,
                                                .comm = comm,
                                                .sendbuf = MPI_IN_PLACE,
                                                .recvbuf = notices,
                                                .recvcount = sizeof *notices,
                                                .recvtype = PL_TYPE_BYTE });
    schedule->exact = true;
    schedule->cut_from = 0;
    pl_schedule_wait(schedule);
    pl_schedule_verify(schedule, nodes_arrived, notices);
}

/* Alike on all ranks. */
static bool may_have_nodes(const struct pl_comm *comm)
{
    return comm->size > 2 && !pl_comm_is_inter(comm) && !pl_coll_agreeing && pl_config_bool("coll_shm") &&
           !pl_coll_are_near(comm);
}

static void nodes_seek(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_comm *comm = coll->comm;
    bool seeks = may_have_nodes(comm);
    atomic_store_explicit(&comm->coll.hierarchy.search, seeks ? PL_HIERARCHY_SOUGHT : PL_HIERARCHY_NONE,
                          memory_order_release);
    int rc = seeks ? pl_coll_start_own(coll, nodes_append) : MPI_SUCCESS;
    schedule->broken = schedule->broken ? schedule->broken : rc;
}

/* --- collectives that wait for it --------------------------------------------------------------------------------- */

static int nodes_await(struct pl_schedule *schedule, void *context)
{
    (void)context;
    int rc = pl_coll_check(schedule->comm);
    return rc ? rc : pl_comm_knows_nodes(schedule->comm) ? MPI_SUCCESS : PL_PENDING;
}

static int nodes_append_coll(struct pl_schedule *schedule, void *context)
{
    const struct pl_coll *coll = context;
    int rc = nodes_await(schedule, NULL), mark = pl_schedule_mark(schedule);
    if (rc)
        return rc;
    const struct pl_hierarchy *hierarchy = coll->comm->coll.hierarchy.started;
    schedule->part = false;
    if (!hierarchy || !pl_hierarchy_append(schedule, coll, hierarchy))
        pl_coll_append(schedule, coll);
    return pl_schedule_came(schedule, mark);
}

static void append_later(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_coll *kept = pl_hierarchy_keep(schedule, coll);
    if (kept)
        pl_schedule_later(schedule, nodes_append_coll, kept, coll);
}

bool pl_hierarchy_append_started(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    struct pl_comm_hierarchy *known = &coll->comm->coll.hierarchy;
    if (atomic_load_explicit(&known->search, memory_order_acquire) == PL_HIERARCHY_UNKNOWN)
        nodes_seek(schedule, coll);
    switch (atomic_load_explicit(&known->search, memory_order_acquire)) {
    case PL_HIERARCHY_SOUGHT: break;
    case PL_HIERARCHY_FOUND: return pl_hierarchy_append(schedule, coll, known->started);
    default: return false;
    }
    if (pl_hierarchy_is_for(coll)) {
        append_later(schedule, coll);
        return true;
    }
    pl_coll_append(schedule, coll);
    pl_schedule_wait(schedule);
    pl_schedule_verify(schedule, nodes_await, NULL);
    return true;
}
