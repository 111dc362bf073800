/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching and sending, driven from both ends without another process: messages arrive by pl_engine_host, and the
 * engine sends to a scripted transport that keeps the headers.
 */
#include "wire.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/comm_table.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"
#include "core/object/errhandler.h"

static struct pl_rndv rndv = { .ops = &wire_ops };

static bool arrive_int(struct pl_comm *comm, int source, int tag, int value)
{
    struct pl_header header = header_of(PL_MSG_P2P, comm, source, tag, sizeof value);
    return arrive(&header, &value, NULL);
}

static struct pl_request *post(struct pl_comm *comm, void *buf, size_t bytes, int source, int tag)
{
    struct pl_request *request;
    ck_assert_int_eq(pl_recv_prepare(comm, buf, (MPI_Count)bytes, (struct pl_type *)PL_TYPE_BYTE, source, tag,
                                     &request),
                     MPI_SUCCESS);
    ck_assert_int_eq(pl_p2p_start(request), MPI_SUCCESS);
    return request;
}

static struct pl_request *start_send(const void *buf, size_t bytes, int tag, int mode)
{
    struct pl_request *request;
    ck_assert_int_eq(pl_send_prepare(comms[0], buf, (MPI_Count)bytes, (struct pl_type *)PL_TYPE_BYTE, 1, tag, mode,
                                     &request),
                     MPI_SUCCESS);
    int rc = pl_p2p_start(request);
    UNIT_CHECK(rc == MPI_SUCCESS || (pl_request_done(request) && rc == request->outcome.error));
    return request;
}

/* The request is complete, with this error; releases it. */
static void finish(struct pl_request *request, int error)
{
    UNIT_CHECK(pl_request_done(request));
    ck_assert_int_eq(request->outcome.error, error);
    pl_handle_drop(request);
}

static void progress(void)
{
    pl_engine_enter(engine);
    pl_engine_progress(engine);
    pl_engine_leave(engine);
}

/* --- matching ----------------------------------------------------------------------------------------------------- */

/* Random receives and arrivals, compared with a model that keeps both as plain arrays in order. */
START_TEST(order_is_that_of_a_plain_model)
{
    enum { STEPS = 40000, PENDING = 300 };
    static struct {
        int source, tag, value;
    } arrived[PENDING];
    static struct {
        int source, tag, value;
        struct pl_request *request;
    } posted[PENDING];
    static int slots[PENDING];
    int arrivals = 0, posts = 0, next = 0;
    uint64_t random = 42;
    set_up();
    for (int step = 0; step < STEPS; step++) {
        int source = unit_below(&random, 2), tag = unit_below(&random, 3), found = 0;
        if (unit_below(&random, 2)) {
            while (found < posts && !((posted[found].source == source || posted[found].source == MPI_ANY_SOURCE) &&
                                      (posted[found].tag == tag || posted[found].tag == MPI_ANY_TAG)))
                found++;
            if (found == posts && arrivals == PENDING)
                continue;
            int value = next++;
            arrive_int(comms[0], source, tag, value);
            if (found == posts) {
                arrived[arrivals].source = source, arrived[arrivals].tag = tag, arrived[arrivals++].value = value;
                continue;
            }
            UNIT_CHECK(pl_request_done(posted[found].request) && slots[posted[found].value] == value);
            UNIT_CHECK(posted[found].request->outcome.source == source && posted[found].request->outcome.tag == tag);
            pl_handle_drop(posted[found].request);
            int slot = posted[found].value;
            memmove(&posted[found], &posted[found + 1], (size_t)(--posts - found) * sizeof posted[0]);
            posted[posts].value = slot; /* free again */
            continue;
        }
        source = unit_below(&random, 3) ? source : MPI_ANY_SOURCE;
        tag = unit_below(&random, 3) ? tag : MPI_ANY_TAG;
        while (found < arrivals && !((arrived[found].source == source || source == MPI_ANY_SOURCE) &&
                                     (arrived[found].tag == tag || tag == MPI_ANY_TAG)))
            found++;
        if (found < arrivals) {
            int got = -1;
            struct pl_request *request = post(comms[0], &got, sizeof got, source, tag);
            UNIT_CHECK(pl_request_done(request) && got == arrived[found].value);
            pl_handle_drop(request);
            memmove(&arrived[found], &arrived[found + 1], (size_t)(--arrivals - found) * sizeof arrived[0]);
        } else if (posts < PENDING) {
            static bool numbered;
            for (int i = 0; !numbered && i < PENDING; i++)
                posted[i].value = i;
            numbered = true;
            posted[posts].source = source, posted[posts].tag = tag;
            posted[posts].request = post(comms[0], &slots[posted[posts].value], sizeof(int), source, tag);
            UNIT_CHECK(!pl_request_done(posted[posts].request));
            posts++;
        }
    }
    while (posts > 0) {
        ck_assert_int_eq(pl_cancel(posted[--posts].request), MPI_SUCCESS);
        UNIT_CHECK(posted[posts].request->outcome.cancelled);
        finish(posted[posts].request, MPI_SUCCESS);
    }
    tear_down();
}
END_TEST

