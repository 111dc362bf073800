/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv and alltoallw by a node hierarchy. Each rank tells its leader how many bytes it sends to each rank and
 * receives from each, and gives it its short blocks. One message goes to each node instead of one from each rank to
 * each rank there: the amounts of its blocks, then these. Longer blocks go to their ranks without the leaders.
 *
 * A receiver takes what its sender gives, and finds by itself that this is too long.
 *
 * What a nonblocking one sends and receives depends on amounts that come first. Each start of a persistent one finds
 * that out again, as leaders.h says.
 */
#include "core/coll/hierarchy/alltoallv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"
#include "core/coll/hierarchy/leaders.h"

/* --- a rank's own blocks ------------------------------------------------------------------------------------------ */

/* A leader's letter by messages is the first of those of its node. */
static bool own_make(struct pl_exchange *exchange, const struct pl_coll *coll)
{
    size_t bytes = PL_EXCHANGE_TOLD * pl_exchange_head(exchange);
    for (int i = 0; i < exchange->all; i++)
        bytes += pl_hierarchy_short(pl_hierarchy_amount(pl_send_block(coll, i)));
    if (exchange->schedule && exchange->members)
        bytes = (size_t)exchange->here * pl_exchange_letter(exchange);
    exchange->expected =
        pl_exchange_reserve(exchange, PL_EXCHANGE_EXPECTED,
                            (size_t)exchange->all * (sizeof *exchange->expected + sizeof *exchange->direct));
    exchange->letter = pl_exchange_reserve(exchange, PL_EXCHANGE_LETTER, bytes);
    if (!exchange->expected || !exchange->letter)
        return false;
    exchange->direct = (int *)(exchange->expected + exchange->all);
    exchange->own.out = (uint32_t *)exchange->letter;
    exchange->own.in = exchange->own.out + exchange->all;
    for (int i = 0; i < exchange->all; i++) {
        exchange->expected[i] = pl_recv_block(coll, i);
        exchange->own.out[i] = pl_hierarchy_amount(pl_send_block(coll, i));
        exchange->own.in[i] = pl_hierarchy_amount(exchange->expected[i]);
    }
    return true;
}

static void own_pack(struct pl_hierarchy_call *call, const struct pl_exchange *exchange)
{
    char *to = exchange->letter + PL_EXCHANGE_TOLD * pl_exchange_head(exchange);
    for (int i = 0; i < exchange->all; i++) {
        size_t bytes = pl_hierarchy_short(exchange->own.out[i]);
        if (bytes > 0)
            pl_hierarchy_copy(call, pl_send_block(call->coll, i), pl_block_bytes(to, bytes));
        to += bytes;
    }
}

/* Until a rank knows what it is given, one block that is too long means that some ranks wait in vain. */
static int own_begin(struct pl_schedule *schedule, void *context)
{
    (void)context;
    schedule->cut_from = 0;
    return MPI_SUCCESS;
}

/* The sender decides which blocks come directly: some that are expected to, and some that are not. */
static void own_expect(const struct pl_exchange *exchange, struct pl_schedule *schedule)
{
    for (int i = 1; i < exchange->all; i++) {
        int from = pl_exchange_source(exchange, i), step = exchange->direct[from];
        uint32_t expected = exchange->own.in[from];
        bool direct = exchange->own.given[from] == PL_HIERARCHY_DIRECT;
        struct pl_block block = exchange->expected[from];
        if (expected == PL_HIERARCHY_DIRECT && !direct)
            pl_schedule_drop(schedule, step);
        if (expected != PL_HIERARCHY_DIRECT && expected > 0)
            pl_schedule_change(schedule, step, direct ? PL_STEP_RECV : PL_STEP_SKIP, block.buf, block.count);
    }
}

/* All blocks are taken, also behind one that is too long. */
static int own_take(struct pl_schedule *schedule, void *context)
{
    const struct pl_exchange *exchange = context;
    const char *from = exchange->taken;
    int rc = MPI_SUCCESS;
    schedule->cut_from = SIZE_MAX;
    for (int i = 0; i < exchange->all; i++) {
        struct pl_block block = exchange->expected[i];
        size_t bytes = pl_hierarchy_short(exchange->own.given[i]), capacity = pl_block_size(block),
               some = pl_least(bytes, capacity);
        if (some > 0)
            pl_type_copy(from, (MPI_Count)some, PL_TYPE_BYTE, block.buf, block.count, block.type);
        if (bytes > capacity && capacity > 0 && rc == MPI_SUCCESS) {
            schedule->wrong = bytes;
            rc = pl_coll_fail_amount(i, bytes, capacity);
        }
        from += bytes;
    }
    own_expect(exchange, schedule);
    return rc;
}

