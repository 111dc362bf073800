/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of partitioned communication: what it sends, and how it handles announcements and chunks that come in any
 * order, before it is started or after. Announced sizes do not fit or are implausible; memory runs out; the
 * communicator is broken.
 */
#include "wire.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/datatype.h"
#include "core/engine/partitioned_chunks.h"
#include "core/engine/peer_failure.h"

enum { TAG = 5, BYTES = 24 };

/* The same as in core/engine/partitioned.c. */
struct terms {
    uint64_t chunk_bytes;
    int32_t chunks, first_tag;
};

static unsigned char data[BYTES];

static void announce(uint64_t chunk_bytes, int chunks, int first_tag)
{
    struct terms terms = { chunk_bytes, chunks, first_tag };
    struct pl_header header = header_of(PL_MSG_PARTITIONED, comms[0], 1, TAG, sizeof terms);
    arrive(&header, &terms, NULL);
}

static void send_chunk(int tag, int bytes, int first)
{
    unsigned char chunk[BYTES];
    struct pl_header header = header_of(PL_MSG_PARTITIONED, comms[0], 1, INT32_MIN + tag, (size_t)bytes);
    for (int i = 0; i < bytes; i++)
        chunk[i] = (unsigned char)(first + i);
    arrive(&header, chunk, NULL);
}

static struct pl_request *receive(int partitions)
{
    struct pl_request *request;
    ck_assert_int_eq(pl_precv_create(comms[0], data, partitions, BYTES / partitions, (struct pl_type *)PL_TYPE_BYTE, 1,
                                     TAG, &request),
                     MPI_SUCCESS);
    memset(data, 0, sizeof data);
    return request;
}

static void start(struct pl_request *request)
{
    ck_assert_int_eq(request->coll.restart(request), MPI_SUCCESS);
    request->is.active = true;
}

static void check_done(struct pl_request *request, int error, int bytes)
{
    ck_assert(pl_request_done(request));
    ck_assert_int_eq(request->outcome.error, error);
    ck_assert_int_eq((int)request->outcome.bytes, bytes);
    request->is.active = false;
}

static void check_data(void)
{
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(data[i], i);
}

START_TEST(what_is_sent)
{
    set_up();
    struct pl_request *request;
    ck_assert_int_eq(pl_psend_create(comms[0], data, 4, 6, (struct pl_type *)PL_TYPE_BYTE, 1, TAG, &request),
                     MPI_SUCCESS);
    ck_assert(pl_is_psend(request) && !pl_is_precv(request) && pl_partitions(request) == 4);
    ck_assert_int_eq(wire.sent, 1);
    ck_assert(wire.header[0].kind == PL_MSG_PARTITIONED && wire.header[0].tag == TAG &&
              wire.header[0].size == sizeof(struct terms));
    for (int time = 0; time < 2; time++) {
        wire.sent = 0;
        start(request);
        ck_assert_int_eq(pl_pready(request, 2, 3), MPI_SUCCESS);
        ck_assert_int_eq(wire.sent, 2);
        ck_assert_int_eq(pl_pready(request, 0, 3), MPI_ERR_ARG);
        ck_assert_int_eq(wire.sent, 4); /* 0 and 1 went, 2 was ready */
        check_done(request, MPI_SUCCESS, 0);
        for (int i = 0; i < 4; i++)
            ck_assert(wire.header[i].kind == PL_MSG_PARTITIONED && wire.header[i].tag == INT32_MIN + (i + 2) % 4 &&
                      wire.header[i].size == 6);
    }
    pl_request_let_go(request);

    /*
     * The next send has other tags. Chunks that the transport refuses are sent later, and the request waits for them.
     */
    ck_assert_int_eq(pl_psend_create(comms[0], data, 2, 6, (struct pl_type *)PL_TYPE_BYTE, 1, TAG, &request),
                     MPI_SUCCESS);
    start(request);
    wire.result = PL_PENDING;
    wire.sent = 0;
    ck_assert_int_eq(pl_pready(request, 0, 1), MPI_SUCCESS);
    ck_assert(wire.header[0].tag == INT32_MIN + 4 && wire.header[1].tag == INT32_MIN + 5);
    ck_assert(!pl_request_done(request));
    for (int i = 0; i < 2; i++) {
        pl_engine_enter(engine);
        pl_engine_host.sent(engine, wire.message[i], i ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS);
        pl_engine_leave(engine);
    }
    check_done(request, MPI_ERR_PROC_ABORTED, 0);
    pl_request_let_go(request);
    tear_down();
}
END_TEST