START_TEST(communicators_and_contexts_do_not_mix)
{
    int value[4] = { -1, -1, -1, -1 };
    struct pl_request *collective;
    set_up();
    ck_assert_int_eq(pl_coll_irecv(comms[0], &value[2], sizeof(int), PL_TYPE_BYTE, 1, 5, &collective), MPI_SUCCESS);
    struct pl_request *other = post(comms[1], &value[1], sizeof(int), MPI_ANY_SOURCE, MPI_ANY_TAG);
    struct pl_header header = header_of(PL_MSG_COLL, comms[0], 1, 5, sizeof(int));
    arrive_int(comms[0], 1, 5, 10);
    UNIT_CHECK(!pl_request_done(other) && !pl_request_done(collective));
    arrive(&header, &(int){ 20 }, NULL);
    arrive_int(comms[1], 1, 5, 30);
    UNIT_CHECK(pl_request_done(collective));
    pl_object_release(collective); /* a hidden one has no handle */
    finish(other, MPI_SUCCESS);
    finish(post(comms[0], &value[0], sizeof(int), 1, 5), MPI_SUCCESS);
    UNIT_CHECK(value[0] == 10 && value[1] == 30 && value[2] == 20);
    tear_down();
}
END_TEST

/* A transport is told to leave its next message alone if no receive is posted for another one of the same source. It is
 * told to go on with messages that no receive awaits, so that a probe or a test sees all that has come. */
START_TEST(more_is_awaited)
{
    int value[4];
    struct pl_request *receive[4];
    set_up();
    for (int i = 0; i < 4; i++)
        receive[i] = post(comms[0], &value[i], sizeof(int), i == 2 ? 0 : i == 3 ? MPI_ANY_SOURCE : 1, i);
    ck_assert(arrive_int(comms[0], 1, 0, 0));  /* the next one is from the same source */
    ck_assert(!arrive_int(comms[0], 1, 1, 1)); /* from another one */
    ck_assert(arrive_int(comms[0], 0, 2, 2));  /* from any */
    ck_assert(!arrive_int(comms[0], 1, 3, 3)); /* there is none */
    for (int i = 0; i < 4; i++) {
        finish(receive[i], MPI_SUCCESS);
        ck_assert_int_eq(value[i], i);
    }
    for (int i = 0; i < 3; i++)
        ck_assert(arrive_int(comms[0], 1, i, i)); /* unexpected */
    for (int i = 0; i < 3; i++)
        finish(post(comms[0], &value[i], sizeof(int), 1, i), MPI_SUCCESS);
    tear_down();
}
END_TEST

static void drop_later(struct pl_comm *comm)
{
    pl_engine_enter(engine);
    pl_engine_remove_comm(engine, comm);
    pl_engine_leave(engine);
    comm->health.orphan = true;
    pl_handle_drop(comm);
}

/* Messages that come before their communicator exists here wait for it, in order. */
START_TEST(early_messages_find_their_communicator)
{
    int got = -1;
    set_up();
    struct pl_comm later = { .id = { 1, 99 } };
    for (int i = 0; i < 5; i++)
        arrive_int(&later, 1, 3, i);
    struct pl_comm *comm = make_comm(99);
    for (int i = 0; i < 5; i++) {
        finish(post(comm, &got, sizeof got, 1, MPI_ANY_TAG), MPI_SUCCESS);
        ck_assert_int_eq(got, i);
    }
    drop_later(comm);
    tear_down();
}
END_TEST

/*
 * Processes number the communicators that they make, each for itself: communicators with the same number, made by
 * different ones, exist at the same time. Early messages are told apart, too.
 */
