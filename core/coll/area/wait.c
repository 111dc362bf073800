/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What takes longer on a board: waiting for cells, for room, and waking those who wait. See board.h.
 *
 * With more ranks than cores a wait costs what it takes to put other ranks on this core, a microsecond and a half for
 * each, and that decides the time of a short collective. The least is a turn of each rank on a core, but for the last
 * one, which finds everything there and goes on. So who waits lets others run at once if a rank that is missing ran on
 * this core last. If all that are missing are elsewhere they come soon, about when those here did, and to let somebody
 * run who finds as little would be a turn in vain.
 */
#include "core/coll/area/slots.h"

#include <sched.h>

#include "core/base/cpu.h"
#include "core/base/error.h"
#include "core/engine/comm.h"
#include "core/engine/peer_failure.h"
#include "core/engine/wait_record.h"

enum {
    GLANCES = 100,       /* before the wait is taken seriously, ... */
    TURNS = 6,           /* ... and where ranks share cores: of others, without any progress in between */
    GLANCES_ACROSS = 60, /* at cells of ranks that are on other cores */
    ALERT = 32,          /* rounds of waiting before it may come to sleep: fewer than core/engine/wait.c has */
    /* A rank is never further behind another: each operation in between holds a cell that it has yet to read. */
    BEHIND = PL_AREA_RANKS * PL_AREA_SETS,
};
_Static_assert(2 * BEHIND < PL_AREA_RENEWAL, "renewed before it is as old as that");

/* --- waiting ----------------------------------------------------------------------------------------------------- */

