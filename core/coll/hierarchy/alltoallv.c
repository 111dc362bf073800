/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv and alltoallw by a node hierarchy. Each rank tells its leader how many bytes it sends to each rank and
 * receives from each, and gives it its short blocks. One message goes to each node instead of one from each rank to
 * each rank there: the amounts of its blocks, then these. Longer blocks go to their ranks without the leaders.
 *
 * A receiver takes what its sender gives, and finds by itself that this is too long.
 */
#include "core/coll/hierarchy/alltoallv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"

/* Bytes for each rank, from it, and what that gives: [all] each. PL_HIERARCHY_DIRECT: not through the leaders. */
struct amounts {
    uint32_t *out, *in, *given;
};
enum { AMOUNTS = 3, TOLD = 2 }; /* of which a rank tells its leader */

struct exchange {
    struct pl_hierarchy_call *call;
    int here, all;      /* ranks of the node, of the communicator */
    int first;          /* rank of the node */
    struct amounts own; /* one after the other */
    char *packed;       /* this rank's blocks, in the order of the ranks: first those that it sends */
    uint32_t *told;     /* [here][TOLD * all] of each rank of the node; NULL: this rank is not a leader */
    uint32_t *given;    /* [here][all] */
    MPI_Count *counts;  /* [here] bytes of the short blocks that each rank of the node sends, then receives */
    MPI_Aint *displs;   /* [here] and where they are, in `blocks`, then in `result` */
    MPI_Aint *next;     /* [here] where those are that have not been moved yet */
    char *blocks, *result;
};

/* Another rank's amounts are not trusted. */
static size_t short_bytes(uint32_t amount)
{
    return amount <= PL_HIERARCHY_BLOCK ? amount : 0;
}

static size_t sum_of(const uint32_t *amounts, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += short_bytes(amounts[i]);
    return sum;
}

/* Those of a rank of the node. */
static struct amounts amounts_of(const struct exchange *exchange, int i)
{
    size_t all = (size_t)exchange->all;
    uint32_t *out = exchange->told + (size_t)i * TOLD * all;
    return (struct amounts){ out, out + all, exchange->given + (size_t)i * all };
}

/* --- a rank's own blocks ------------------------------------------------------------------------------------------ */

static uint32_t amount_of(struct pl_block block)
{
    size_t bytes = pl_block_size(block);
    return bytes <= PL_HIERARCHY_BLOCK ? (uint32_t)bytes : PL_HIERARCHY_DIRECT;
}

static bool own_pack(struct exchange *exchange)
{
    const struct pl_coll *coll = exchange->call->coll;
    int all = exchange->all;
    uint32_t *out = pl_malloc(AMOUNTS * (size_t)all * sizeof *out);
    if (!out)
        return false;
    exchange->own = (struct amounts){ out, out + all, out + 2 * all };
    for (int i = 0; i < all; i++) {
        out[i] = amount_of(pl_send_block(coll, i));
        exchange->own.in[i] = amount_of(pl_recv_block(coll, i));
    }
    exchange->packed = pl_malloc(sum_of(out, all) + 1);
    char *to = exchange->packed;
    for (int i = 0; to && i < all; i++) {
        struct pl_block block = pl_send_block(coll, i);
        size_t bytes = short_bytes(out[i]);
        if (bytes > 0)
            pl_type_copy(block.buf, block.count, block.type, to, (MPI_Count)bytes, PL_TYPE_BYTE);
        to += bytes;
    }
    return exchange->packed != NULL;
}

/* All of them are taken, also behind one that is too long. */
static void own_unpack(const struct exchange *exchange)
{
    struct pl_hierarchy_call *call = exchange->call;
    const char *from = exchange->packed;
    for (int i = 0; i < exchange->all && pl_hierarchy_may_continue(call); i++) {
        struct pl_block block = pl_recv_block(call->coll, i);
        size_t bytes = short_bytes(exchange->own.given[i]), capacity = pl_block_size(block),
               some = pl_least(bytes, capacity);
        if (some > 0)
            pl_type_copy(from, (MPI_Count)some, PL_TYPE_BYTE, block.buf, block.count, block.type);
        if (bytes > capacity && capacity > 0 && call->rc == MPI_SUCCESS)
            call->rc = pl_coll_fail_amount(i, bytes, capacity);
        from += bytes;
    }
}

