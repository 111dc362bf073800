/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory that stays mapped for the next use (plugins/shm/share.c). */
#include "shm_node.h"
#include "unit.h"

#include "plugins/shm/share.h"

enum { SOME = 12, SHORT = 8000, PAGES = 8192 };

static struct pl_shm_peer *peer_of(struct pl_endpoint *endpoint)
{
    return (struct pl_shm_peer *)endpoint;
}

static bool is_zero(const void *memory, size_t bytes)
{
    const char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return false;
    return true;
}

static struct pl_shared share(struct node *node, size_t bytes)
{
    struct pl_shared shared;
    ck_assert_int_eq(ops->share(node->self, bytes, &shared), MPI_SUCCESS);
    ck_assert_uint_ge(shared.bytes, bytes);
    ck_assert_uint_eq(shared.written, shared.bytes);
    ck_assert(is_zero(shared.memory, shared.bytes));
    return shared;
}

static char *attach(struct pl_endpoint *owner, const struct pl_shared *shared, size_t bytes)
{
    void *memory = NULL;
    ck_assert_int_eq(ops->attach(owner, shared->place, bytes, &memory), MPI_SUCCESS);
    return memory;
}

START_TEST(mapped_once)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *yx = node_join(y, x);
    struct pl_shared first = share(x, SHORT);
    char *there = attach(yx, &first, SHORT), *before = first.memory;
    uint64_t place = first.place;
    for (int i = 0; i < 3; i++) {
        before[0] = before[SHORT] = 1;
        there[PAGES - 1] = 2;
        ck_assert_int_eq(there[SHORT], 1);
        ck_assert_int_eq(before[PAGES - 1], 2);
        ops->detach(yx, there, SHORT);
        ops->unshare(x->self, &first, true);
        ck_assert_ptr_null(first.memory);
        first = share(x, SHORT + i);
        ck_assert_ptr_eq(first.memory, before);
        ck_assert_uint_eq(first.place, place);
        ck_assert_ptr_eq(attach(yx, &first, SHORT + (size_t)i), there);
        ck_assert(is_zero(there, PAGES));
    }
    struct pl_shared second = share(x, SHORT); /* the first one is in use */
    ck_assert_uint_ne(second.place, place);
    ops->unshare(x->self, &first, false); /* others may use it, so it is not handed out again */
    first = share(x, SHORT);
    ck_assert_uint_ne(first.place, place);
    node_close(y);
    node_close(x);
}
END_TEST

/* What the user of the memory has not written is not cleared. */
START_TEST(cleared_as_far_as_written)
{
    struct node *x = node_new(1);
    struct pl_shared shared = share(x, SHORT);
    char *memory = shared.memory;
    memory[99] = memory[100] = 1;
    shared.written = 100;
    ops->unshare(x->self, &shared, true);
    ck_assert_int_eq(memory[99], 0);
    ck_assert_int_eq(memory[100], 1);
    memory[100] = 0;
    node_close(x);
}
END_TEST

/* A peer's mapping of a span shows what the span is used for next, also when its owner has emptied it in between. */
START_TEST(bounded)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *yx = node_join(y, x);
    struct pl_shared shared[SOME];
    char *there[SOME];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < SOME; i++) {
            shared[i] = share(x, SHORT);
            there[i] = attach(yx, &shared[i], SHORT);
            ck_assert(is_zero(there[i], PAGES));
        }
        for (int i = 0; i < SOME; i++)
            memset(shared[i].memory, i + 1, PAGES);
        for (int i = 0; i < SOME; i++)
            ck_assert(there[i][0] == i + 1 && there[i][PAGES - 1] == i + 1);
        for (int i = 0; i < SOME; i++) {
            int last = round % 2 ? SOME - 1 - i : i;
            ops->detach(yx, there[last], SHORT);
            ops->unshare(x->self, &shared[last], true);
        }
        ck_assert_int_eq(inside(x)->kept.count, PL_SHM_KEPT_SPANS);
        ck_assert_uint_eq(inside(x)->kept.bytes, (size_t)PL_SHM_KEPT_SPANS * PAGES);
        ck_assert_uint_eq(peer_of(yx)->attached.count, PL_SHM_KEPT_SPANS);
    }
    ck_assert_uint_le(inside(x)->region.used, inside(x)->span.bytes + (size_t)SOME * PAGES); /* all were used again */
    node_close(y);
    node_close(x);
}
END_TEST

START_TEST(long_ones_are_unmapped)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *yx = node_join(y, x);
    struct pl_shared shared[SOME], longer = share(x, PL_SHM_KEPT_BYTES + 1);
    char *there = attach(yx, &longer, PL_SHM_KEPT_BYTES + 1);
    there[PL_SHM_KEPT_BYTES] = 1;
    ops->detach(yx, there, PL_SHM_KEPT_BYTES + 1);
    ops->unshare(x->self, &longer, true);
    ck_assert_int_eq(inside(x)->kept.count, 0);
    ck_assert_uint_eq(peer_of(yx)->attached.count, 0);
    longer = share(x, PL_SHM_KEPT_BYTES + 1);
    ops->unshare(x->self, &longer, true);
    for (int i = 0; i < SOME; i++)
        shared[i] = share(x, PL_SHM_KEPT_BYTES);
    for (int i = 0; i < SOME; i++)
        ops->unshare(x->self, &shared[i], true);
    ck_assert_uint_eq(inside(x)->kept.bytes, PL_SHM_KEPT_TOTAL);
    node_close(y);
    node_close(x);
}
END_TEST

/* What is in use stays mapped when its owner has gone. */
START_TEST(owner_gone)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *yx = node_join(y, x);
    struct pl_shared first = share(x, SHORT), second = share(x, SHORT);
    char *used = attach(yx, &first, SHORT), *kept = attach(yx, &second, SHORT);
    used[0] = 7;
    ops->detach(yx, kept, SHORT);
    exchange_one(y, yx, x, 100, 1);
    ck_assert_uint_eq(peer_of(yx)->attached.count, 2);
    node_close(x);
    check_peers(y);
    ck_assert_uint_eq(peer_of(yx)->attached.count, 1);
    ck_assert_int_eq(used[0], 7);
    ops->detach(yx, used, SHORT);
    ck_assert_uint_eq(peer_of(yx)->attached.count, 0);
    node_close(y);
}
END_TEST

UNIT_MAIN("share", mapped_once, cleared_as_far_as_written, bounded, long_ones_are_unmapped, owner_gone)
