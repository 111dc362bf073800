/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine without another process, for tests of what stands on it: messages arrive by pl_engine_host, and what the
 * engine sends goes to a transport that does as it is told and keeps the headers.
 */
#ifndef PLENUM_TESTS_WIRE_H
#define PLENUM_TESTS_WIRE_H

#include "unit.h"

#include <endian.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/version.h"
#include "core/engine/comm.h"
#include "core/engine/comm_table.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"

/* --- the transport ------------------------------------------------------------------------------------------------ */

enum { SENT_MAX = 64 };
#define PEER_ID ((uint64_t)PL_WIRE_MARK << 56 | 4711)

static struct {
    int result; /* of the next sends */
    int sent;
    struct pl_header header[SENT_MAX]; /* of those that were taken */
    struct pl_outgoing *message[SENT_MAX];
    bool withdraws;
    int fetched, dropped, cancelled;
    int fetch_result;
    struct pl_incoming *fetching;
} wire;

static const struct pl_transport_ops wire_ops;
static struct pl_endpoint endpoint = { .ops = &wire_ops };

static inline int wire_connect(void *self, const void *address, size_t length, struct pl_peer *peer,
                               struct pl_endpoint **made)
{
    (void)self, (void)address, (void)length;
    endpoint.peer = peer;
    *made = &endpoint;
    return MPI_SUCCESS;
}

static inline int wire_send(struct pl_endpoint *to, struct pl_outgoing *message)
{
    (void)to;
    if (wire.result == PL_AGAIN)
        return PL_AGAIN;
    ck_assert_int_lt(wire.sent, SENT_MAX);
    wire.header[wire.sent] = message->header;
    wire.message[wire.sent++] = message;
    return wire.result;
}

static inline int wire_fetch(void *self, struct pl_rndv *data, struct pl_incoming *message)
{
    (void)self, (void)data;
    wire.fetched++;
    wire.fetching = message;
    return wire.fetch_result;
}

static inline void wire_drop(void *self, struct pl_rndv *data, bool cancelled)
{
    (void)self, (void)data;
    wire.dropped++;
    wire.cancelled += cancelled;
}

static inline bool wire_withdraw(struct pl_endpoint *to, struct pl_outgoing *message)
{
    (void)to, (void)message;
    return wire.withdraws;
}

static inline int wire_progress(void *self)
{
    (void)self;
    return 0;
}

static inline bool wire_flushed(void *self)
{
    (void)self;
    return true;
}

static inline void wire_disconnect(struct pl_endpoint *from)
{
    (void)from;
}

static inline void wire_close(void *self)
{
    (void)self;
}

static const struct pl_transport_ops wire_ops = {
    .abi = PL_TRANSPORT_ABI,
    .name = "wire",
    .connect = wire_connect,
    .send = wire_send,
    .fetch = wire_fetch,
    .drop = wire_drop,
    .withdraw = wire_withdraw,
    .progress = wire_progress,
    .flushed = wire_flushed,
    .disconnect = wire_disconnect,
    .close = wire_close,
};

/* --- an engine with two communicators of two processes: this one is rank 0 ---------------------------------------- */

static struct pl_instance instance;
static struct pl_engine *const engine = &instance.engine;
static struct pl_comm *comms[2];
static unsigned char card[16] = { [8] = 4, 'w', 'i', 'r', 'e', 0, 0 };
static struct pl_origin origin = { .engine = PEER_ID, .card = card, .card_length = 15 };

static inline struct pl_comm *make_comm(uint32_t serial)
{
    struct pl_comm *comm = pl_object_create(PL_COMM);
    struct pl_peer *peer;
    comm->instance = &instance;
    comm->health.orphan = true; /* it is in no list of the instance */
    comm->size = 2;
    struct pl_group *group = pl_instance_group_range(&instance, 2, 0, 1);
    comm->group = pl_object_retain(group);
    pl_handle_drop(group);
    comm->id = (struct pl_comm_id){ 1, serial };
    comm->peers.slots = calloc(2, sizeof *comm->peers.slots);
    pl_lock_init(&comm->lock, PL_RANK_OBJECT, true);
    pl_list_init(&comm->requests.spares);
    pl_list_init(&comm->coll.persistent);
    pl_list_init(&comm->partitioned.channels);
    pl_list_init(&comm->partitioned.sends);
    for (int i = 0; i < PL_QUEUES; i++) {
        pl_list_init(&comm->match.queues[i].posted);
        pl_list_init(&comm->match.queues[i].unexpected);
    }
    pl_engine_enter(engine);
    ck_assert_int_eq(pl_engine_peer(engine, card, 15, 1, &peer), MPI_SUCCESS);
    comm->peers.slots[1] = (struct pl_peer_slot){ peer, 1 };
    comm->peers.mask = 1;
    pl_engine_add_comm(engine, comm);
    pl_engine_leave(engine);
    comm->health.orphan = false; /* and is used like any other */
    return comm;
}

static inline void set_up(void)
{
    uint64_t id = htole64(PEER_ID);
    memset(&wire, 0, sizeof wire);
    memcpy(card, &id, sizeof id);
    instance.obj.predefined = true;
    ck_assert_int_eq(pl_engine_open(engine, &instance, MPI_THREAD_MULTIPLE, false), MPI_SUCCESS);
    engine->transport[engine->transports].ops = &wire_ops;
    engine->transport[engine->transports++].self = &wire;
    comms[0] = make_comm(1);
    comms[1] = make_comm(2);
}

static inline void tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        pl_engine_enter(engine);
        pl_engine_remove_comm(engine, comms[i]);
        pl_engine_leave(engine);
        comms[i]->health.orphan = true;
        pl_handle_drop(comms[i]);
    }
    wire.result = MPI_SUCCESS;
    pl_engine_close(engine);
    ck_assert_int_eq(pl_object_count(PL_REQUEST), 0);
    ck_assert_int_eq(pl_object_count(PL_COMM), 0);
}

static inline struct pl_header header_of(int kind, const struct pl_comm *comm, int source, int tag, size_t size)
{
    return (struct pl_header){ .home = comm->id.home,
                               .serial = comm->id.serial,
                               .source = source,
                               .tag = tag,
                               .kind = (uint8_t)kind,
                               .size = size };
}

static inline bool arrive(const struct pl_header *header, const void *data, struct pl_rndv *waiting)
{
    pl_engine_enter(engine);
    bool more = pl_engine_host.arrived(engine, &origin, header, data, waiting);
    pl_engine_leave(engine);
    return more;
}

#endif