/* The blocks that do not go through the leaders: those that their senders find long. */
static void own_exchange_direct(struct exchange *exchange, int tag)
{
    const struct pl_coll *coll = exchange->call->coll;
    const struct amounts *own = &exchange->own;
    int rank = coll->comm->rank, all = exchange->all;
    struct pl_schedule memory, *schedule = pl_hierarchy_begin(exchange->call, &memory, tag);
    for (int i = 1; i < all; i++) {
        int from = (rank - i + all) % all;
        struct pl_block block = pl_recv_block(coll, from);
        if (own->given[from] == PL_HIERARCHY_DIRECT && pl_block_size(block) > 0)
            pl_schedule_recv(schedule, block, from);
    }
    for (int i = 1; i < all; i++) {
        int to = (rank + i) % all;
        if (own->out[to] == PL_HIERARCHY_DIRECT)
            pl_schedule_send(schedule, pl_send_block(coll, to), to);
    }
    if (own->out[rank] == PL_HIERARCHY_DIRECT)
        pl_schedule_copy(schedule, pl_send_block(coll, rank), pl_recv_block(coll, rank));
    pl_hierarchy_run(exchange->call, schedule);
}

/* --- leaders ------------------------------------------------------------------------------------------------------ */

/* Is there a message to another node, or from there? It has the amounts even where all blocks are long. */
static bool node_talks(const struct exchange *exchange, int first, int ranks, bool in)
{
    bool talks = false;
    for (int i = 0; i < exchange->here; i++) {
        struct amounts amounts = amounts_of(exchange, i);
        for (int k = first; k < first + ranks; k++)
            talks |= (in ? amounts.in : amounts.out)[k] > 0;
    }
    return talks;
}

static size_t node_head(const struct exchange *exchange, int ranks)
{
    return (size_t)exchange->here * (size_t)ranks * sizeof(uint32_t);
}

/* Where the blocks of each rank of the node are: those that it sends, or that it is given. Returns the bytes of all. */
static size_t node_place(struct exchange *exchange, bool in)
{
    MPI_Aint at = 0;
    for (int i = 0; i < exchange->here; i++) {
        struct amounts amounts = amounts_of(exchange, i);
        exchange->displs[i] = exchange->next[i] = at;
        at += exchange->counts[i] = (MPI_Count)sum_of(in ? amounts.given : amounts.out, exchange->all);
    }
    return (size_t)at;
}

/* Appends the message for a node. Those of the nodes before have been appended. */
static void node_send(struct exchange *exchange, struct pl_schedule *schedule, int first, int ranks)
{
    size_t head = node_head(exchange, ranks), bytes = 0;
    for (int i = 0; i < exchange->here; i++)
        bytes += sum_of(amounts_of(exchange, i).out + first, ranks);
    char *message = pl_schedule_temp(schedule, head + bytes);
    if (!message)
        return;
    char *data = message + head;
    for (int i = 0; i < exchange->here; i++) {
        const uint32_t *out = amounts_of(exchange, i).out + first;
        size_t its = sum_of(out, ranks);
        memcpy(message + (size_t)i * (size_t)ranks * sizeof *out, out, (size_t)ranks * sizeof *out);
        pl_copy_bytes(data, exchange->blocks + exchange->next[i], its);
        exchange->next[i] += (MPI_Aint)its;
        data += its;
    }
    pl_schedule_send(schedule, pl_block_bytes(message, head + bytes), first);
}

/* What the ranks of a node give to those of this one, as its message says; nothing if there is none. */
static void node_learn(struct exchange *exchange, const char *message, int first, int ranks, bool own)
{
    for (int k = 0; k < ranks; k++)
        for (int i = 0; i < exchange->here; i++) {
            struct amounts amounts = amounts_of(exchange, i);
            uint32_t *given = &amounts.given[first + k];
            if (own)
                *given = amounts_of(exchange, k).out[exchange->first + i];
            else if (message)
                memcpy(given, message + ((size_t)k * (size_t)exchange->here + (size_t)i) * sizeof *given,
                       sizeof *given);
            else
                *given = 0;
        }
}

