/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of members that fail at any moment: a simulation. Each member is a communicator of one engine, with a rank
 * of its own; what it sends goes to a network of this test, which delivers in any order that keeps that of a pair. A
 * member that fails leaves some of its messages behind, and the others learn of it one after the other. One that has
 * finalized leaves all, and counts as failed for another when that has received them. Members that have not failed must
 * end with the same outcome, and none may wait for ever.
 */
#include "unit.h"

#include <endian.h>

#include "core/base/error.h"
#include "core/base/version.h"
#include "core/comm/agreement.h"
#include "core/engine/comm_failures.h"
#include "core/engine/comm_table.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"

enum { MEMBERS = 6, QUEUE = 64, DATA = 64, ROUNDS = 3 };

struct message {
    struct pl_header header;
    unsigned char data[DATA];
};

/* From one member to another, in order. */
struct queue {
    struct message list[QUEUE];
    int count;
};

struct member {
    struct pl_comm *comm;
    struct pl_request *request;                          /* of its agreement under way; NULL: none */
    bool failed, departed, knows[MEMBERS], cut[MEMBERS]; /* cut: nothing arrives from there any more */
    int flag, started, ended;
    int flags[ROUNDS], errors[ROUNDS]; /* outcomes */
};

static struct pl_instance instance;
static struct pl_engine *const engine = &instance.engine;
static struct member members[MEMBERS];
static struct queue network[MEMBERS][MEMBERS];
static int size;

/* --- the transport ------------------------------------------------------------------------------------------------ */

static const struct pl_transport_ops ops;
static struct pl_endpoint endpoints[MEMBERS];

static int net_connect(void *self, const void *address, size_t length, struct pl_peer *peer, struct pl_endpoint **made)
{
    (void)self, (void)length;
    struct pl_endpoint *endpoint = &endpoints[*(const unsigned char *)address];
    *endpoint = (struct pl_endpoint){ .ops = &ops, .peer = peer };
    *made = endpoint;
    return MPI_SUCCESS;
}

static int net_send(struct pl_endpoint *to, struct pl_outgoing *message)
{
    struct queue *queue = &network[message->header.serial - 1][to - endpoints];
    ck_assert_int_lt(queue->count, QUEUE);
    ck_assert_uint_le(message->header.size, DATA);
    struct message *sent = &queue->list[queue->count++];
    sent->header = message->header;
    pl_cursor_pack(&message->data, sent->data, DATA);
    return MPI_SUCCESS;
}

static int net_progress(void *self)
{
    (void)self;
    return 0;
}

static bool net_flushed(void *self)
{
    (void)self;
    return true;
}

static void net_disconnect(struct pl_endpoint *from)
{
    (void)from;
}

static void net_close(void *self)
{
    (void)self;
}

static const struct pl_transport_ops ops = {
    .abi = PL_TRANSPORT_ABI,
    .name = "net",
    .connect = net_connect,
    .send = net_send,
    .progress = net_progress,
    .flushed = net_flushed,
    .disconnect = net_disconnect,
    .close = net_close,
};

/* --- members ------------------------------------------------------------------------------------------------------ */

static struct pl_peer *peer_of(int rank)
{
    struct pl_peer *peer;
    unsigned char card[16] = { [8] = 3, 'n', 'e', 't', 1, 0, (unsigned char)rank };
    uint64_t id = htole64((uint64_t)PL_WIRE_MARK << 56 | (4711 + (unsigned)rank));
    memcpy(card, &id, sizeof id);
    ck_assert_int_eq(pl_engine_peer(engine, card, 15, (uint64_t)rank, &peer), MPI_SUCCESS);
    return peer;
}

static struct pl_comm *comm_of(int rank)
{
    struct pl_comm *comm;
    struct pl_group *group = pl_instance_group_range(&instance, size, 0, 1);
    ck_assert_int_eq(pl_comm_build(&instance, NULL, group, NULL, &comm), MPI_SUCCESS);
    pl_handle_drop(group);
    comm->rank = rank;
    comm->id = (struct pl_comm_id){ 1, (uint32_t)rank + 1 };
    pl_engine_enter(engine);
    pl_engine_add_comm(engine, comm);
    for (int i = 0; i < size; i++)
        pl_comm_peer_keep(comm, i, peer_of(i));
    pl_engine_leave(engine);
    return comm;
}

static void open_engine(void)
{
    instance.obj.predefined = true;
    pl_list_init(&instance.comms);
    pl_lock_init(&instance.lock, PL_RANK_OBJECT, true);
    ck_assert_int_eq(pl_engine_open(engine, &instance, MPI_THREAD_SINGLE, false), MPI_SUCCESS);
    engine->transport[engine->transports].ops = &ops;
    engine->transport[engine->transports++].self = network;
    engine->comms.go_on = true;
}

static void begin(int count)
{
    size = count;
    memset(members, 0, sizeof members);
    memset(network, 0, sizeof network);
    for (int i = 0; i < size; i++)
        members[i].comm = comm_of(i);
}