START_TEST(numbers_of_different_makers_do_not_mix)
{
    int got = -1;
    set_up();
    struct pl_comm later = { .id = { 2, 99 } };
    arrive_int(&later, 1, 3, 20);
    struct pl_comm *comm = make_comm(99);
    arrive_int(comm, 1, 3, 10);
    finish(post(comm, &got, sizeof got, 1, 3), MPI_SUCCESS);
    ck_assert_int_eq(got, 10);
    for (int i = 0; i < 4; i++) { /* the one whose message came last is the one that is tried first */
        arrive_int(comm, 1, i, 30 + i);
        arrive_int(&later, 1, i, 40 + i);
    }
    for (int i = 0; i < 4; i++) {
        finish(post(comm, &got, sizeof got, 1, MPI_ANY_TAG), MPI_SUCCESS);
        ck_assert_int_eq(got, 30 + i);
    }
    struct pl_request *none = post(comm, &got, sizeof got, MPI_ANY_SOURCE, MPI_ANY_TAG);
    UNIT_CHECK(!pl_request_done(none));
    arrive_int(comm, 1, 0, 50);
    finish(none, MPI_SUCCESS);
    drop_later(comm);
    tear_down();
}
END_TEST

/* A source that the communicator does not have, before it is made and after: the message is dropped, and the link. What
 * is made later with that process is broken. */
START_TEST(impossible_sources)
{
    int got = -1;
    bool found = false;
    struct pl_outcome outcome;
    static const int sources[] = { -1, -2, 2, 1000000, INT32_MIN, INT32_MAX };
    set_up();
    struct pl_comm later = { .id = { 1, 99 } };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        arrive_int(&later, sources[i], 3, 7);
        arrive_int(comms[0], sources[i], 3, 7);
    }
    struct pl_request *waiting = post(comms[0], &got, sizeof got, MPI_ANY_SOURCE, MPI_ANY_TAG);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        arrive_int(comms[0], sources[i], 3, 7);
    finish(waiting, MPI_ERR_OTHER); /* the sender counts as lost */
    ck_assert_int_eq(got, -1);
    struct pl_comm *comm = make_comm(99);
    ck_assert_int_eq(pl_probe(comm, MPI_ANY_SOURCE, MPI_ANY_TAG, false, &found, &outcome, NULL), MPI_ERR_OTHER);
    UNIT_CHECK(!found);
    drop_later(comm);
    tear_down();
}
END_TEST

/* --- without memory --------------------------------------------------------------------------------------------- */

static void arrive_without_memory(const struct pl_header *header, const void *data, struct pl_rndv *waiting)
{
    pl_memory_fail_at(1);
    arrive(header, data, waiting);
    ck_assert(pl_memory_failed());
    pl_memory_fail_at(0);
}

/* A message that cannot be kept breaks its communicator, and no other; earlier messages are still there. */
START_TEST(a_message_without_memory_is_reported)
{
    int got = -1;
    bool found;
    set_up();
    struct pl_request *waiting = post(comms[0], &got, sizeof got, 1, 9);
    arrive_int(comms[0], 1, 3, 33);
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 4, sizeof got);
    header.flags = PL_FLAG_SYNC;
    header.token = 77;
    arrive_without_memory(&header, &got, NULL);
    ck_assert_int_eq(wire.sent, 2);
    UNIT_CHECK(wire.header[0].kind == PL_MSG_ACK && wire.header[0].token == 77);
    UNIT_CHECK(wire.header[1].kind == PL_MSG_BROKEN && wire.header[1].serial == comms[0]->id.serial);
    finish(waiting, MPI_ERR_NO_MEM);
    finish(post(comms[0], &got, sizeof got, 1, 3), MPI_SUCCESS);
    ck_assert_int_eq(got, 33);
    finish(post(comms[0], &got, sizeof got, 1, 4), MPI_ERR_NO_MEM);
    ck_assert_int_eq(pl_probe(comms[0], 1, 4, false, &found, NULL, NULL), MPI_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "a message from rank 1"));

    header = header_of(PL_MSG_P2P, comms[1], 1, 4, 1000);
    arrive_int(comms[1], 1, 3, 44);
    finish(post(comms[1], &got, sizeof got, 1, 3), MPI_SUCCESS);
    arrive_without_memory(&header, NULL, &rndv);
    ck_assert_int_eq(wire.dropped - wire.cancelled, 1);
    finish(post(comms[1], &got, sizeof got, 1, 4), MPI_ERR_NO_MEM);
    tear_down();
}
END_TEST

/*
 * The same for communicators that do not exist yet. The one that the message was for breaks; once a second one has lost
 * a message, all new ones do.
 */