/* Takes what came through the leaders, and the blocks that are left. */
static void own_exchange(struct pl_hierarchy_call *call, struct pl_exchange *exchange, int tag)
{
    int rank = exchange->rank;
    struct pl_schedule memory, *schedule = pl_hierarchy_begin(call, &memory, tag);
    pl_schedule_verify(schedule, own_take, exchange);
    for (int i = 1; i < exchange->all; i++) {
        int from = pl_exchange_source(exchange, i);
        if (exchange->own.in[from] == 0 || exchange->own.in[from] == PL_HIERARCHY_DIRECT)
            continue;
        exchange->direct[from] = pl_schedule_mark(schedule);
        pl_schedule_recv(schedule, exchange->expected[from], from);
    }
    pl_exchange_direct(call, exchange, schedule, PL_EXCHANGE_LAST);
    pl_schedule_hold(schedule, exchange->expected[rank].type);
    if (exchange->own.out[rank] == PL_HIERARCHY_DIRECT)
        pl_schedule_copy(schedule, pl_send_block(call->coll, rank), exchange->expected[rank]);
    pl_hierarchy_run(call, schedule);
}

/* --- within a node, at once --------------------------------------------------------------------------------------- */

static void node_collect(struct pl_hierarchy_call *call, struct pl_exchange *exchange)
{
    size_t told = PL_EXCHANGE_TOLD * pl_exchange_head(exchange), at = 0;
    char *packed = exchange->letter + told, *blocks = NULL;
    pl_hierarchy_step(call, call->hierarchy->here,
                      (struct pl_coll){ .kind = PL_COLL_GATHER,
                                        .sendbuf = exchange->letter,
                                        .sendcount = (MPI_Count)told,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = exchange->told,
                                        .recvcount = (MPI_Count)told,
                                        .recvtype = PL_TYPE_BYTE });
    for (int i = 0; exchange->members && i < exchange->here && call->rc == MPI_SUCCESS; i++) {
        uint32_t *out = exchange->told + (size_t)i * PL_EXCHANGE_TOLD * (size_t)exchange->all;
        exchange->displs[i] = (MPI_Aint)at;
        at += pl_exchange_sum(out, exchange->all);
        exchange->counts[i] = (MPI_Count)at - exchange->displs[i];
    }
    if (exchange->members && call->rc == MPI_SUCCESS) {
        blocks = pl_exchange_reserve(exchange, PL_EXCHANGE_BLOCKS, at);
        call->rc = blocks ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    for (int i = 0; blocks && i < exchange->here; i++)
        pl_exchange_hear(exchange, i, exchange->told + (size_t)i * PL_EXCHANGE_TOLD * (size_t)exchange->all,
                         blocks + exchange->displs[i]);
    pl_hierarchy_step(call, call->hierarchy->here,
                      (struct pl_coll){ .kind = PL_COLL_GATHERV,
                                        .sendbuf = packed,
                                        .sendcount = (MPI_Count)pl_exchange_sum(exchange->own.out, exchange->all),
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = blocks,
                                        .recvtype = PL_TYPE_BYTE,
                                        .recvcounts.wide = exchange->counts,
                                        .recvdispls.wide = exchange->displs });
}

/* What each rank is given, and then the blocks, for which it now has memory. */
static void node_spread(struct pl_hierarchy_call *call, struct pl_exchange *exchange)
{
    size_t bytes = pl_exchange_head(exchange);
    exchange->own.given = pl_exchange_reserve(exchange, PL_EXCHANGE_GIVEN, bytes);
    call->rc = exchange->own.given ? call->rc : MPI_ERR_NO_MEM;
    pl_hierarchy_step(call, call->hierarchy->here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTER,
                                        .sendbuf = exchange->given,
                                        .sendcount = (MPI_Count)bytes,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = exchange->own.given,
                                        .recvcount = (MPI_Count)bytes,
                                        .recvtype = PL_TYPE_BYTE });
    if (!pl_hierarchy_may_continue(call))
        return;
    size_t in = pl_exchange_sum(exchange->own.given, exchange->all);
    char *taken = pl_exchange_reserve(exchange, PL_EXCHANGE_TAKEN, in);
    call->rc = taken ? call->rc : MPI_ERR_NO_MEM;
    exchange->taken = taken;
    pl_hierarchy_step(call, call->hierarchy->here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTERV,
                                        .sendbuf = exchange->result,
                                        .sendtype = PL_TYPE_BYTE,
                                        .sendcounts.wide = exchange->counts,
                                        .senddispls.wide = exchange->displs,
                                        .recvbuf = taken,
                                        .recvcount = (MPI_Count)in,
                                        .recvtype = PL_TYPE_BYTE });
}