static void end(void)
{
    for (int i = 0; i < size; i++) {
        if (members[i].request) { /* of one that has failed */
            pl_engine_enter(engine);
            pl_request_complete(members[i].request, MPI_SUCCESS);
            pl_engine_leave(engine);
            pl_handle_drop(members[i].request);
        }
        pl_handle_drop(members[i].comm);
    }
    ck_assert_int_eq(pl_object_count(PL_COMM), 0);
    ck_assert_int_eq(pl_object_count(PL_REQUEST), 0);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void note_end(struct member *member)
{
    if (!member->request || !pl_request_done(member->request))
        return;
    member->flags[member->ended] = member->flag;
    member->errors[member->ended++] = member->request->outcome.error;
    pl_handle_drop(member->request);
    member->request = NULL;
}

static void start(int rank, int flag)
{
    struct member *member = &members[rank];
    member->flag = flag;
    member->started++;
    ck_assert_int_eq(pl_agreement_start(member->comm, &member->flag, NULL, "test", &member->request), MPI_SUCCESS);
    note_end(member);
}

static void deliver(int from, int to)
{
    struct queue *queue = &network[from][to];
    struct message message = queue->list[0];
    memmove(queue->list, queue->list + 1, (size_t)--queue->count * sizeof message);
    if (members[to].failed || members[to].departed || members[to].cut[from])
        return;
    struct pl_origin origin = { .engine = 4711 + (uint64_t)from };
    message.header.serial = (uint32_t)to + 1;
    pl_engine_enter(engine);
    pl_engine_host.arrived(engine, &origin, &message.header, message.data, NULL);
    pl_engine_leave(engine);
    note_end(&members[to]);
}

static void learn(int rank, int failed)
{
    members[rank].knows[failed] = true;
    pl_engine_enter(engine);
    pl_comm_fail_member(members[rank].comm, failed);
    pl_engine_leave(engine);
    note_end(&members[rank]);
}

/* Of what it has sent, to each member some messages remain, counted from the first. */
static void die(int rank, unsigned (*kept)(unsigned most))
{
    members[rank].failed = true;
    for (int i = 0; i < size; i++)
        network[rank][i].count = (int)kept((unsigned)network[rank][i].count);
}

static void deliver_all(void)
{
    for (bool more = true; more;) {
        more = false;
        for (int from = 0; from < size; from++)
            for (int to = 0; to < size; to++)
                if (network[from][to].count && (more = true))
                    deliver(from, to);
    }
}

static unsigned keep_all(unsigned most)
{
    return most;
}

static unsigned keep_none(unsigned most)
{
    (void)most;
    return 0;
}

static void check_outcome(int rank, int flag, int error)
{
    const struct member *member = &members[rank];
    ck_assert_int_gt(member->ended, 0);
    ck_assert_int_eq(member->flags[member->ended - 1], flag);
    ck_assert_int_eq(member->errors[member->ended - 1], error);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(without_failures)
{
    open_engine();
    for (int n = 1; n <= MEMBERS; n++) {
        begin(n);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = n; i-- > 0;)
                start(i, ~(1 << i));
            deliver_all();
            for (int i = 0; i < n; i++)
                check_outcome(i, ~((1 << n) - 1), MPI_SUCCESS);
        }
        end();
    }
    pl_engine_close(engine);
}
END_TEST

/* A member that has acknowledged a failure, another that has not: an error for both, until both have. */
START_TEST(acknowledged)
{
    open_engine();
    begin(3);
    die(0, keep_none);
    for (int i = 1; i < 3; i++)
        learn(i, 0);
    ck_assert_int_eq(pl_failures_acknowledge(members[1].comm, 1), 1);
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < 3; i++)
            start(i, 5 + i);
        deliver_all();
        for (int i = 1; i < 3; i++)
            check_outcome(i, 6, round ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED);
        ck_assert_int_eq(pl_failures_acknowledge(members[2].comm, 7), 1);
    }
    end();
    pl_engine_close(engine);
}
END_TEST

/* The coordinator fails when one member has its decision: the others adopt that, and so do they where that member has
 * gone on to other work before the others know of the failure. */
START_TEST(decision_survives)
{
    open_engine();
    begin(4);
    for (int i = 0; i < 4; i++)
        start(i, i ? -1 : 8);
    for (int i = 1; i < 4; i++)
        deliver(i, 0);
    deliver(0, 3);
    check_outcome(3, 8, MPI_SUCCESS);
    die(0, keep_none);
    learn(1, 0);
    learn(2, 0);
    deliver_all();
    check_outcome(1, 8, MPI_SUCCESS);
    check_outcome(2, 8, MPI_SUCCESS);
    end();
    pl_engine_close(engine);
}
END_TEST

/* No other member has the decision of a coordinator that has failed: the next one decides again. */
START_TEST(decision_is_gone)
{
    open_engine();
    begin(4);
    for (int i = 0; i < 4; i++)
        start(i, i ? 15 : 8);
    for (int i = 1; i < 4; i++)
        deliver(i, 0);
    die(0, keep_none);
    for (int i = 1; i < 4; i++)
        learn(i, 0);
    deliver_all();
    for (int i = 1; i < 4; i++)
        check_outcome(i, 15, MPI_ERR_PROC_ABORTED);
    end();
    pl_engine_close(engine);
}
END_TEST