START_TEST(an_early_message_without_memory_is_reported)
{
    int got = -1;
    set_up();
    struct pl_comm later = { .id = { 1, 99 } };
    struct pl_header header = header_of(PL_MSG_P2P, &later, 1, 4, sizeof got);
    arrive_without_memory(&header, &got, NULL);
    arrive_without_memory(&header, &got, NULL);
    struct pl_comm *other = make_comm(98), *comm = make_comm(99);
    finish(post(comm, &got, sizeof got, 1, 4), MPI_ERR_NO_MEM);
    arrive_int(other, 1, 4, 55);
    finish(post(other, &got, sizeof got, 1, 4), MPI_SUCCESS);
    drop_later(other);
    drop_later(comm);
    header.serial = 100;
    arrive_without_memory(&header, &got, NULL);
    comm = make_comm(101);
    finish(post(comm, &got, sizeof got, 1, 4), MPI_ERR_NO_MEM);
    drop_later(comm);
    tear_down();
}
END_TEST

/* A probe fails after another thread has freed the communicator: it lives until the error is raised, and no longer. */
START_TEST(a_failed_probe_keeps_its_communicator)
{
    bool found;
    int got = 1;
    set_up();
    struct pl_comm *comm = make_comm(99);
    struct pl_header header = header_of(PL_MSG_P2P, comm, 1, 4, sizeof got);
    arrive_without_memory(&header, &got, NULL);
    pl_object_retain(comm); /* for the test */
    drop_later(comm);
    ck_assert_int_eq(pl_probe(comm, 1, 4, true, &found, NULL, NULL), MPI_ERR_NO_MEM);
    ck_assert_int_eq(atomic_load(&comm->obj.refs), 2);
    pl_errhandler_raise(
        &(struct pl_raised){
            .function = "MPI_Probe", .kind = PL_COMM, .object = comm, .code = MPI_ERR_NO_MEM, .message = "" },
        pl_errhandler_predefined((uintptr_t)MPI_ERRORS_RETURN));
    ck_assert_int_eq(atomic_load(&comm->obj.refs), 1);
    pl_object_release(comm);
    tear_down();
}
END_TEST

/* --- data --------------------------------------------------------------------------------------------------------- */

START_TEST(a_long_message_is_cut_and_reported)
{
    unsigned char data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, in[8] = { 0 };
    set_up();
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 1, 8);
    struct pl_request *request = post(comms[0], in, 3, 1, 1);
    arrive(&header, data, NULL);
    UNIT_CHECK(in[2] == 3 && in[3] == 0);
    ck_assert_int_eq((int)request->outcome.bytes, 3);
    ck_assert_int_eq(pl_request_report(request), MPI_ERR_TRUNCATE);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "8 bytes"));
    finish(request, MPI_ERR_TRUNCATE);
    tear_down();
}
END_TEST

/*
 * A rendezvous message is fetched once it is matched, and the receive is complete when the transport says so. A message
 * that no receive matches is dropped.
 */
START_TEST(rndv_is_fetched_or_dropped)
{
    char in[10];
    set_up();
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 1, 1000);
    wire.fetch_result = PL_PENDING;
    arrive(&header, NULL, &rndv);
    ck_assert_int_eq(wire.fetched, 0);
    struct pl_request *request = post(comms[0], in, sizeof in, 1, 1);
    ck_assert_int_eq(wire.fetched, 1);
    UNIT_CHECK(!pl_request_done(request) && wire.fetching->size == 1000 && wire.fetching->data.total == sizeof in);
    pl_engine_enter(engine);
    pl_engine_host.fetched(engine, wire.fetching, MPI_SUCCESS);
    pl_engine_leave(engine);
    finish(request, MPI_ERR_TRUNCATE);
    arrive(&header, NULL, &rndv);
    tear_down();
    ck_assert_int_eq(wire.dropped, 1);
    ck_assert_int_eq(wire.cancelled, 0);
}
END_TEST

/* --- sending ------------------------------------------------------------------------------------------------------ */

