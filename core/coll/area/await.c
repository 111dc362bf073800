/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in a collective area: some polls of the word itself come before the engine's wait.
 *
 * With more ranks than cores a wait costs what it takes to put other ranks on this core, a microsecond and a half for
 * each, and that decides the time of a short collective. At best each rank switches once, except the last one
 * on each core, which finds everything there and goes on. So a rank yields at once if a rank that is missing ran on
 * this core last. If all missing ranks are on other cores, they come soon, about when the ranks of this core did. A
 * rank that ran instead would find as little, and its switch would be in vain.
 */
#include "core/coll/area/await.h"

#include <sched.h>
#include <stdio.h>

#include "core/base/cpu.h"
#include "core/base/error.h"
#include "core/coll/area/slots.h"
#include "core/coll/owed.h"
#include "core/coll/statement.h"
#include "core/engine/comm.h"
#include "core/engine/comm_break.h"
#include "core/engine/departure.h"
#include "core/engine/peer_failure.h"
#include "core/engine/wait.h"
#include "core/engine/wait_policy.h"
#include "core/engine/wait_record.h"

/* Polls of the word before the engine's wait, which makes progress, spins longer, and yields. */
static const struct pl_wait_policy area_wait_alone = { .spins = 100 };

/* Where ranks share cores. With both phases a barrier of 4 ranks on 2 cores takes 0.50 switches a rank, and 0.58 to
 * 0.85 without the spin (docs/notes/collective-area.md). */
static const struct pl_wait_policy area_wait_oversubscribed = {
    .spins = 60, /* before each yield, if all missing ranks are on other cores */
    .yields = 6, /* without any progress in between */
};

enum {
    ANNOUNCE_SLEEP = 32, /* rounds of the engine's wait before this rank announces that it may sleep ... */
    ANNOUNCE_BEFORE = 8, /* ... and the fewest before its first sleep, where a policy of wait.c sleeps early */
};

/* --- the engine's wait -------------------------------------------------------------------------------------------- */