/* --- within a node, by messages ----------------------------------------------------------------------------------- */

/* A letter and a reply are as long as the rank makes them that sends them. */
static void node_append_letters(struct pl_exchange *exchange)
{
    size_t most = pl_exchange_letter(exchange);
    for (int i = 0; i < exchange->here; i++) {
        char *letter = exchange->letter + (size_t)i * most;
        pl_exchange_hear(exchange, i, (uint32_t *)letter, letter + PL_EXCHANGE_TOLD * pl_exchange_head(exchange));
        if (i > 0)
            pl_schedule_recv(exchange->schedule, pl_block_bytes(letter, most), exchange->first + i);
    }
}

static void node_append_reply(struct pl_exchange *exchange)
{
    struct pl_schedule *schedule = exchange->schedule;
    size_t head = pl_exchange_head(exchange), most = head + (size_t)exchange->all * PL_HIERARCHY_BLOCK;
    char *reply = pl_exchange_reserve(exchange, PL_EXCHANGE_GIVEN, most);
    if (!reply)
        return;
    exchange->own.given = (uint32_t *)reply;
    exchange->taken = reply + head;
    pl_schedule_recv(schedule, pl_block_bytes(reply, most), exchange->first);
    pl_schedule_send(schedule,
                     pl_block_bytes(exchange->letter,
                                    PL_EXCHANGE_TOLD * head + pl_exchange_sum(exchange->own.out, exchange->all)),
                     exchange->first);
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

static void exchange_append_collect(struct pl_hierarchy_call *call, struct pl_exchange *exchange)
{
    struct pl_schedule *schedule = exchange->schedule;
    pl_schedule_verify(schedule, own_begin, NULL);
    if (exchange->members) {
        node_append_letters(exchange);
    } else {
        own_pack(call, exchange);
        node_append_reply(exchange);
    }
    int mark = pl_schedule_mark(schedule);
    pl_exchange_direct(call, exchange, schedule, PL_EXCHANGE_FIRST);
    if (exchange->members)
        own_pack(call, exchange);
    pl_schedule_wait_until(schedule, mark);
}

static void exchange_collect(struct pl_hierarchy_call *call, struct pl_exchange *exchange)
{
    own_pack(call, exchange);
    if (call->hierarchy->here)
        node_collect(call, exchange);
    else
        pl_exchange_hear(exchange, 0, exchange->own.out,
                         exchange->letter + PL_EXCHANGE_TOLD * pl_exchange_head(exchange));
}

static void exchange_run(struct pl_hierarchy_call *call, struct pl_exchange *exchange, int tag)
{
    if (exchange->schedule)
        exchange_append_collect(call, exchange);
    else
        exchange_collect(call, exchange);
    if (exchange->members && call->rc == MPI_SUCCESS)
        pl_exchange_nodes(call, exchange, tag);
    if (call->rc) /* the others learn that the communicator is broken */
        return;
    if (!exchange->schedule && call->hierarchy->here)
        node_spread(call, exchange);
    if (pl_hierarchy_may_continue(call))
        own_exchange(call, exchange, tag);
}

void pl_hierarchy_alltoallv(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_exchange memory, *exchange = call->schedule ? pl_schedule_temp(call->schedule, sizeof memory) : &memory;
    int tag = pl_hierarchy_tag(call);
    if (!exchange)
        return;
    *exchange = (struct pl_exchange){ .hierarchy = hierarchy,
                                      .schedule = call->schedule,
                                      .rank = call->coll->comm->rank,
                                      .all = call->coll->comm->size,
                                      .first = pl_hierarchy_first(hierarchy, hierarchy->node),
                                      .here = pl_hierarchy_ranks(hierarchy, hierarchy->node) };
    if ((!hierarchy->leaders || pl_exchange_lead(exchange)) && own_make(exchange, call->coll))
        exchange_run(call, exchange, tag);
    else
        call->rc = MPI_ERR_NO_MEM;
    for (int i = 0; i < PL_EXCHANGE_SPACES && !call->schedule; i++)
        free(exchange->spaces[i].memory);
}