/* A send that the transport refuses does not lose its place: order holds, also when one in the middle is cancelled. */
START_TEST(queued_sends_keep_their_order)
{
    struct pl_request *requests[6];
    set_up();
    for (int round = 0; round < 2; round++) {
        wire.result = PL_AGAIN;
        wire.sent = 0;
        for (int i = 0; i < 6; i++)
            requests[i] = start_send(&i, 0, i, PL_SEND_STANDARD);
        ck_assert_int_eq(pl_cancel(requests[2]), MPI_SUCCESS);
        progress();
        ck_assert_int_eq(wire.sent, 0);
        wire.result = MPI_SUCCESS;
        progress();
        ck_assert_int_eq(wire.sent, 5);
        for (int i = 0, at = 0; i < 6; i++) {
            ck_assert_int_eq(requests[i]->outcome.cancelled, i == 2);
            if (i != 2)
                ck_assert_int_eq(wire.header[at++].tag, i);
            finish(requests[i], MPI_SUCCESS);
        }
        /* All queued sends are cancelled: the next one that the transport refuses is queued all the same. */
        wire.result = PL_AGAIN;
        requests[0] = start_send(NULL, 0, 7, PL_SEND_STANDARD);
        pl_cancel(requests[0]);
        finish(requests[0], MPI_SUCCESS);
        requests[0] = start_send(NULL, 0, 8, PL_SEND_STANDARD);
        wire.result = MPI_SUCCESS;
        progress();
        ck_assert_int_eq(wire.header[wire.sent - 1].tag, 8);
        finish(requests[0], MPI_SUCCESS);
    }
    tear_down();
}
END_TEST

/* A synchronous send is complete when both the transport and the receiver have acknowledged it, in either order. */
START_TEST(synchronous_sends_wait_for_the_receiver)
{
    set_up();
    struct pl_request *first = start_send(NULL, 0, 1, PL_SEND_SYNC);
    wire.result = PL_PENDING;
    struct pl_request *second = start_send(NULL, 0, 2, PL_SEND_SYNC);
    wire.result = MPI_SUCCESS;
    UNIT_CHECK(!pl_request_done(first) && !pl_request_done(second));
    UNIT_CHECK((wire.header[0].flags & PL_FLAG_SYNC) && wire.header[0].token != wire.header[1].token);

    struct pl_header ack = { .kind = PL_MSG_ACK, .token = wire.header[1].token };
    arrive(&ack, NULL, NULL);
    UNIT_CHECK(!pl_request_done(second)); /* the transport still has it */
    pl_engine_enter(engine);
    pl_engine_host.sent(engine, wire.message[1], MPI_SUCCESS);
    pl_engine_leave(engine);
    finish(second, MPI_SUCCESS);
    arrive(&ack, NULL, NULL); /* once more: it matches no request */
    ack.token = wire.header[0].token;
    arrive(&ack, NULL, NULL);
    finish(first, MPI_SUCCESS);
    tear_down();
}
END_TEST

START_TEST(a_synchronous_message_is_acknowledged_when_it_is_matched)
{
    int got;
    set_up();
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 1, sizeof got);
    header.flags = PL_FLAG_SYNC;
    header.token = 1234;
    arrive(&header, &(int){ 5 }, NULL);
    ck_assert_int_eq(wire.sent, 0);
    finish(post(comms[0], &got, sizeof got, 1, 1), MPI_SUCCESS);
    ck_assert_int_eq(wire.sent, 1);
    UNIT_CHECK(wire.header[0].kind == PL_MSG_ACK && wire.header[0].token == 1234);
    tear_down();
}
END_TEST

/* --- cancelling --------------------------------------------------------------------------------------------------- */

START_TEST(a_peer_takes_back_what_is_not_matched)
{
    int got = -1;
    set_up();
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 1, sizeof got);
    for (int i = 1; i <= 3; i++) {
        header.token = (uint64_t)i;
        arrive(&header, &i, NULL);
    }
    struct pl_header cancel = header_of(PL_MSG_CANCEL, comms[0], 1, 1, 0);
    cancel.token = 2;
    for (int again = 0; again < 2; again++) {
        arrive(&cancel, NULL, NULL);
        UNIT_CHECK(wire.header[again].kind == PL_MSG_CANCELLED && wire.header[again].tag == !again &&
                   wire.header[again].token == 2);
    }
    finish(post(comms[0], &got, sizeof got, 1, 1), MPI_SUCCESS);
    ck_assert_int_eq(got, 1);
    finish(post(comms[0], &got, sizeof got, 1, 1), MPI_SUCCESS);
    ck_assert_int_eq(got, 3);
    tear_down();
}
END_TEST