/* A decision of the first coordinator is on its way to rank 2 when that already follows rank 1. It is the only trace
 * once rank 1 has failed, too. */
START_TEST(late_decision)
{
    open_engine();
    begin(4);
    for (int i = 0; i < 4; i++)
        start(i, i ? 15 : 8);
    for (int i = 1; i < 4; i++)
        deliver(i, 0);
    die(0, keep_all);
    learn(2, 0);
    deliver(0, 2);
    ck_assert_int_eq(members[2].ended, 0);
    die(1, keep_none);
    network[0][3].count = 0;
    learn(3, 0);
    learn(3, 1);
    learn(2, 1);
    deliver_all();
    check_outcome(2, 8, MPI_SUCCESS);
    check_outcome(3, 8, MPI_SUCCESS);
    end();
    pl_engine_close(engine);
}
END_TEST

static unsigned random_below(unsigned most)
{
    return most ? (unsigned)rand() % (most + 1) : 0;
}

/* One event at random. False: nothing is left to do. */
static bool happen(int *may_fail, int *may_cut)
{
    struct event {
        enum { START, DELIVER, LEARN, DEPART, FAIL, CUT } kind;
        int a, b;
    } events[5 * MEMBERS * MEMBERS];
    int count = 0;
    for (int a = 0; a < size; a++) {
        struct member *member = &members[a];
        bool lives = !member->failed && !member->departed;
        if (lives && !member->request && member->started < ROUNDS)
            events[count++] = (struct event){ START, a, 0 };
        if (lives && member->ended == ROUNDS)
            events[count++] = (struct event){ DEPART, a, 0 };
        if (lives && *may_fail > 0 && rand() % 8 == 0)
            events[count++] = (struct event){ FAIL, a, 0 };
        for (int b = 0; b < size; b++) {
            if (a<b && * may_cut> 0 && !member->cut[b] && rand() % 8 == 0)
                events[count++] = (struct event){ CUT, a, b };
            if (network[a][b].count)
                events[count++] = (struct event){ DELIVER, a, b };
            bool gone = members[b].failed || member->cut[b] || (members[b].departed && network[b][a].count == 0);
            if (lives && gone && !member->knows[b])
                events[count++] = (struct event){ LEARN, a, b };
        }
    }
    if (count == 0)
        return false;
    struct event event = events[rand() % count];
    switch (event.kind) {
    case START: start(event.a, rand() | 1 << event.a); break;
    case DELIVER: deliver(event.a, event.b); break;
    case LEARN: learn(event.a, event.b); break;
    case CUT:
        --*may_cut;
        members[event.a].cut[event.b] = members[event.b].cut[event.a] = true;
        break;
    case DEPART: members[event.a].departed = true; break;
    case FAIL:
        --*may_fail;
        die(event.a, random_below);
        break;
    }
    return true;
}

START_TEST(at_any_moment)
{
    enum { RUNS = 5000 };
    open_engine();
    for (int run = 0; run < RUNS; run++) {
        srand((unsigned)run);
        begin(2 + run % (MEMBERS - 1));
        int may_fail = rand() % size, may_cut = 0, first = -1;
        while (happen(&may_fail, &may_cut))
            continue;
        for (int i = 0; i < size; i++) {
            const struct member *member = &members[i];
            if (member->failed)
                continue;
            ck_assert_msg(member->ended == ROUNDS, "run %d: rank %d waits in agreement %d", run, i, member->ended);
            first = first < 0 ? i : first;
            for (int r = 0; r < ROUNDS; r++)
                ck_assert_msg(member->flags[r] == members[first].flags[r] &&
                                  member->errors[r] == members[first].errors[r],
                              "run %d: ranks %d and %d do not agree in agreement %d", run, first, i, r);
        }
        end();
    }
    pl_engine_close(engine);
}
END_TEST

/* Links between members that live are lost: they may not agree then, but none waits for ever. */
START_TEST(lost_links)
{
    enum { RUNS = 3000 };
    open_engine();
    for (int run = 0; run < RUNS; run++) {
        srand((unsigned)run);
        begin(2 + run % (MEMBERS - 1));
        int may_fail = rand() % size, may_cut = 1 + rand() % size;
        while (happen(&may_fail, &may_cut))
            continue;
        for (int i = 0; i < size; i++)
            ck_assert_msg(members[i].failed || members[i].ended == ROUNDS, "run %d: rank %d waits in agreement %d", run,
                          i, members[i].ended);
        end();
    }
    pl_engine_close(engine);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("agreement");
    TCase *all = unit_case(suite);
    tcase_add_test(all, without_failures);
    tcase_add_test(all, acknowledged);
    tcase_add_test(all, decision_survives);
    tcase_add_test(all, decision_is_gone);
    tcase_add_test(all, late_decision);
    tcase_add_test(all, at_any_moment);
    tcase_add_test(all, lost_links);
    return unit_end(suite);
}