/* The tags are given in turn, but not those of sends that live. */
START_TEST(tags_of_living_sends)
{
    static const uint64_t all = PL_CHANNEL_TAGS;
    const struct {
        uint64_t at;    /* tags given before */
        int partitions; /* of the send then */
        uint64_t first; /* its first tag */
    } takes[] = {
        { 0, 4, 0 },
        { 100, 3, 100 },
        { all - 2, 2, all - 2 }, /* these three live */
        { all, 1, 4 },
        { all + 2, 90, 4 },
        { all + 2, 97, 103 },
        { 2 * all - 1, 1, 4 },
        { 2 * all - 6, 4, all - 6 },
        { 2 * all - 6, 5, 4 },
        { 3 * all + 101, 1, 103 },
        { 4 * all - 3, 2, 4 },
    };
    struct pl_request *lives[3], *request;
    set_up();
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        comms[0]->partitioned.tags = takes[i].at;
        wire.sent = 0;
        ck_assert_int_eq(pl_psend_create(comms[0], data, takes[i].partitions, 0, (struct pl_type *)PL_TYPE_BYTE, 1, TAG,
                                         &request),
                         MPI_SUCCESS);
        ck_assert_int_eq(pl_channel_of(request)->terms.first_tag, (int32_t)takes[i].first);
        if (i < 3)
            lives[i] = request;
        else
            pl_request_let_go(request);
    }
    for (int i = 0; i < 3; i++)
        pl_request_let_go(lives[i]);
    tear_down();
}
END_TEST

/* Announced before it is initialized, and started before any, before some, or after all of the chunks have come. */
START_TEST(any_order)
{
    set_up();
    for (int announced = 0; announced < 3; announced++)
        for (int started = 0; started < 4; started++) {
            int first_tag = 100 * (announced * 4 + started + 1);
            if (announced == 0)
                announce(6, 4, first_tag);
            struct pl_request *request = receive(3);
            ck_assert(pl_parrived(request, 0));
            if (announced == 1)
                announce(6, 4, first_tag);
            for (int i = 0; i < 4; i++) {
                if (started == i)
                    start(request);
                ck_assert(started > i || !pl_parrived(request, 0));
                send_chunk(first_tag + 3 - i, 6, (3 - i) * 6); /* from the end */
                if (started <= i && announced < 2) {
                    ck_assert_int_eq(pl_parrived(request, 2), i >= 1);
                    ck_assert_int_eq(pl_parrived(request, 1), i >= 2);
                    ck_assert_int_eq(pl_parrived(request, 0), i >= 3);
                }
            }
            if (announced == 2) {
                ck_assert(!pl_request_done(request));
                announce(6, 4, first_tag);
            }
            check_done(request, MPI_SUCCESS, BYTES);
            check_data();
            pl_request_let_go(request);
        }
    tear_down();
}
END_TEST

/* Elements of eight bytes out of chunks of six: through a copy. */
START_TEST(ragged_chunks)
{
    set_up();
    struct pl_request *request;
    ck_assert_int_eq(pl_precv_create(comms[0], data, 1, 3, pl_type_predefined((uintptr_t)MPI_INT64_T), 1, TAG,
                                     &request),
                     MPI_SUCCESS);
    announce(6, 4, 40);
    start(request);
    for (int i = 0; i < 4; i++)
        send_chunk(40 + (i + 2) % 4, 6, (i + 2) % 4 * 6);
    check_done(request, MPI_SUCCESS, BYTES);
    check_data();
    pl_request_let_go(request);
    tear_down();
}
END_TEST

