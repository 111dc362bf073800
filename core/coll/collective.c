/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in their three forms, from one schedule, and those that the library uses itself. */
#include "core/coll/collective.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/agree.h"
#include "core/coll/algorithm.h"
#include "core/coll/rules_file.h"
#include "core/coll/schedule.h"
#include "core/coll/schedule_run.h"
#include "core/coll/select.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/engine/request.h"

int pl_coll_check(const struct pl_comm *comm)
{
    if (pl_coll_can(comm))
        return MPI_SUCCESS;
    if (comm->health.failed)
        return pl_comm_broken_record(comm);
    return pl_fail(MPI_ERR_OTHER,
                   "rank %d of %s has other settings for collectives than rank %d: coll_table, PLENUM_COLL_* and "
                   "PLENUM_STRICT must be the same on all ranks",
                   comm->coll.unlike - 1, pl_comm_label(comm), comm->rank);
}

void pl_coll_compare(struct pl_comm *comm, int rank, uint32_t settings)
{
    if (settings != pl_coll_settings())
        comm->coll.unlike = rank + 1;
}

PL_COLD int pl_coll_fail_amount(int rank, size_t given, size_t expected)
{
    return pl_fail(MPI_ERR_TRUNCATE,
                   "rank %d gives %zu bytes where this rank expects %zu: all ranks must call the same collective with "
                   "matching sizes",
                   rank, given, expected);
}

void pl_coll_tell_amounts(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    int recorded;
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(&recorded));
    pl_engine_enter(engine);
    pl_comm_break_for_all_locked(comm, MPI_ERR_COUNT, why);
    pl_engine_leave(engine);
    pl_fail(MPI_ERR_TRUNCATE, "%s", why);
}

int pl_coll_truncated(const struct pl_request *request)
{
    return pl_coll_fail_amount(request->outcome.source, (size_t)request->in.size, request->in.data.total);
}

void pl_coll_append(struct pl_schedule *schedule, const struct pl_coll *coll)
{
    pl_coll_select(coll)->append(schedule, coll);
    if (!coll->op)
        return;
    schedule->exact = true;
    if (schedule->cut_from > PL_CUT_REDUCTION)
        schedule->cut_from = PL_CUT_REDUCTION;
}

int pl_coll_run(const struct pl_coll *coll)
{
    struct pl_schedule schedule;
    int rc = pl_coll_check(coll->comm);
    for (int i = 0; rc == MPI_SUCCESS && i < PL_COLL_SHORTCUTS; i++)
        if (pl_coll_shortcuts[i](coll, &rc))
            return pl_likely(rc == MPI_SUCCESS) ? rc : pl_comm_break_for_all(coll->comm, rc);
    if (rc)
        return rc;
    pl_schedule_init(&schedule, coll->comm, pl_comm_next_tag(coll->comm));
    pl_coll_append(&schedule, coll);
    rc = pl_schedule_run_for(&schedule, coll);
    if (pl_unlikely(rc))
        rc = pl_comm_break_for_all(coll->comm, rc); /* before it has ended: a rank that asks then hears of that */
    atomic_store_explicit(&coll->comm->coll.tags.ended, coll->comm->coll.tags.blocking, memory_order_release);
    pl_schedule_fini(&schedule);
    return rc;
}

static void destroy_schedule(struct pl_request *request)
{
    if (request->coll.schedule)
        pl_schedule_fini(request->coll.schedule);
    free(request->coll.schedule);
}

static void destroy_persistent(struct pl_request *request)
{
    pl_persistent_remove(request);
    destroy_schedule(request);
}

static int coll_restart(struct pl_request *request)
{
    if (request->comm->health.orphan)
        return pl_comm_fail_orphan();
    atomic_store_explicit(&request->done, 0, memory_order_relaxed);
    request->is.active = true;
    pl_persistent_count(request);
    return pl_schedule_start(request->coll.schedule, request);
}

/* A request that owns a schedule: both used before, or both new. */
static struct pl_request *make_scheduled(struct pl_comm *comm)
{
    struct pl_request *made = pl_request_create(PL_REQ_COLL, comm, NULL, false);
    if (!made || made->coll.schedule)
        return made;
    made->on.destroyed = destroy_schedule;
    made->coll.schedule = pl_malloc(sizeof *made->coll.schedule);
    if (made->coll.schedule)
        return made;
    pl_handle_drop(made);
    pl_fail_memory("the schedule of a collective");
    return NULL;
}

/* A request that owns an empty schedule for this collective. Inlined with the next one into each form of a start. */
static inline __attribute__((always_inline)) int coll_request_begin(const struct pl_coll *coll,
                                                                    int (*next_tag)(struct pl_comm *comm),
                                                                    struct pl_request **request)
{
    int rc = pl_coll_check(coll->comm);
    if (rc)
        return rc;
    struct pl_request *made = make_scheduled(coll->comm);
    if (!made)
        return MPI_ERR_NO_MEM;
    pl_schedule_init(made->coll.schedule, coll->comm, next_tag(coll->comm));
    *request = made;
    return MPI_SUCCESS;
}

/* Appends the collective. On an error the request is gone. */
static inline __attribute__((always_inline)) int coll_request_end(const struct pl_coll *coll, bool persistent,
                                                                  struct pl_request *made)
{
    struct pl_schedule *schedule = made->coll.schedule;
    schedule->kind = coll->kind;
    schedule->root = coll->root;
    if (atomic_load_explicit(&coll->comm->coll.hierarchy.search, memory_order_relaxed) == PL_HIERARCHY_NONE ||
        !pl_coll_append_by_nodes(schedule, coll))
        pl_coll_append(schedule, coll);
    int rc = schedule->broken;
    if (rc) {
        pl_handle_drop(made);
        return rc;
    }
    pl_schedule_retain(schedule);
    made->coll.restart = coll_restart;
    made->outcome.source = MPI_ANY_SOURCE;
    made->outcome.tag = MPI_ANY_TAG;
    made->is.persistent = persistent;
    return MPI_SUCCESS;
}

