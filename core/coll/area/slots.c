/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of an area's memory, and what an operation on slots does seldom: waiting for space, waking ranks that wait
 * for it, renewing old numbers. */
#include "core/coll/area/slots.h"
#include "core/engine/comm.h"
#include "core/engine/peer.h"
#include "core/engine/transport.h"
#include "core/engine/wait.h"

/* A rank is never further behind another: each operation in between holds a slot that it has yet to read. */
enum { BEHIND = PL_AREA_RANKS * PL_AREA_SETS, UNIT = 4096 };
_Static_assert(2 * BEHIND < PL_AREA_RENEWAL, "a number is renewed before it is as old as that");

/* --- memory ------------------------------------------------------------------------------------------------------- */

static size_t slots_bytes(int size)
{
    size_t lines = (size_t)size * (1 + PL_AREA_SETS);
    size_t bytes = sizeof(struct pl_area_memory) + lines * sizeof(struct pl_area_slot);
    return (bytes + UNIT - 1) & ~(size_t)(UNIT - 1);
}

size_t pl_area_memory_bytes(int size)
{
    return slots_bytes(size) + (size_t)size * (PL_AREA_SHORT_RING + (size <= PL_AREA_FLAT ? PL_AREA_LONG_RING : 0));
}

void pl_area_begin(struct pl_area *area)
{
    for (int i = 0; i < PL_AREA_SETS; i++)
        area->published[i] = (struct pl_area_published){ UINT32_MAX, area->rank };
    area->slots = pl_area_slots_of(area, 0);
    area->own = pl_area_completed(area, area->rank);
    area->ring[0] = (unsigned char *)area->memory + slots_bytes(area->size);
    area->ring[1] = area->ring[0] + (size_t)area->size * PL_AREA_SHORT_RING;
}

/* --- waking ------------------------------------------------------------------------------------------------------- */

/* What a rank waits for: that `rank` has completed this many operations. */
static uint64_t area_wish_of(int rank, uint32_t operations)
{
    return (uint64_t)rank << 32 | operations;
}

PL_COLD static void area_wake_rank(struct pl_area *area, int rank)
{
    pl_engine_enter(area->engine);
    const struct pl_peer *peer = pl_comm_peer(area->comm, rank);
    if (peer) /* else the communicator is revoked, which wakes all */
        area->ops->ring(peer->endpoint);
    pl_engine_leave(area->engine);
}

static void area_wake_wanting(struct pl_area *area)
{
    uint64_t wish = area_wish_of(area->rank, area->next);
    /* pl_area_end() has read this number without order; the wishes were written before it. */
    (void)atomic_load_explicit(&area->memory->wanting, memory_order_acquire);
    for (int i = 0; i < area->size; i++)
        if (atomic_load_explicit(&area->memory->wanted[i], memory_order_relaxed) == wish)
            area_wake_rank(area, i);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

void *pl_area_in_ring(const struct pl_area *area, int rank, size_t bytes, size_t offset)
{
    bool is_long = bytes > PL_AREA_SHORT;
    size_t whole = is_long ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING, most = whole - bytes;
    size_t within = (offset < most ? offset : most) & ~(size_t)(_Alignof(max_align_t) - 1);
    return area->ring[is_long] + (size_t)rank * whole + within;
}

void *pl_area_data_in_ring(const struct pl_area *area, int rank, size_t bytes)
{
    return pl_area_in_ring(area, rank, bytes, pl_read_shared(&area->slots[rank].offset));
}

/* --- space -------------------------------------------------------------------------------------------------------- */

/* Waits until a rank has completed an operation. */
static int area_await_completed(struct pl_area *area, int rank, uint32_t number)
{
    const struct pl_awaited awaited = { &pl_area_completed(area, rank)->word, number + 1 };
    int rc = MPI_SUCCESS;
    if (!pl_awaited_is_there(&awaited)) {
        _Atomic uint64_t *wanted = &area->memory->wanted[area->rank];
        atomic_store_explicit(wanted, area_wish_of(rank, number + 1), memory_order_relaxed);
        atomic_fetch_add_explicit(&area->memory->wanting, 1, memory_order_seq_cst);
        rc = pl_area_await_word(area, NULL, rank, rank + 1, &awaited);
        atomic_fetch_sub_explicit(&area->memory->wanting, 1, memory_order_relaxed);
        atomic_store_explicit(wanted, 0, memory_order_relaxed); /* operations begin with 1 there */
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

/* A reader that stands for this rank's children in the tree with that root, and back. */
static int area_children_of(int root)
{
    return -2 - root;
}

static int area_await_children_completed(struct pl_area *area, int root, uint32_t number, uint32_t enough)
{
    struct pl_area_links links = pl_area_tree_links(&area->tree, root);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < links.children && rc == MPI_SUCCESS; i++)
        if ((int32_t)(area->completed[links.child[i]] - number) <= 0)
            rc = area_await_completed(area, links.child[i], enough);
    return rc;
}

int pl_area_await_reader(struct pl_area *area, uint32_t number, uint32_t enough)
{
    const struct pl_area_published *published = &area->published[number % PL_AREA_SETS];
    if (published->number != number || published->reader == area->rank || pl_area_is_read(area, published))
        return MPI_SUCCESS;
    if (published->reader < -1)
        return area_await_children_completed(area, area_children_of(published->reader), number, enough);
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
    size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING, shift = ring ? area->shift : 0;
    size_t within = ring ? area->head[1] % PL_AREA_LONG_RING : area->head[0] % PL_AREA_SHORT_RING;
    size_t lines = (shift + bytes + PL_CACHE_LINE - 1) / PL_CACHE_LINE * PL_CACHE_LINE;
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
    *offset = (uint32_t)(within + shift);
    return MPI_SUCCESS;
}

/* --- publishing in a tree ----------------------------------------------------------------------------------------- */

static void area_publish_as(struct pl_area *area, int reader)
{
    area->published[area->next % PL_AREA_SETS] = (struct pl_area_published){ area->next, reader };
    atomic_store_explicit(&area->slots[area->rank].word, area->next + 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

static bool area_may_sleep(struct pl_area *area, int rank)
{
    return atomic_load_explicit(&area->memory->asleep[rank / 64], memory_order_relaxed) >> rank % 64 & 1;
}

void pl_area_publish_up(struct pl_area *area, int parent)
{
    area_publish_as(area, parent);
    if (pl_unlikely(area_may_sleep(area, parent)))
        area_wake_rank(area, parent);
}

void pl_area_publish_down(struct pl_area *area, int root, bool for_all)
{
    uint64_t asleep = 0;
    area_publish_as(area, for_all ? -1 : area_children_of(root));
    for (int i = 0; i < PL_AREA_WORDS; i++)
        asleep |= atomic_load_explicit(&area->memory->asleep[i], memory_order_relaxed);
    if (pl_likely(asleep == 0))
        return;
    struct pl_area_links links = pl_area_tree_links(&area->tree, root);
    for (int i = 0; i < links.children; i++)
        if (area_may_sleep(area, links.child[i]))
            area_wake_rank(area, links.child[i]);
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
        area_wake_wanting(area);
    if (area->next % PL_AREA_RENEWAL == 0)
        area_renew(area);
}
