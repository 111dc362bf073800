/* SPDX-License-Identifier: BSD-3-Clause */
/* Space in the rings of a collective area: operations of random lengths, each shifted in its line by another amount,
 * while the other ranks read on as they like. What has yet to be read is never overwritten, and all lies in the ring of
 * its rank. Areas begin with number 0, or shortly before the numbers wrap. */
#include "unit.h"

#define pl_area_await_word  ring_await_word
#define pl_area_wake        ring_wake
#define pl_coll_fail_amount ring_fail_amount
#include "core/coll/area/slots.c"

enum { AREAS = 12, OPERATIONS = 8000, RANKS = 8 };

static struct pl_area area;
static uint64_t state = 20261128;

/* What has been written and may not have been read. */
static struct span {
    uint32_t number;
    uintptr_t from, to;
} spans[PL_AREA_SETS + 1];
static int live;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* A rank has completed the operations before `number`, at least. */
static void read_up_to(int rank, uint32_t number)
{
    _Atomic uint32_t *word = &pl_area_completed(&area, rank)->word;
    if (rank != area.rank && is_before(*word, number))
        *word = number;
}

/* The area's rank waits for a word: its rank goes on, and others perhaps. */
int ring_await_word(struct pl_area *waiting, const struct pl_coll *coll, int rank, int end,
                    const struct pl_awaited *awaited)
{
    ck_assert(!coll && end == rank + 1 && !is_before(waiting->next, awaited->value));
    read_up_to(rank, awaited->value);
    for (int i = 0; i < waiting->size; i++)
        if (draw(2))
            read_up_to(i, awaited->value + draw(waiting->next - awaited->value + 1));
    return MPI_SUCCESS;
}

void ring_wake(struct pl_area *woken, uint64_t asleep)
{
    ck_abort_msg("%p: no rank sleeps: %#lx", (void *)woken, (unsigned long)asleep);
}

int ring_fail_amount(int rank, size_t given, size_t expected)
{
    ck_abort_msg("rank %d gives %zu bytes, not %zu", rank, given, expected);
    return MPI_ERR_TRUNCATE;
}

static bool is_read(uint32_t number)
{
    for (int i = 0; i < area.size; i++)
        if (i != area.rank && !is_before(number, pl_area_completed(&area, i)->word))
            return false;
    return true;
}

static void check_span(const void *data, size_t bytes)
{
    int ring = bytes > PL_AREA_SHORT;
    size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING;
    uintptr_t begin = (uintptr_t)area.ring[ring] + (size_t)area.rank * whole, from = (uintptr_t)data;
    UNIT_CHECK(from >= begin && from + bytes <= begin + whole);
    ck_assert_uint_eq(from % PL_CACHE_LINE, ring ? area.shift : 0);
    int kept = 0;
    for (int i = 0; i < live; i++) {
        if (is_read(spans[i].number))
            continue;
        if (spans[i].from < from + bytes && from < spans[i].to)
            ck_abort_msg("operation %u overwrites %u", area.next, spans[i].number);
        spans[kept++] = spans[i];
    }
    live = kept;
    ck_assert_int_lt(live, PL_AREA_SETS);
    spans[live++] = (struct span){ area.next, from, from + bytes };
}

static size_t draw_bytes(void)
{
    static const size_t limits[] = { 8, 49, 4096, 4097, 8192, 65536, 131072, 258048, PL_AREA_MAX - 64, PL_AREA_MAX };
    size_t bytes = draw(3) ? limits[draw(10)] : draw(PL_AREA_MAX + 1);
    return draw(4) ? bytes : bytes - draw((uint32_t)bytes + 1);
}

static void operate(void)
{
    size_t bytes = draw_bytes();
    void *data;
    area.shift = draw(4) * 16;
    ck_assert_int_eq(pl_area_reserve(&area, bytes, &data), MPI_SUCCESS);
    if (bytes > PL_AREA_SMALL)
        check_span(data, bytes);
    area.published[area.next % PL_AREA_SETS] = (struct pl_area_published){ area.next, -1 };
    for (int i = 0; i < area.size && draw(5) == 0; i++)
        read_up_to(i, area.next - draw(4));
    pl_area_end(&area);
}

static void open_area(int size, int rank, uint32_t first)
{
    size_t bytes = (pl_area_memory_bytes(size) + 4095) / 4096 * 4096;
    area = (struct pl_area){ .size = size, .rank = rank, .memory = aligned_alloc(4096, bytes) };
    ck_assert_ptr_nonnull(area.memory);
    memset(area.memory, 0, bytes);
    pl_area_begin(&area);
    area.next = area.seen = first;
    area.slots = pl_area_slots_of(&area, first);
    for (int i = 0; i < size; i++)
        area.completed[i] = pl_area_completed(&area, i)->word = first;
    live = 0;
}

START_TEST(nothing_unread_is_overwritten)
{
    for (int i = 0; i < AREAS; i++) {
        int size = 2 + i % (RANKS - 1);
        open_area(size, i % size, i % 3 == 0 ? UINT32_MAX - OPERATIONS / 2 : 0);
        for (int n = 0; n < OPERATIONS; n++)
            operate();
        free(area.memory);
    }
}
END_TEST

/* Whatever offset another rank gives, its data is in its ring. */
START_TEST(damaged_offsets_stay_in_the_ring)
{
    open_area(3, 0, 0);
    for (int n = 0; n < 100000; n++) {
        size_t bytes = PL_AREA_SMALL + 1 + draw(PL_AREA_ELSEWHERE - PL_AREA_SMALL);
        size_t offset = draw(draw(2) ? 600000 : UINT32_MAX);
        int rank = (int)draw(3), ring = bytes > PL_AREA_SHORT;
        size_t whole = ring ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING;
        uintptr_t from = (uintptr_t)pl_area_in_ring(&area, rank, bytes, offset);
        uintptr_t begin = (uintptr_t)area.ring[ring] + (size_t)rank * whole;
        UNIT_CHECK(from >= begin && from + bytes <= begin + whole && from % _Alignof(max_align_t) == 0);
    }
    free(area.memory);
}
END_TEST

UNIT_MAIN("area_ring", nothing_unread_is_overwritten, damaged_offsets_stay_in_the_ring)