int pl_coll_start(const struct pl_coll *coll, struct pl_request **request)
{
    int rc = coll_request_begin(coll, pl_comm_next_nonblocking_tag, request);
    rc = rc ? rc : coll_request_end(coll, false, *request);
    rc = rc ? rc : pl_schedule_start((*request)->coll.schedule, *request);
    atomic_store_explicit(&coll->comm->coll.tags.started, coll->comm->coll.tags.nonblocking, memory_order_release);
    return pl_likely(rc == MPI_SUCCESS) ? rc : pl_comm_break_for_all(coll->comm, rc);
}

int pl_coll_start_agreed(const struct pl_coll *coll, const char *function, struct pl_request **request)
{
    int rc = coll_request_begin(coll, pl_comm_next_nonblocking_tag, request);
    if (rc == MPI_SUCCESS)
        pl_agree_append((*request)->coll.schedule, coll, function);
    rc = rc ? rc : coll_request_end(coll, false, *request);
    rc = rc ? rc : pl_schedule_start((*request)->coll.schedule, *request);
    return pl_likely(rc == MPI_SUCCESS) ? rc : pl_comm_break_for_all(coll->comm, rc);
}

int pl_coll_start_own(const struct pl_coll *coll, void (*append)(struct pl_schedule *schedule))
{
    struct pl_request *made;
    int rc = coll_request_begin(coll, pl_comm_next_nonblocking_tag, &made);
    if (rc)
        return rc;
    struct pl_schedule *schedule = made->coll.schedule;
    schedule->kind = coll->kind;
    schedule->root = coll->root;
    append(schedule);
    rc = pl_schedule_start(schedule, made);
    if (rc)
        pl_handle_drop(made);
    else
        pl_request_let_go(made);
    return rc;
}

static int coll_prepare(const struct pl_coll *coll, int (*next_tag)(struct pl_comm *comm), struct pl_request **request)
{
    struct pl_comm_tags *tags = &coll->comm->coll.tags;
    int rc = coll_request_begin(coll, next_tag, request);
    rc = rc ? rc : coll_request_end(coll, true, *request);
    if (rc)
        return pl_comm_break_for_all(coll->comm, rc);
    (*request)->on.destroyed = destroy_persistent;
    pl_persistent_add(*request);
    atomic_store_explicit(&tags->started, tags->nonblocking, memory_order_release);
    atomic_store_explicit(&tags->made, tags->persistent, memory_order_release);
    return MPI_SUCCESS;
}

int pl_coll_prepare(const struct pl_coll *coll, struct pl_request **request)
{
    return coll_prepare(coll, pl_comm_next_persistent_tag, request);
}

int pl_coll_prepare_once(const struct pl_coll *coll, struct pl_request **request)
{
    int rc = coll_prepare(coll, pl_comm_next_nonblocking_tag, request);
    if (rc == MPI_SUCCESS)
        (*request)->is.persistent = false;
    return rc;
}

/* --- for the library itself ------------------------------------------------------------------------------------ */

/* A thread that waits in it is in another function of the user's, whose arguments are not known here. */
static int coll_run_own(const struct pl_coll *coll)
{
    static const struct pl_coll unnamed;
    const void **named = &coll->comm->coll.named, *before = *named;
    *named = before ? before : &unnamed;
    int rc = pl_coll_run(coll);
    *named = before;
    return rc;
}

int pl_barrier(struct pl_comm *comm)
{
    return coll_run_own(&(struct pl_coll){ .kind = PL_COLL_BARRIER, .comm = comm });
}

int pl_bcast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int root)
{
    struct pl_coll coll = {
        .kind = PL_COLL_BCAST,
        .comm = comm,
        .recvbuf = buf,
        .recvcount = count,
        .recvtype = type,
        .root = root,
    };
    return coll_run_own(&coll);
}

int pl_gather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
              void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype, int root)
{
    struct pl_coll coll = {
        .kind = PL_COLL_GATHER,
        .comm = comm,
        .sendbuf = sendbuf,
        .sendcount = sendcount,
        .sendtype = sendtype,
        .recvbuf = recvbuf,
        .recvcount = recvcount,
        .recvtype = recvtype,
        .root = root,
    };
    return coll_run_own(&coll);
}

int pl_allgather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                 void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype)
{
    struct pl_coll coll = {
        .kind = PL_COLL_ALLGATHER,
        .comm = comm,
        .sendbuf = sendbuf,
        .sendcount = sendcount,
        .sendtype = sendtype,
        .recvbuf = recvbuf,
        .recvcount = recvcount,
        .recvtype = recvtype,
    };
    return coll_run_own(&coll);
}

int pl_allreduce(struct pl_comm *comm, const void *sendbuf, void *recvbuf, MPI_Count count, const struct pl_type *type,
                 const struct pl_op *op)
{
    struct pl_coll coll = {
        .kind = PL_COLL_ALLREDUCE,
        .comm = comm,
        .sendbuf = sendbuf,
        .recvbuf = recvbuf,
        .recvcount = count,
        .recvtype = type,
        .op = op,
    };
    return coll_run_own(&coll);
}
