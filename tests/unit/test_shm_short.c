/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport's fast paths, which send and receive without queues: which messages they take. */
#include "transport_pair.h"

#include "plugins/shm/ring.h"
#include "plugins/shm/shm_peer.h"

extern const struct pl_transport_ops pl_transport_shm;
static const struct pl_transport_ops *const ops = &pl_transport_shm;

enum { EAGER = 4096 };

static void open_pair(void)
{
    node_rndv = "auto";
    node_ring = 65536;
    node_eager = EAGER;
    pair_open(ops);
}

static const struct pl_header plain = { .home = 7, .serial = 3, .source = 1 };

static int take(size_t limit, int tag, size_t *bytes)
{
    ptrdiff_t result = ops->take_next(ba, &plain, plain.source, tag, 2, received, limit);
    if (result < 0)
        return (int)result;
    *bytes = (size_t)result;
    return MPI_SUCCESS;
}

/* Until the rings exist the fast paths take nothing; then they take every message that fits, lap after lap. */
START_TEST(fast_paths)
{
    static unsigned char data[EAGER + 1];
    static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 64, 1000, 1024, 1025, 3000, EAGER };
    size_t bytes = 99;
    open_pair();
    node_fill(data, sizeof data, 1, 9);
    ck_assert_int_eq(take(EAGER, 0, &bytes), PL_PENDING);
    ck_assert(!ops->send_now(ab, &plain, 1, 0, data));
    one_message(100, 1, &node_solid, &node_solid);
    NODE_UNTIL(a, b, take(EAGER, 0, &bytes) == PL_AGAIN);
    ck_assert(!ops->send_now(ab, &plain, 1, EAGER + 1, data));
    for (unsigned i = 0; i < 500; i++) {
        size_t size = sizes[i % (sizeof sizes / sizeof *sizes)];
        memset(received, 0, size + 1);
        ck_assert(ops->send_now(ab, &plain, (int)i, size, data));
        if (take(EAGER, (int)i, &bytes) == PL_PENDING) /* progress() handles the end of a lap */
            bytes = node_take(b, a, received, size, &node_solid).size;
        ck_assert_uint_eq(bytes, size);
        ck_assert_int_eq(memcmp(received, data, size), 0);
        ck_assert_uint_eq(received[size], 0);
        ck_assert_int_eq(take(EAGER, (int)i, &bytes), PL_AGAIN);
    }
    close_pair();
}
END_TEST

static ptrdiff_t take_if_likely(int tag)
{
    return ops->take_next(ba, &plain, plain.source, tag, 0, received, EAGER);
}

/* Each poll of a line that is yet to be written costs its writer the time of a message. So progress reads one message
 * if the engine awaits no other, and a receive with 0 polls polls only after a streak of messages. */
START_TEST(no_early_poll)
{
    size_t bytes = 99;
    open_pair();
    one_message(100, 1, &node_solid, &node_solid);
    NODE_UNTIL(a, b, take(EAGER, 0, &bytes) == PL_AGAIN);
    for (int tag = 0; tag < 3; tag++)
        ck_assert(ops->send_now(ab, &plain, tag, 8, "message"));
    ck_assert_int_eq(take_if_likely(0), PL_PENDING);
    b->content = true;
    b->arrived = 0;
    ops->progress(b->self);
    ck_assert_uint_eq(b->arrived, 1);
    b->content = false;
    ops->progress(b->self);
    ck_assert_uint_eq(b->arrived, 3);
    for (int tag = 0; tag < 3; tag++)
        ck_assert_int_eq(node_take(b, NULL, received, 8, &node_solid).tag, tag);
    for (int i = 0; i < 40; i++)
        ck_assert(ops->send_now(ab, &plain, i, 8, "message"));
    ops->progress(b->self);
    ck_assert_uint_eq(b->arrived, 43);
    ck_assert(ops->send_now(ab, &plain, 40, 8, "message"));
    ck_assert_int_eq(take_if_likely(40), 8);
    ck_assert_int_eq(memcmp(received, "message", 8), 0);
    ck_assert_int_eq(take_if_likely(41), PL_AGAIN); /* a wrong guess, which is not repeated */
    ck_assert_int_eq(take_if_likely(41), PL_PENDING);
    for (int i = 0; i < 40; i++)
        node_take(b, NULL, received, 8, &node_solid);
    close_pair();
}
END_TEST

/* Messages that a receive does not wait for stay for the general path, in order: another envelope, too long, an RTS. */
START_TEST(fast_path_not_taken)
{
    static unsigned char data[EAGER];
    size_t bytes;
    open_pair();
    one_message(0, 1, &node_solid, &node_solid);
    NODE_UNTIL(a, b, take(EAGER, 0, &bytes) == PL_AGAIN);
    struct pl_header other[] = { plain, plain, plain, plain, plain };
    other[0].home++, other[1].serial++, other[2].source++, other[3].kind = PL_MSG_COLL, other[4].flags = PL_FLAG_SYNC;
    for (int i = 0; i < 5; i++) {
        ck_assert(ops->send_now(ab, &other[i], 5, 100, data));
        ck_assert_int_eq(take(EAGER, 5, &bytes), PL_PENDING);
        node_take(b, a, received, 100, &node_solid);
    }
    ck_assert(ops->send_now(ab, &plain, 5, 100, data));
    ck_assert_int_eq(take(EAGER, 6, &bytes), PL_PENDING);
    ck_assert_int_eq(take(99, 5, &bytes), PL_PENDING);
    ck_assert_int_eq(take(100, 5, &bytes), MPI_SUCCESS);
    struct message *longer = message_send(a, ab, 5, 2 * EAGER, &node_solid);
    ck_assert(ops->send_now(ab, &plain, 5, 100, data));
    ck_assert_int_eq(take(EAGER, 5, &bytes), PL_PENDING);
    node_take(b, a, received, 2 * EAGER, &node_solid);
    NODE_UNTIL(a, b, message_done(longer));
    message_free(longer);
    struct pl_header header = node_take(b, a, received, 100, &node_solid);
    ck_assert_int_eq(header.tag, 5);
    close_pair();
}
END_TEST

/* The lines behind a record's first one are marked, and no others, wherever they begin and however many they are. */
START_TEST(stale_lines)
{
    enum { LINES = 256 };
    for (uint32_t line = 0; line < LINES; line++)
        for (uint32_t count = 0; count <= LINES - line; count++) {
            uint64_t stale[LINES / 64] = { 0 };
            struct pl_shm_out out = { .mask = LINES - 1, .stale = stale };
            pl_shm_mark_stale(&out, line, count);
            for (uint32_t i = 0; i < LINES; i++)
                if (pl_shm_is_stale(&out, i) != (i >= line && i < line + count))
                    ck_abort_msg("line %u after %u lines from %u", i, count, line);
        }
}
END_TEST

UNIT_MAIN("shm_short", fast_paths, no_early_poll, fast_path_not_taken, stale_lines)