/* Announcements of the other side need not be correct. */
START_TEST(announcements_that_do_not_fit)
{
    static const struct {
        uint64_t chunk_bytes;
        int chunks, error;
    } cases[] = {
        { 7, 4, MPI_ERR_TRUNCATE },
        { 25, 1, MPI_ERR_TRUNCATE },
        { UINT64_MAX, 4, MPI_ERR_TRUNCATE },
        { (uint64_t)1 << 62, 4, MPI_ERR_TRUNCATE },
    };
    set_up();
    for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); k++) {
        struct pl_request *request = receive(3);
        announce(cases[k].chunk_bytes, cases[k].chunks, 100 * k);
        for (int time = 0; time < 2; time++) {
            start(request);
            for (int i = 0; i < cases[k].chunks; i++)
                send_chunk(100 * k + i, 5, 0);
            check_done(request, cases[k].error, 0);
            ck_assert_int_eq(pl_request_report(request), cases[k].error);
            for (int i = 0; i < BYTES; i++)
                ck_assert_int_eq(data[i], 0);
        }
        pl_request_let_go(request);
    }

    /* Nonsense: negative, too short, too long, billions of empty chunks. Every activation fails at once. */
    for (int k = 0; k < 6; k++) {
        struct terms terms[2] = { { k < 4 ? 6 : 0,
                                    k == 0   ? -1
                                    : k == 4 ? INT32_MAX
                                    : k == 5 ? 1 << 20
                                             : 4,
                                    k == 1 ? -1 : 0 } };
        struct pl_header header = header_of(PL_MSG_PARTITIONED, comms[0], 1, TAG,
                                            k == 2   ? 3
                                            : k == 3 ? sizeof terms
                                                     : sizeof *terms);
        struct pl_request *request = receive(2);
        start(request);
        arrive(&header, terms, NULL);
        ck_assert(pl_request_done(request) && request->outcome.error != MPI_SUCCESS);
        start(request);
        ck_assert(pl_request_done(request) && request->outcome.error != MPI_SUCCESS);
        request->is.active = false;
        pl_request_let_go(request);
    }

    /* A chunk that is longer than announced is cut. */
    struct pl_request *request = receive(2);
    announce(12, 2, 700);
    start(request);
    send_chunk(700, 12, 0);
    send_chunk(701, 24, 12);
    check_done(request, MPI_ERR_TRUNCATE, BYTES);
    check_data();
    pl_request_let_go(request);
    tear_down();
}
END_TEST

/* Freed before its announcement came, which is matched nevertheless; and freed while it is active. */
START_TEST(freed)
{
    set_up();
    struct pl_request *first = receive(2), *second = receive(2), *third;
    pl_request_let_go(first);
    announce(1, 1, 0);
    announce(12, 2, 10);
    start(second);
    pl_request_let_go(second);
    send_chunk(10, 12, 0);
    send_chunk(11, 12, 12);
    check_data();
    ck_assert_int_eq(pl_object_count(PL_REQUEST), 0);
    third = receive(1); /* its announcement never comes: the communicator ends it */
    start(third);
    pl_engine_enter(engine);
    PL_LIST_EACH(request, &comms[0]->match.queues[PL_MSG_PARTITIONED].posted, struct pl_request, link) {
        pl_list_remove(&request->link);
        request->outcome.cancelled = true;
        pl_request_complete(request, MPI_SUCCESS);
    }
    pl_engine_leave(engine);
    ck_assert(pl_request_done(third) && third->outcome.cancelled);
    third->is.active = false;
    pl_request_let_go(third);
    tear_down();
}
END_TEST

/* Each allocation fails once. */
START_TEST(no_memory)
{
    set_up();
    for (int send = 0; send < 2; send++)
        for (long n = 1;; n++) {
            struct pl_request *request = NULL;
            pl_memory_fail_at(n);
            int rc = send ? pl_psend_create(comms[0], data, 4, 6, (struct pl_type *)PL_TYPE_BYTE, 1, TAG, &request)
                          : pl_precv_create(comms[0], data, 4, 6, (struct pl_type *)PL_TYPE_BYTE, 1, TAG, &request);
            bool failed = pl_memory_failed();
            pl_memory_fail_at(0);
            if (rc == MPI_SUCCESS) {
                pl_request_let_go(request);
                ck_assert(!failed);
                break;
            }
            ck_assert_int_eq(rc, MPI_ERR_NO_MEM);
            ck_assert_int_lt((int)n, 20);
        }
    announce(6, 4, 0); /* for the receive that was freed */

    /* The receiver has no memory for the chunks: every activation fails. */
    struct pl_request *request = receive(4);
    pl_memory_fail_at(1);
    announce(6, 4, 10);
    pl_memory_fail_at(0);
    start(request);
    check_done(request, MPI_ERR_NO_MEM, 0);
    pl_request_let_go(request);
    tear_down();
}
END_TEST