/* Moves the blocks from a rank to those of the node, which follow each other, into place. */
static const char *take_blocks(struct exchange *exchange, int source, const char *from)
{
    for (int i = 0; i < exchange->here; i++) {
        size_t bytes = short_bytes(amounts_of(exchange, i).given[source]);
        pl_copy_bytes(exchange->result + exchange->next[i], from, bytes);
        exchange->next[i] += (MPI_Aint)bytes;
        from += bytes;
    }
    return from;
}

/* This node's own blocks. */
static void node_take_own(struct exchange *exchange)
{
    const char *from = exchange->blocks;
    for (int k = 0; k < exchange->here; k++) {
        const uint32_t *out = amounts_of(exchange, k).out;
        take_blocks(exchange, exchange->first + k, from + sum_of(out, exchange->first));
        from += sum_of(out, exchange->all);
    }
}

/* Sorts what has come by the ranks of this node. The amounts are those of other leaders, which sent as many bytes. */
static void leader_sort(struct exchange *exchange, char *const *messages)
{
    const struct pl_hierarchy *hierarchy = exchange->call->hierarchy;
    for (int node = 0; node < hierarchy->run_count; node++)
        node_learn(exchange, messages[node], pl_hierarchy_first(hierarchy, node), pl_hierarchy_ranks(hierarchy, node),
                   node == hierarchy->node);
    exchange->result = pl_malloc(node_place(exchange, true) + 1);
    if (!exchange->result) {
        exchange->call->rc = pl_fail_memory("the blocks of a node's ranks");
        return;
    }
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        const char *data = messages[node] ? messages[node] + node_head(exchange, ranks) : NULL;
        for (int k = 0; data && k < ranks; k++)
            data = take_blocks(exchange, first + k, data);
        if (node == hierarchy->node)
            node_take_own(exchange);
    }
}

/* The leaders exchange what their ranks have. A message is as long as its sender makes it. */
static void leader_exchange(struct exchange *exchange, int tag)
{
    const struct pl_hierarchy *hierarchy = exchange->call->hierarchy;
    struct pl_schedule schedule;
    char **messages = pl_calloc((size_t)hierarchy->run_count, sizeof *messages);
    if (!messages) {
        exchange->call->rc = pl_fail_memory("the messages of nodes");
        return;
    }
    pl_schedule_init(&schedule, exchange->call->coll->comm, tag);
    schedule.part = true;
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        if (node == hierarchy->node || !node_talks(exchange, first, ranks, true))
            continue;
        size_t most = node_head(exchange, ranks) + (size_t)exchange->here * (size_t)ranks * PL_HIERARCHY_BLOCK;
        messages[node] = pl_schedule_temp(&schedule, most);
        pl_schedule_recv(&schedule, pl_block_bytes(messages[node], most), first);
    }
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        if (node != hierarchy->node && node_talks(exchange, first, ranks, false))
            node_send(exchange, &schedule, first, ranks);
        else
            for (int i = 0; i < exchange->here; i++)
                exchange->next[i] += (MPI_Aint)sum_of(amounts_of(exchange, i).out + first, ranks);
    }
    int rc = pl_hierarchy_may_continue(exchange->call) ? pl_schedule_run(&schedule) : MPI_SUCCESS;
    exchange->call->rc = exchange->call->rc ? exchange->call->rc : rc;
    if (exchange->call->rc == MPI_SUCCESS)
        leader_sort(exchange, messages);
    pl_schedule_fini(&schedule);
    free(messages);
}