/* No rank can finish when one has failed, nor when `awaited` has departed. *rank: which. Engine lock held. */
static int area_failed(const struct pl_area *area, int awaited, int *rank)
{
    *rank = awaited;
    if (atomic_load(&area->comm->health.failed))
        return MPI_ERR_PROC_ABORTED;
    for (int i = 0; i < area->size; i++)
        if (i != area->rank && pl_comm_peer(area->comm, *rank = i)->error)
            return pl_comm_peer(area->comm, i)->error;
    *rank = awaited;
    return awaited != area->rank && pl_departure_has(area->comm, awaited) ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

/* The words for it. No lock held. */
static int area_record_failure(const struct pl_area *area, int rc, int rank)
{
    struct pl_comm *comm = area->comm;
    if (atomic_load(&comm->health.failed))
        return pl_comm_broken_record(comm);
    if (atomic_load(&comm->health.departed) == rank + 1)
        return pl_departure_record(comm);
    return pl_fail(rc, "the process of rank %d in %s is gone", rank, pl_comm_label(comm));
}

/* The rank has completed the operation without the slot that this rank waits for: it is in another collective, or gave
 * another amount. */
static bool area_was_left(const struct pl_area *area, int rank, const struct pl_awaited *awaited)
{
    uint32_t completed = atomic_load_explicit(&pl_area_completed(area, rank)->word, memory_order_acquire);
    bool ahead = awaited->word == &area->slots[rank].word && (int32_t)(completed - area->next) > 0;
    return (ahead || pl_unlikely(pl_owed_nothing_by(area->comm, rank))) && !pl_awaited_is_there(awaited);
}

/* The usual reason is a member that has failed, of which that rank knows already. */
static void area_tell_left(struct pl_area *area, int rank)
{
    char why[128];
    pl_failure_await(area->comm);
    if (atomic_load(&area->comm->health.failed))
        return;
    snprintf(why, sizeof why,
             "the calls differ: this rank waits for rank %d in a collective that rank %d has completed without it",
             rank, rank);
    pl_comm_break_for_all_locked(area->comm, MPI_ERR_OTHER, why);
}

/* A round of progress, which ends the wait if what it is for cannot come any more. *events: what progress has found. */
static int area_progress(struct pl_area *area, int rank, const struct pl_awaited *awaited, int *events)
{
    int gone;
    pl_engine_enter(area->engine);
    *events = pl_engine_progress(area->engine);
    if (pl_unlikely(area_was_left(area, rank, awaited)))
        area_tell_left(area, rank);
    int rc = area_failed(area, rank, &gone);
    pl_engine_leave(area->engine);
    return rc && !pl_awaited_is_there(awaited) ? area_record_failure(area, rc, gone) : MPI_SUCCESS;
}

static int area_wait_in_engine(struct pl_area *area, const struct pl_coll *coll, int rank,
                               const struct pl_awaited *awaited)
{
    struct pl_engine *engine = area->engine;
    _Atomic uint64_t *asleep = &area->memory->asleep[area->rank / 64];
    const struct pl_waiting what = {
        .what = PL_WHAT_COLLECTIVE,
        .comm = area->comm,
        .peer = rank,
        .tag = pl_area_count(area->comm) + 1,
        .describe = coll ? pl_coll_describe : NULL,
        .context = coll,
    };
    struct pl_wait wait = { .what = &what };
    uint64_t bit = (uint64_t)1 << area->rank % 64;
    bool announced = false;
    int rc = MPI_SUCCESS, events;
    while (!rc && !pl_awaited_is_there(awaited)) {
        if (!announced && (wait.rounds >= ANNOUNCE_SLEEP || pl_engine_sleeps_within(engine, &wait, ANNOUNCE_BEFORE))) {
            atomic_fetch_or_explicit(asleep, bit, memory_order_seq_cst);
            announced = true;
        }
        rc = area_progress(area, rank, awaited, &events);
        if (events)
            wait.rounds = 0;
        else if (!rc && !pl_awaited_is_there(awaited))
            pl_engine_idle_for(engine, awaited, &wait);
    }
    if (announced)
        atomic_fetch_and_explicit(asleep, ~bit, memory_order_relaxed);
    return rc;
}

/* --- polls before it ---------------------------------------------------------------------------------------------- */

static bool area_spin(const struct pl_awaited *awaited, unsigned spins, bool relaxed)
{
    for (; spins > 0; spins--) {
        if (pl_awaited_is_there(awaited))
            return true;
        if (relaxed)
            pl_relax();
    }
    return false;
}

/* Did a rank whose slot is missing run on this core last? Of those from `rank` to `end`. */
static bool is_missing_here(const struct pl_area *area, int rank, int end)
{
    int core = sched_getcpu();
    for (int i = rank; i < end; i++) {
        int last = pl_area_core_of(atomic_load_explicit(&pl_area_completed(area, i)->core, memory_order_relaxed));
        if ((last == core || last < 0) && i != area->rank && !pl_area_has(area, i))
            return true;
    }
    return false;
}

static bool area_spin_and_yield(struct pl_area *area, const struct pl_awaited *awaited, int rank, int end)
{
    const struct pl_wait_policy *policy = &area_wait_oversubscribed;
    if (area->balance.on && ++area->balance.waits == 0)
        pl_area_balance(area);
    for (unsigned i = 0; i < policy->yields; i++) {
        if (!is_missing_here(area, rank, end) && area_spin(awaited, policy->spins, true))
            return true;
        bool brief = pl_engine_yield(area->engine);
        if (pl_awaited_is_there(awaited))
            return true;
        if (!brief)
            break;
    }
    return false;
}

int pl_area_await_word(struct pl_area *area, const struct pl_coll *coll, int rank, int end,
                       const struct pl_awaited *awaited)
{
    bool oversubscribed = area->engine->wait.oversubscribed,
         there = oversubscribed ? area_spin_and_yield(area, awaited, rank, end)
                                : area_spin(awaited, area_wait_alone.spins, false);
    int rc = there ? MPI_SUCCESS : area_wait_in_engine(area, coll, rank, awaited);
    if (oversubscribed)
        atomic_store_explicit(&area->own->core, pl_area_core_word(sched_getcpu(), area->next), memory_order_relaxed);
    return rc;
}

int pl_area_await(struct pl_area *area, const struct pl_area_call *call, int rank, int end)
{
    return pl_area_await_word(area, call ? call->coll : NULL, rank, end,
                              &(struct pl_awaited){ &area->slots[rank].word, area->next + 1 });
}

/* --- waking ------------------------------------------------------------------------------------------------------- */

PL_COLD void pl_area_wake(struct pl_area *area, uint64_t asleep)
{
    pl_engine_enter(area->engine);
    for (int i = 0; i < area->size; i++) {
        const struct pl_peer *peer = asleep >> i & 1 && i != area->rank ? pl_comm_peer(area->comm, i) : NULL;
        if (peer) /* else the communicator is revoked, which wakes all */
            area->ops->ring(peer->endpoint);
    }
    pl_engine_leave(area->engine);
}