/* Nobody can finish when one has gone; nor when `awaited` has left. Engine lock held. */
static int area_failed(const struct pl_area *area, int awaited, int *rank)
{
    *rank = awaited;
    if (atomic_load(&area->comm->health.failed))
        return MPI_ERR_PROC_ABORTED;
    for (int i = 0; i < area->size; i++)
        if (i != area->rank && pl_comm_peer(area->comm, *rank = i)->error)
            return pl_comm_peer(area->comm, i)->error;
    *rank = awaited;
    return awaited != area->rank && pl_comm_peer(area->comm, awaited)->closed ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

int pl_area_count(const struct pl_comm *comm)
{
    return (int)((comm->coll.blocking + comm->coll.area_count) & INT32_MAX);
}

int pl_area_message_count(const struct pl_request *request)
{
    bool blocking = request->args.tag >= 0 && request->args.tag < PL_NONBLOCKING_TAGS;
    return blocking ? pl_area_count(request->comm) : PL_ANY;
}

static int wait_longer(struct pl_area *area, int rank, const struct pl_awaited *awaited)
{
    struct pl_engine *engine = area->engine;
    _Atomic uint64_t *asleep = &area->memory->asleep;
    const struct pl_waiting what = {
        .what = PL_WHAT_COLLECTIVE, .comm = area->comm, .peer = rank, .tag = pl_area_count(area->comm) + 1
    };
    struct pl_wait wait = { .what = &what };
    uint64_t bit = (uint64_t)1 << area->rank;
    bool alert = false;
    int rc = MPI_SUCCESS;
    while (!pl_awaited_is_there(awaited)) {
        int gone;
        if (!alert && wait.rounds >= ALERT) {
            atomic_fetch_or_explicit(asleep, bit, memory_order_seq_cst);
            alert = true;
        }
        pl_engine_enter(engine);
        int events = pl_engine_progress(engine);
        rc = area_failed(area, rank, &gone);
        pl_engine_leave(engine);
        if (rc && !pl_awaited_is_there(awaited)) {
            rc = atomic_load(&area->comm->health.failed)
                     ? pl_failure_record(area->comm)
                     : pl_fail(rc, "the process of rank %d in %s is gone", gone, pl_comm_label(area->comm));
            break;
        }
        rc = MPI_SUCCESS;
        if (events)
            wait.rounds = 0;
        else if (!pl_awaited_is_there(awaited))
            pl_engine_idle_for(engine, awaited, &wait);
    }
    if (alert)
        atomic_fetch_and_explicit(asleep, ~bit, memory_order_relaxed);
    return rc;
}

static bool area_glance(const struct pl_awaited *awaited, int times, bool relaxed)
{
    for (; times > 0; times--) {
        if (pl_awaited_is_there(awaited))
            return true;
        if (relaxed)
            pl_relax();
    }
    return false;
}

/* Did a rank whose cell is missing run on this core last? Of those from `rank` to `end`. */
static bool is_missing_here(const struct pl_area *area, int rank, int end)
{
    uint32_t core = (uint32_t)sched_getcpu() + 1;
    for (int i = rank; i < end; i++) {
        uint32_t last = atomic_load_explicit(&pl_area_completed(area, i)->core, memory_order_relaxed);
        if ((last == core || last == 0) && i != area->rank && !pl_area_has(area, i))
            return true;
    }
    return false;
}

static bool let_others_run(struct pl_area *area, const struct pl_awaited *awaited, int rank, int end)
{
    for (int turn = 0; turn < TURNS; turn++) {
        if (!is_missing_here(area, rank, end) && area_glance(awaited, GLANCES_ACROSS, true))
            return true;
        bool quick = pl_engine_yield(area->engine);
        if (pl_awaited_is_there(awaited))
            return true;
        if (!quick)
            break;
    }
    return false;
}

/* For a rank's word, while those up to `end` may be missing as well. */
static int area_await(struct pl_area *area, int rank, int end, const struct pl_awaited *awaited)
{
    bool oversubscribed = area->engine->wait.oversubscribed,
         there = oversubscribed ? let_others_run(area, awaited, rank, end) : area_glance(awaited, GLANCES, false);
    int rc = there ? MPI_SUCCESS : wait_longer(area, rank, awaited);
    if (oversubscribed)
        atomic_store_explicit(&area->own->core, (uint32_t)sched_getcpu() + 1, memory_order_relaxed);
    return rc;
}

int pl_area_await(struct pl_area *area, int rank, int end)
{
    return area_await(area, rank, end, &(struct pl_awaited){ &area->slots[rank].word, area->next + 1 });
}

/* --- waking ------------------------------------------------------------------------------------------------------- */

void __attribute__((cold)) pl_area_wake(struct pl_area *area, uint64_t asleep)
{
    pl_engine_enter(area->engine);
    for (int i = 0; i < area->size; i++)
        if (asleep >> i & 1 && i != area->rank)
            area->ops->ring(pl_comm_peer(area->comm, i)->endpoint);
    pl_engine_leave(area->engine);
}

/* That a rank has completed so many operations. */
static uint64_t area_wish_of(int rank, uint32_t operations)
{
    return (uint64_t)rank << 32 | operations;
}

static void wake_wanting(struct pl_area *area, uint64_t wanting)
{
    uint64_t wish = area_wish_of(area->rank, area->next), asleep = 0;
    for (int i = 0; i < area->size; i++)
        if (wanting >> i & 1 && atomic_load_explicit(&area->memory->wanted[i], memory_order_relaxed) == wish)
            asleep |= (uint64_t)1 << i;
    if (asleep)
        pl_area_wake(area, asleep);
}

/* --- room --------------------------------------------------------------------------------------------------------- */

/* Waits until a rank has completed an operation. */
static int wait_for_reader(struct pl_area *area, int rank, uint32_t number)
{
    const struct pl_awaited awaited = { &pl_area_completed(area, rank)->word, number + 1 };
    int rc = MPI_SUCCESS;
    if (!pl_awaited_is_there(&awaited)) {
        uint64_t bit = (uint64_t)1 << area->rank;
        atomic_store_explicit(&area->memory->wanted[area->rank], area_wish_of(rank, number + 1), memory_order_relaxed);
        atomic_fetch_or_explicit(&area->memory->wanting, bit, memory_order_seq_cst);
        rc = area_await(area, rank, rank + 1, &awaited);
        atomic_fetch_and_explicit(&area->memory->wanting, ~bit, memory_order_relaxed);
    }
    area->completed[rank] = atomic_load_explicit(awaited.word, memory_order_acquire);
    return rc;
}

/* Waits until all have completed an operation. */
static int wait_until_completed(struct pl_area *area, uint32_t number)
{
    uint32_t least = area->next;
    for (int i = 0; i < area->size; i++) {
        if (i == area->rank)
            continue;
        int rc = wait_for_reader(area, i, number);
        if (rc)
            return rc;
        if ((int32_t)(area->completed[i] - least) < 0)
            least = area->completed[i];
    }
    area->seen = least;
    return MPI_SUCCESS;
}

int pl_area_await_reader(struct pl_area *area, uint32_t number, uint32_t enough)
{
    const struct pl_area_published *published = &area->published[number % PL_AREA_SETS];
    if (published->number != number || published->reader == area->rank || pl_area_is_read(area, published))
        return MPI_SUCCESS;
    return published->reader < 0 ? wait_until_completed(area, enough)
                                 : wait_for_reader(area, published->reader, enough);
}

/* Of what was put into the own rings, forgets what is known to have been read. */
static void forget_read(struct pl_area *area)
{
    while (area->oldest != area->newest &&
           (int32_t)(area->written[area->oldest % PL_AREA_SETS].number - area->seen) < 0)
        area->oldest++;
}

/* Would the bytes until `head` leave alone what is still read? */
static bool area_is_free(const struct pl_area *area, int ring, uint64_t head)
{
    size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING;
    return area->oldest == area->newest || (area->newest - area->oldest < PL_AREA_SETS &&
                                            head - area->written[area->oldest % PL_AREA_SETS].before[ring] <= whole);
}

/* Where `bytes` more go in the own ring: at its start when they do not fit in before its end; or when nobody reads
 * there any more, and at most the operation before elsewhere, since what was written lately is in the caches, and the
 * rest perhaps not even in memory. Who runs ahead needs it all. Waits until what was there has been read. */
int pl_area_take_space(struct pl_area *area, size_t bytes, uint32_t *place)
{
    int ring = bytes > PL_AREA_SHORT;
    size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING, within = area->head[ring] & (whole - 1);
    size_t room = (bytes + PL_AREA_LINE - 1) / PL_AREA_LINE * PL_AREA_LINE;
    struct pl_area_written now = { area->next, { area->head[0], area->head[1] } };
    forget_read(area);
    bool together = within > 0 && area->newest - area->oldest <= 1;
    if (within + room > whole || (together && area_is_free(area, ring, area->head[ring] + whole - within + room))) {
        area->head[ring] += whole - within;
        within = 0;
    }
    area->head[ring] += room;
    for (; !area_is_free(area, ring, area->head[ring]); area->oldest++) {
        uint32_t number = area->written[area->oldest % PL_AREA_SETS].number;
        int rc = pl_area_await_reader(area, number, number);
        if (rc)
            return rc;
    }
    area->written[area->newest++ % PL_AREA_SETS] = now;
    *place = (uint32_t)within;
    return MPI_SUCCESS;
}

/* Whoever has said nothing for two thousand million operations must not seem to have said it just now. */
static void area_renew(struct pl_area *area)
{
    uint32_t old = area->next - BEHIND;
    if ((int32_t)(area->seen - old) < 0)
        area->seen = old;
    for (int i = 0; i < area->size; i++)
        if ((int32_t)(area->completed[i] - old) < 0)
            area->completed[i] = old;
    for (size_t i = 0; i < PL_AREA_SETS; i++) {
        struct pl_area_published *published = &area->published[i];
        struct pl_area_slot *line = &area->memory->lines[(size_t)area->size * (1 + i) + (size_t)area->rank];
        if ((int32_t)(published->number - old) < 0) {
            *published = (struct pl_area_published){ old, area->rank };
            atomic_store_explicit(&line->word, old, memory_order_relaxed);
        }
    }
}

void __attribute__((cold)) pl_area_end_slow(struct pl_area *area, uint64_t wanting)
{
    if (wanting)
        wake_wanting(area, wanting);
    if (area->next % PL_AREA_RENEWAL == 0)
        area_renew(area);
}

/* Others' memory is not believed: no more than a cell is read. */
int __attribute__((cold)) pl_area_fail_amount(int rank, size_t written, size_t expected)
{
    return pl_fail(MPI_ERR_TRUNCATE,
                   "rank %d gives %zu bytes where this rank expects %zu: all ranks have to call "
                   "the same collective with sizes that fit",
                   rank, written, expected);
}
