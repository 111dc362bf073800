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

#include "core/engine/comm.h"
#include "core/base/error.h"
#include "core/engine/peer_failure.h"
#include "core/base/cpu.h"
#include "core/engine/wait_report.h"

enum {
    GLANCES = 100,       /* before the wait is taken seriously, ... */
    TURNS = 6,           /* ... and where ranks share cores: of others, without any progress in between */
    GLANCES_ACROSS = 60, /* at cells of ranks that are on other cores */
    ALERT = 32,          /* rounds of waiting before it may come to sleep: fewer than core/engine/wait.c has */
    /* A rank is never further behind another: each operation in between holds a cell that it has yet to read. */
    BEHIND = PL_BOARD_RANKS * PL_BOARD_SETS,
};
_Static_assert(2 * BEHIND < PL_BOARD_RENEWAL, "renewed before it is as old as that");

/* --- waiting ----------------------------------------------------------------------------------------------------- */

/* Nobody can finish when one has gone; nor when `awaited` has left. Engine lock held. */
static int lost(const struct pl_board *board, int awaited, int *rank)
{
    *rank = awaited;
    if (atomic_load(&board->comm->lost))
        return MPI_ERR_PROC_ABORTED;
    for (int i = 0; i < board->size; i++)
        if (i != board->rank && pl_comm_peer(board->comm, *rank = i)->error)
            return pl_comm_peer(board->comm, i)->error;
    *rank = awaited;
    return awaited != board->rank && pl_comm_peer(board->comm, awaited)->closed ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

int pl_board_count(const struct pl_comm *comm)
{
    return (int)((comm->collective + comm->boarded) & INT32_MAX);
}

static int wait_longer(struct pl_board *board, int rank, const struct pl_awaited *awaited)
{
    struct pl_engine *engine = board->engine;
    _Atomic uint64_t *asleep = &board->sheet->asleep;
    const struct pl_waiting what = {
        .what = PL_WHAT_COLLECTIVE, .comm = board->comm, .peer = rank, .tag = pl_board_count(board->comm) + 1
    };
    struct pl_wait wait = { .what = &what };
    uint64_t bit = (uint64_t)1 << board->rank;
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
        rc = lost(board, rank, &gone);
        pl_engine_leave(engine);
        if (rc && !pl_awaited_is_there(awaited)) {
            rc = atomic_load(&board->comm->lost)
                     ? pl_lost_fail(board->comm)
                     : pl_fail(rc, "the process of rank %d in %s is gone", gone, pl_comm_label(board->comm));
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

static bool glance(const struct pl_awaited *awaited, int times, bool relaxed)
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
static bool is_missing_here(const struct pl_board *board, int rank, int end)
{
    uint32_t core = (uint32_t)sched_getcpu() + 1;
    for (int i = rank; i < end; i++) {
        uint32_t last = atomic_load_explicit(&pl_board_completed(board, i)->core, memory_order_relaxed);
        if ((last == core || last == 0) && i != board->rank && !pl_board_has(board, i))
            return true;
    }
    return false;
}

static bool let_others_run(struct pl_board *board, const struct pl_awaited *awaited, int rank, int end)
{
    for (int turn = 0; turn < TURNS; turn++) {
        if (!is_missing_here(board, rank, end) && glance(awaited, GLANCES_ACROSS, true))
            return true;
        bool quick = pl_engine_yield(board->engine);
        if (pl_awaited_is_there(awaited))
            return true;
        if (!quick)
            break;
    }
    return false;
}

/* For a rank's word, while those up to `end` may be missing as well. */
static int await(struct pl_board *board, int rank, int end, const struct pl_awaited *awaited)
{
    bool patient = board->engine->patient,
         there = patient ? let_others_run(board, awaited, rank, end) : glance(awaited, GLANCES, false);
    int rc = there ? MPI_SUCCESS : wait_longer(board, rank, awaited);
    if (patient)
        atomic_store_explicit(&board->own->core, (uint32_t)sched_getcpu() + 1, memory_order_relaxed);
    return rc;
}

int pl_board_await(struct pl_board *board, int rank, int end)
{
    return await(board, rank, end, &(struct pl_awaited){ &board->cells[rank].word, board->next + 1 });
}

/* --- waking ------------------------------------------------------------------------------------------------------- */

void __attribute__((cold)) pl_board_wake(struct pl_board *board, uint64_t asleep)
{
    pl_engine_enter(board->engine);
    for (int i = 0; i < board->size; i++)
        if (asleep >> i & 1 && i != board->rank)
            board->ops->ring(pl_comm_peer(board->comm, i)->endpoint);
    pl_engine_leave(board->engine);
}

/* That a rank has completed so many operations. */
static uint64_t wish_of(int rank, uint32_t operations)
{
    return (uint64_t)rank << 32 | operations;
}

static void wake_wanting(struct pl_board *board, uint64_t wanting)
{
    uint64_t wish = wish_of(board->rank, board->next), asleep = 0;
    for (int i = 0; i < board->size; i++)
        if (wanting >> i & 1 && atomic_load_explicit(&board->sheet->wanted[i], memory_order_relaxed) == wish)
            asleep |= (uint64_t)1 << i;
    if (asleep)
        pl_board_wake(board, asleep);
}

/* --- room --------------------------------------------------------------------------------------------------------- */

/* Waits until a rank has completed an operation. */
static int wait_for_reader(struct pl_board *board, int rank, uint32_t number)
{
    const struct pl_awaited awaited = { &pl_board_completed(board, rank)->word, number + 1 };
    int rc = MPI_SUCCESS;
    if (!pl_awaited_is_there(&awaited)) {
        uint64_t bit = (uint64_t)1 << board->rank;
        atomic_store_explicit(&board->sheet->wanted[board->rank], wish_of(rank, number + 1), memory_order_relaxed);
        atomic_fetch_or_explicit(&board->sheet->wanting, bit, memory_order_seq_cst);
        rc = await(board, rank, rank + 1, &awaited);
        atomic_fetch_and_explicit(&board->sheet->wanting, ~bit, memory_order_relaxed);
    }
    board->completed[rank] = atomic_load_explicit(awaited.word, memory_order_acquire);
    return rc;
}

/* Waits until all have completed an operation. */
static int wait_until_completed(struct pl_board *board, uint32_t number)
{
    uint32_t least = board->next;
    for (int i = 0; i < board->size; i++) {
        if (i == board->rank)
            continue;
        int rc = wait_for_reader(board, i, number);
        if (rc)
            return rc;
        if ((int32_t)(board->completed[i] - least) < 0)
            least = board->completed[i];
    }
    board->seen = least;
    return MPI_SUCCESS;
}

int pl_board_await_reader(struct pl_board *board, uint32_t number, uint32_t enough)
{
    const struct pl_board_shown *shown = &board->shown[number % PL_BOARD_SETS];
    if (shown->number != number || shown->reader == board->rank || pl_board_is_read(board, shown))
        return MPI_SUCCESS;
    return shown->reader < 0 ? wait_until_completed(board, enough) : wait_for_reader(board, shown->reader, enough);
}

/* Of what was put into the own rings, forgets what is known to have been read. */
static void forget_read(struct pl_board *board)
{
    while (board->oldest != board->newest &&
           (int32_t)(board->said[board->oldest % PL_BOARD_SETS].number - board->seen) < 0)
        board->oldest++;
}

/* Would the bytes until `head` leave alone what is still read? */
static bool is_free(const struct pl_board *board, int ring, uint64_t head)
{
    size_t whole = ring ? PL_BOARD_LONG_RING : PL_BOARD_SHORT_RING;
    return board->oldest == board->newest ||
           (board->newest - board->oldest < PL_BOARD_SETS &&
            head - board->said[board->oldest % PL_BOARD_SETS].before[ring] <= whole);
}

/* Where `bytes` more go in the own ring: at its start when they do not fit in before its end; or when nobody reads
 * there any more, and at most the operation before elsewhere, since what was written lately is in the caches, and the
 * rest perhaps not even in memory. Who runs ahead needs it all. Waits until what was there has been read. */
int pl_board_take_room(struct pl_board *board, size_t bytes, uint32_t *place)
{
    int ring = bytes > PL_BOARD_SHORT;
    size_t whole = ring ? PL_BOARD_LONG_RING : PL_BOARD_SHORT_RING, within = board->head[ring] & (whole - 1);
    size_t room = (bytes + PL_BOARD_LINE - 1) / PL_BOARD_LINE * PL_BOARD_LINE;
    struct pl_board_said now = { board->next, { board->head[0], board->head[1] } };
    forget_read(board);
    bool together = within > 0 && board->newest - board->oldest <= 1;
    if (within + room > whole || (together && is_free(board, ring, board->head[ring] + whole - within + room))) {
        board->head[ring] += whole - within;
        within = 0;
    }
    board->head[ring] += room;
    for (; !is_free(board, ring, board->head[ring]); board->oldest++) {
        uint32_t number = board->said[board->oldest % PL_BOARD_SETS].number;
        int rc = pl_board_await_reader(board, number, number);
        if (rc)
            return rc;
    }
    board->said[board->newest++ % PL_BOARD_SETS] = now;
    *place = (uint32_t)within;
    return MPI_SUCCESS;
}

/* Whoever has said nothing for two thousand million operations must not seem to have said it just now. */
static void renew(struct pl_board *board)
{
    uint32_t old = board->next - BEHIND;
    if ((int32_t)(board->seen - old) < 0)
        board->seen = old;
    for (int i = 0; i < board->size; i++)
        if ((int32_t)(board->completed[i] - old) < 0)
            board->completed[i] = old;
    for (size_t i = 0; i < PL_BOARD_SETS; i++) {
        struct pl_board_shown *shown = &board->shown[i];
        struct pl_board_line *line = &board->sheet->lines[(size_t)board->size * (1 + i) + (size_t)board->rank];
        if ((int32_t)(shown->number - old) < 0) {
            *shown = (struct pl_board_shown){ old, board->rank };
            atomic_store_explicit(&line->word, old, memory_order_relaxed);
        }
    }
}

void __attribute__((cold)) pl_board_end_rarely(struct pl_board *board, uint64_t wanting)
{
    if (wanting)
        wake_wanting(board, wanting);
    if (board->next % PL_BOARD_RENEWAL == 0)
        renew(board);
}

/* Others' memory is not believed: no more than a cell is read. */
int __attribute__((cold)) pl_board_fail_amount(int rank, size_t said, size_t expected)
{
    return pl_fail(MPI_ERR_TRUNCATE,
                   "rank %d gives %zu bytes where this rank expects %zu: all ranks have to call "
                   "the same collective with sizes that fit",
                   rank, said, expected);
}