/* Each process numbers its own sends: a withdrawn one is that of the process that withdraws it. */
START_TEST(a_peer_does_not_take_back_what_is_anothers)
{
    int got = -1;
    set_up();
    struct pl_origin other = origin;
    other.engine++;
    struct pl_header header = header_of(PL_MSG_P2P, comms[0], 1, 1, sizeof got);
    struct pl_header cancel = header_of(PL_MSG_CANCEL, comms[0], 1, 1, 0);
    header.token = cancel.token = 5;
    arrive(&header, &(int){ 7 }, NULL);
    pl_engine_enter(engine);
    pl_engine_host.arrived(engine, &other, &cancel, NULL, NULL);
    pl_engine_leave(engine);
    finish(post(comms[0], &got, sizeof got, 1, 1), MPI_SUCCESS);
    ck_assert_int_eq(got, 7);
    tear_down();
}
END_TEST

/* The reply decides; a second cancel does no harm; a late one is ignored. */
START_TEST(a_send_is_cancelled_by_the_answer)
{
    for (int withdrawn = 0; withdrawn < 2; withdrawn++) {
        set_up();
        wire.result = PL_PENDING;
        wire.withdraws = true;
        struct pl_request *request = start_send(NULL, 0, 1, PL_SEND_STANDARD);
        struct pl_header answer = { .kind = PL_MSG_CANCELLED, .tag = withdrawn, .token = wire.header[0].token };
        wire.result = MPI_SUCCESS;
        pl_cancel(request);
        pl_cancel(request);
        UNIT_CHECK(wire.sent == 2 && wire.header[1].kind == PL_MSG_CANCEL &&
                   wire.header[1].token == wire.header[0].token);
        UNIT_CHECK(!pl_request_done(request));
        arrive(&answer, NULL, NULL);
        UNIT_CHECK(pl_request_done(request) == withdrawn);
        if (!withdrawn) {
            pl_cancel(request);
            pl_engine_enter(engine);
            pl_engine_host.sent(engine, wire.message[0], MPI_SUCCESS);
            pl_engine_leave(engine);
            arrive(&answer, NULL, NULL);
        }
        ck_assert_int_eq(request->outcome.cancelled, withdrawn);
        finish(request, MPI_SUCCESS);
        tear_down();
    }
}
END_TEST

/* Forged tokens and unknown kinds have no effect. */
START_TEST(a_peers_word_is_not_followed)
{
    set_up();
    for (int kind = PL_MSG_ACK; kind < 256; kind++) {
        struct pl_header header = header_of(kind, comms[0], 1, 1, 0);
        header.token = 0xdeadbeefdeadbeef;
        if (kind != PL_MSG_CANCEL)
            arrive(&header, "", NULL);
    }
    ck_assert_int_eq(wire.sent, 0);
    ck_assert_int_eq((int)engine->dropped_messages, 256 - PL_MSG_KINDS + 1); /* one for an unknown window */
    tear_down();
}
END_TEST

/* A failed process ends what waits for it, and what is sent to it afterwards. */
START_TEST(a_lost_peer_ends_its_sends)
{
    set_up();
    struct pl_request *awaiting = start_send(NULL, 0, 1, PL_SEND_SYNC);
    wire.result = PL_AGAIN;
    struct pl_request *queued = start_send(NULL, 0, 2, PL_SEND_STANDARD);
    pl_engine_enter(engine);
    pl_engine_host.failed(engine, NULL, &origin, MPI_ERR_PROC_ABORTED, NULL);
    pl_engine_leave(engine);
    finish(awaiting, MPI_ERR_PROC_ABORTED);
    finish(queued, MPI_ERR_PROC_ABORTED);
    finish(start_send(NULL, 0, 3, PL_SEND_STANDARD), MPI_ERR_PROC_ABORTED);
    progress();
    tear_down();
}
END_TEST

UNIT_MAIN("match", order_is_that_of_a_plain_model, communicators_and_contexts_do_not_mix, more_is_awaited,
          early_messages_find_their_communicator, numbers_of_different_makers_do_not_mix, impossible_sources,
          a_message_without_memory_is_reported, an_early_message_without_memory_is_reported,
          a_failed_probe_keeps_its_communicator, a_long_message_is_cut_and_reported, rndv_is_fetched_or_dropped,
          queued_sends_keep_their_order, synchronous_sends_wait_for_the_receiver,
          a_synchronous_message_is_acknowledged_when_it_is_matched, a_peer_takes_back_what_is_not_matched,
          a_peer_does_not_take_back_what_is_anothers, a_send_is_cancelled_by_the_answer, a_peers_word_is_not_followed,
          a_lost_peer_ends_its_sends)