/* Memory for the amounts of the node's ranks, and where their blocks are. */
static bool leader_make(struct exchange *exchange)
{
    size_t here = (size_t)exchange->here, all = (size_t)exchange->all;
    size_t places = here * (sizeof *exchange->counts + 2 * sizeof *exchange->displs);
    exchange->counts = pl_malloc(places + here * AMOUNTS * all * sizeof *exchange->told);
    if (!exchange->counts)
        return false;
    exchange->displs = (MPI_Aint *)(exchange->counts + here);
    exchange->next = exchange->displs + here;
    exchange->told = (uint32_t *)(exchange->next + here);
    exchange->given = exchange->told + here * TOLD * all;
    return true;
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

static void exchange_collect(struct exchange *exchange)
{
    struct pl_comm *here = exchange->call->hierarchy->here;
    MPI_Count bytes = (MPI_Count)(TOLD * (size_t)exchange->all * sizeof(uint32_t));
    if (!here)
        memcpy(exchange->told, exchange->own.out, (size_t)bytes);
    pl_hierarchy_step(exchange->call, here,
                      (struct pl_coll){ .kind = PL_COLL_GATHER,
                                        .sendbuf = exchange->own.out,
                                        .sendcount = bytes,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = exchange->told,
                                        .recvcount = bytes,
                                        .recvtype = PL_TYPE_BYTE });
    if (exchange->told && exchange->call->rc == MPI_SUCCESS) {
        exchange->blocks = pl_malloc(node_place(exchange, false) + 1);
        if (!exchange->blocks)
            exchange->call->rc = pl_fail_memory("the blocks of a node's ranks");
    }
    MPI_Count out = (MPI_Count)sum_of(exchange->own.out, exchange->all);
    if (!here && exchange->blocks)
        pl_copy_bytes(exchange->blocks, exchange->packed, (size_t)out);
    pl_hierarchy_step(exchange->call, here,
                      (struct pl_coll){ .kind = PL_COLL_GATHERV,
                                        .sendbuf = exchange->packed,
                                        .sendcount = out,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = exchange->blocks,
                                        .recvtype = PL_TYPE_BYTE,
                                        .recvcounts.wide = exchange->counts,
                                        .recvdispls.wide = exchange->displs });
}

/* What each rank is given, and then the blocks, for which it now has memory. */
static void exchange_spread(struct exchange *exchange)
{
    struct pl_comm *here = exchange->call->hierarchy->here;
    MPI_Count bytes = (MPI_Count)((size_t)exchange->all * sizeof(uint32_t));
    if (!here)
        memcpy(exchange->own.given, exchange->given, (size_t)bytes);
    pl_hierarchy_step(exchange->call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTER,
                                        .sendbuf = exchange->given,
                                        .sendcount = bytes,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = exchange->own.given,
                                        .recvcount = bytes,
                                        .recvtype = PL_TYPE_BYTE });
    if (!pl_hierarchy_may_continue(exchange->call))
        return;
    size_t in = sum_of(exchange->own.given, exchange->all);
    free(exchange->packed);
    exchange->packed = pl_malloc(in + 1);
    if (!exchange->packed) {
        exchange->call->rc = pl_fail_memory("the blocks of a rank");
        return;
    }
    if (!here)
        pl_copy_bytes(exchange->packed, exchange->result, in);
    pl_hierarchy_step(exchange->call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTERV,
                                        .sendbuf = exchange->result,
                                        .sendtype = PL_TYPE_BYTE,
                                        .sendcounts.wide = exchange->counts,
                                        .senddispls.wide = exchange->displs,
                                        .recvbuf = exchange->packed,
                                        .recvcount = (MPI_Count)in,
                                        .recvtype = PL_TYPE_BYTE });
}

static void exchange_run(struct exchange *exchange, int tag)
{
    exchange_collect(exchange);
    if (exchange->blocks)
        leader_exchange(exchange, tag);
    if (exchange->call->rc) /* the others learn that the communicator is broken */
        return;
    exchange_spread(exchange);
    if (exchange->packed)
        own_unpack(exchange);
    if (pl_hierarchy_may_continue(exchange->call))
        own_exchange_direct(exchange, tag);
}

void pl_hierarchy_alltoallv(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct exchange exchange = { .call = call,
                                 .here = pl_hierarchy_ranks(hierarchy, hierarchy->node),
                                 .all = call->coll->comm->size,
                                 .first = pl_hierarchy_first(hierarchy, hierarchy->node) };
    int tag = pl_hierarchy_tag(call);
    if (own_pack(&exchange) && (!hierarchy->leaders || leader_make(&exchange)))
        exchange_run(&exchange, tag);
    else
        call->rc = pl_fail_memory("the blocks of a node's ranks");
    free(exchange.result);
    free(exchange.blocks);
    free(exchange.counts);
    free(exchange.packed);
    free(exchange.own.out);
}
