/* SPDX-License-Identifier: BSD-3-Clause */
/* What an operation on slots does seldom: waiting for space, waking ranks that wait for it, renewing old numbers. */
#include "core/coll/area/slots.h"
#include "core/engine/wait.h"

/* A rank is never further behind another: each operation in between holds a slot that it has yet to read. */
enum { BEHIND = PL_AREA_RANKS * PL_AREA_SETS };
_Static_assert(2 * BEHIND < PL_AREA_RENEWAL, "a number is renewed before it is as old as that");

/* --- waking ------------------------------------------------------------------------------------------------------- */

/* What a rank waits for: that `rank` has completed this many operations. */
static uint64_t area_wish_of(int rank, uint32_t operations)
{
    return (uint64_t)rank << 32 | operations;
}

static void area_wake_wanting(struct pl_area *area, uint64_t wanting)
{
    uint64_t wish = area_wish_of(area->rank, area->next), asleep = 0;
    for (int i = 0; i < area->size; i++)
        if (wanting >> i & 1 && atomic_load_explicit(&area->memory->wanted[i], memory_order_relaxed) == wish)
            asleep |= (uint64_t)1 << i;
    if (asleep)
        pl_area_wake(area, asleep);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

void *pl_area_data_in_ring(const struct pl_area *area, int rank, size_t bytes)
{
    bool is_long = bytes > PL_AREA_SHORT;
    size_t whole = is_long ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING;
    size_t offset = pl_read_shared(&area->slots[rank].offset), most = whole - bytes;
    size_t within = (offset < most ? offset : most) & ~(size_t)(PL_CACHE_LINE - 1);
    return area->ring[is_long] + (size_t)rank * whole + within;
}

/* --- space -------------------------------------------------------------------------------------------------------- */

/* Waits until a rank has completed an operation. */
static int area_await_completed(struct pl_area *area, int rank, uint32_t number)
{
    const struct pl_awaited awaited = { &pl_area_completed(area, rank)->word, number + 1 };
    int rc = MPI_SUCCESS;
    if (!pl_awaited_is_there(&awaited)) {
        uint64_t bit = (uint64_t)1 << area->rank;
        atomic_store_explicit(&area->memory->wanted[area->rank], area_wish_of(rank, number + 1), memory_order_relaxed);
        atomic_fetch_or_explicit(&area->memory->wanting, bit, memory_order_seq_cst);
        rc = pl_area_await_word(area, NULL, rank, rank + 1, &awaited);
        atomic_fetch_and_explicit(&area->memory->wanting, ~bit, memory_order_relaxed);
    }
    area->completed[rank] = atomic_load_explicit(awaited.word, memory_order_acquire);
    return rc;
}

static int area_await_all_completed(struct pl_area *area, uint32_t number)
{
    uint32_t least = area->next;
    for (int i = 0; i < area->size; i++) {
        if (i == area->rank)
            continue;
        int rc = area_await_completed(area, i, number);
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
    return published->reader < 0 ? area_await_all_completed(area, enough)
                                 : area_await_completed(area, published->reader, enough);
}

/* Forgets what this rank has written into its rings and, as far as it knows, has been read. */
static void area_forget_read(struct pl_area *area)
{
    while (area->oldest != area->newest &&
           (int32_t)(area->written[area->oldest % PL_AREA_SETS].number - area->seen) < 0)
        area->oldest++;
}

/* Can the ring be written up to `head` without touching what may still be read? */
static bool area_is_free(const struct pl_area *area, int ring, uint64_t head)
{
    size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING;
    return area->oldest == area->newest || (area->newest - area->oldest < PL_AREA_SETS &&
                                            head - area->written[area->oldest % PL_AREA_SETS].before[ring] <= whole);
}

/* The data goes to the ring's start if it does not fit in before the end; or if that is free, and at most the operation
 * before is still read. Memory that was written lately is in the caches, and the rest perhaps not even mapped: without
 * this the first eight allreduces of 64 KiB on 16 ranks take a thousand page faults each, 1.0 ms instead of 0.1. A rank
 * that runs ahead needs the whole ring. */
int pl_area_take_space(struct pl_area *area, size_t bytes, uint32_t *offset)
{
    int ring = bytes > PL_AREA_SHORT;
    size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING, within = area->head[ring] & (whole - 1);
    size_t lines = (bytes + PL_CACHE_LINE - 1) / PL_CACHE_LINE * PL_CACHE_LINE;
    struct pl_area_written now = { area->next, { area->head[0], area->head[1] } };
    area_forget_read(area);
    bool together = within > 0 && area->newest - area->oldest <= 1;
    if (within + lines > whole || (together && area_is_free(area, ring, area->head[ring] + whole - within + lines))) {
        area->head[ring] += whole - within;
        within = 0;
    }
    area->head[ring] += lines;
    for (; !area_is_free(area, ring, area->head[ring]); area->oldest++) {
        uint32_t number = area->written[area->oldest % PL_AREA_SETS].number;
        int rc = pl_area_await_reader(area, number, number);
        if (rc)
            return rc;
    }
    area->written[area->newest++ % PL_AREA_SETS] = now;
    *offset = (uint32_t)within;
    return MPI_SUCCESS;
}

/* --- the end of an operation -------------------------------------------------------------------------------------- */

/* Numbers are compared by their difference: a slot that has not been written for 2^31 operations would seem new. */
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
        struct pl_area_slot *slot = &area->memory->lines[(size_t)area->size * (1 + i) + (size_t)area->rank];
        if ((int32_t)(published->number - old) < 0) {
            *published = (struct pl_area_published){ old, area->rank };
            atomic_store_explicit(&slot->word, old, memory_order_relaxed);
        }
    }
}

PL_COLD int pl_area_fail_amount(struct pl_area *area, int rank, size_t given, size_t expected)
{
    area->wrong = given;
    return pl_coll_fail_amount(rank, given, expected);
}

PL_COLD void pl_area_end_slow(struct pl_area *area, uint64_t wanting)
{
    if (wanting)
        area_wake_wanting(area, wanting);
    if (area->next % PL_AREA_RENEWAL == 0)
        area_renew(area);
}