static void break_comm(void)
{
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 0, 0);
    pl_engine_enter(engine);
    pl_failure_message_dropped(engine, comms[0], &header);
    pl_engine_leave(engine);
}

static void check_ended(struct pl_request *request)
{
    ck_assert(pl_request_done(request));
    ck_assert_int_eq(request->outcome.error, MPI_ERR_NO_MEM);
    for (int i = 0; i < pl_partitions(request); i++)
        ck_assert(pl_parrived(request, i));
    request->is.active = false;
}

/* A broken communicator delivers only what has come before. */
START_TEST(broken_receives)
{
    set_up();
    struct pl_request *partly = receive(4), *there = receive(4), *later = receive(4), *unannounced = receive(4), *fresh;
    for (int i = 0; i < 3; i++)
        announce(6, 4, 10 * i);
    start(partly);
    start(unannounced);
    send_chunk(2, 6, 0);
    send_chunk(20, 6, 0);
    for (int i = 0; i < 4; i++)
        send_chunk(10 + i, 6, 6 * i);
    break_comm();
    check_ended(partly);
    check_ended(unannounced);
    start(there);
    check_done(there, MPI_SUCCESS, BYTES);
    check_data();
    for (int time = 0; time < 2; time++) {
        start(there);
        check_ended(there);
        start(later); /* the first time one of its chunks is there */
        check_ended(later);
        start(unannounced);
        check_ended(unannounced);
    }
    fresh = receive(2);
    start(fresh);
    check_ended(fresh);
    struct pl_request *all[] = { partly, there, later, unannounced, fresh };
    for (int i = 0; i < 5; i++)
        pl_request_let_go(all[i]);
    tear_down();
}
END_TEST

/*
 * A long chunk waits here for its receiver, which may have freed the communicator: the receiver is asked to give it
 * back.
 */
START_TEST(broken_sends)
{
    set_up();
    struct pl_request *request;
    ck_assert_int_eq(pl_psend_create(comms[0], data, 2, 12, (struct pl_type *)PL_TYPE_BYTE, 1, TAG, &request),
                     MPI_SUCCESS);
    start(request);
    wire.result = PL_PENDING;
    ck_assert_int_eq(pl_pready(request, 0, 1), MPI_SUCCESS);
    struct pl_header answers[] = { wire.header[1], wire.header[2] };
    wire.sent = 0;
    wire.result = MPI_SUCCESS;
    break_comm();
    ck_assert_int_eq(wire.sent, 3);
    ck_assert(wire.header[2].kind == PL_MSG_BROKEN);
    wire.withdraws = true;
    for (int i = 0; i < 2; i++) {
        ck_assert(wire.header[i].kind == PL_MSG_CANCEL && wire.header[i].token == answers[i].token);
        ck_assert(!pl_request_done(request));
        answers[i].kind = PL_MSG_CANCELLED;
        answers[i].tag = 1;
        arrive(&answers[i], NULL, NULL);
    }
    check_done(request, MPI_ERR_NO_MEM, 0);
    pl_request_let_go(request);
    tear_down();
}
END_TEST

/* ... and gives it back, if it has not received it. */
START_TEST(asked_back)
{
    struct pl_rndv rndv = { .ops = &wire_ops };
    set_up();
    struct pl_header header = header_of(PL_MSG_PARTITIONED, comms[0], 1, INT32_MIN + 3, BYTES);
    header.token = 17;
    arrive(&header, NULL, &rndv);
    header.kind = PL_MSG_CANCEL;
    for (int there = 1; there >= 0; there--) {
        wire.sent = 0;
        arrive(&header, NULL, NULL);
        ck_assert_int_eq(wire.sent, 1);
        ck_assert(wire.header[0].kind == PL_MSG_CANCELLED && wire.header[0].token == 17);
        ck_assert_int_eq(wire.header[0].tag, there);
        ck_assert_int_eq(wire.cancelled, 1);
    }
    tear_down();
}
END_TEST

UNIT_MAIN("partitioned", what_is_sent, tags_of_living_sends, any_order, ragged_chunks, announcements_that_do_not_fit,
          freed, no_memory, broken_receives, broken_sends, asked_back)
