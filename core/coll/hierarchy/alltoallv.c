/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv and alltoallw by a node hierarchy. Each rank tells its leader how many bytes it sends to each rank and
 * receives from each, and gives it its short blocks. One message goes to each node instead of one from each rank to
 * each rank there: the amounts of its blocks, then these. Longer blocks go to their ranks without the leaders.
 */
#include "core/coll/hierarchy/alltoallv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"

/* Of one rank, and of all ranks. */
struct amounts {
    uint32_t *out, *in; /* [all] bytes for each rank, and from it; PL_HIERARCHY_DIRECT: not through the leaders */
};

struct exchange {
    struct pl_hierarchy_call *call;
    int here, all;      /* ranks of the node, of the communicator */
    int first;          /* rank of the node */
    struct amounts own; /* one after the other */
    char *packed;       /* this rank's blocks, in the order of the ranks: first those that it sends */
    uint32_t *amounts;  /* [here]: `own` of each rank of the node; NULL: this rank is not a leader */
    MPI_Count *counts;  /* [here] bytes of the short blocks that each rank of the node sends, then receives */
    MPI_Aint *displs;   /* [here] and where they are, in `blocks`, then in `result` */
    MPI_Aint *next;     /* [here] where those are that have not been moved yet */
    char *blocks, *result;
};

static size_t short_bytes(uint32_t amount)
{
    return amount == PL_HIERARCHY_DIRECT ? 0 : amount;
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
    uint32_t *out = exchange->amounts + (size_t)i * 2 * (size_t)exchange->all;
    return (struct amounts){ out, out + exchange->all };
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
    exchange->own.out = pl_malloc(2 * (size_t)all * sizeof(uint32_t));
    if (!exchange->own.out)
        return false;
    exchange->own.in = exchange->own.out + all;
    for (int i = 0; i < all; i++) {
        exchange->own.out[i] = amount_of(pl_send_block(coll, i));
        exchange->own.in[i] = amount_of(pl_recv_block(coll, i));
    }
    size_t most = sum_of(exchange->own.out, all), in = sum_of(exchange->own.in, all);
    exchange->packed = pl_malloc((most > in ? most : in) + 1);
    if (!exchange->packed)
        return false;
    char *to = exchange->packed;
    for (int i = 0; i < all; i++) {
        struct pl_block block = pl_send_block(coll, i);
        size_t bytes = short_bytes(exchange->own.out[i]);
        if (bytes > 0)
            pl_type_copy(block.buf, block.count, block.type, to, (MPI_Count)bytes, PL_TYPE_BYTE);
        to += bytes;
    }
    return true;
}

static void own_unpack(const struct exchange *exchange)
{
    const char *from = exchange->packed;
    for (int i = 0; i < exchange->all && exchange->call->rc == MPI_SUCCESS; i++) {
        struct pl_block block = pl_recv_block(exchange->call->coll, i);
        size_t bytes = short_bytes(exchange->own.in[i]);
        if (bytes > 0)
            pl_type_copy(from, (MPI_Count)bytes, PL_TYPE_BYTE, block.buf, block.count, block.type);
        from += bytes;
    }
}

/* The blocks that do not go through the leaders. */
static void own_exchange_direct(struct exchange *exchange, int tag)
{
    const struct pl_coll *coll = exchange->call->coll;
    int rank = coll->comm->rank, all = exchange->all;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(exchange->call, &own, tag);
    for (int i = 1; i < all; i++) {
        int from = (rank - i + all) % all;
        if (exchange->own.in[from] == PL_HIERARCHY_DIRECT)
            pl_schedule_recv(schedule, pl_recv_block(coll, from), from);
    }
    for (int i = 1; i < all; i++) {
        int to = (rank + i) % all;
        if (exchange->own.out[to] == PL_HIERARCHY_DIRECT)
            pl_schedule_send(schedule, pl_send_block(coll, to), to);
    }
    if (exchange->own.in[rank] == PL_HIERARCHY_DIRECT)
        pl_schedule_copy(schedule, pl_send_block(coll, rank), pl_recv_block(coll, rank));
    pl_hierarchy_run(exchange->call, schedule);
}

/* --- leaders ------------------------------------------------------------------------------------------------------ */

/* The bytes of the blocks from the node's ranks to those of another node, or from there; none: there is no message. */
static size_t node_bytes(const struct exchange *exchange, int first, int ranks, bool in)
{
    size_t bytes = 0;
    for (int i = 0; i < exchange->here; i++) {
        struct amounts amounts = amounts_of(exchange, i);
        bytes += sum_of((in ? amounts.in : amounts.out) + first, ranks);
    }
    return bytes;
}

static size_t node_head(const struct exchange *exchange, int ranks)
{
    return (size_t)exchange->here * (size_t)ranks * sizeof(uint32_t);
}

/* Where the blocks of each rank of the node are. Returns the bytes of all. */
static size_t node_place(struct exchange *exchange, bool in)
{
    MPI_Aint at = 0;
    for (int i = 0; i < exchange->here; i++) {
        struct amounts amounts = amounts_of(exchange, i);
        exchange->displs[i] = exchange->next[i] = at;
        at += exchange->counts[i] = (MPI_Count)sum_of(in ? amounts.in : amounts.out, exchange->all);
    }
    return (size_t)at;
}

/* Appends the message for a node. Those of the nodes before have been appended. */
static void node_send(struct exchange *exchange, struct pl_schedule *schedule, int first, int ranks)
{
    size_t head = node_head(exchange, ranks), bytes = node_bytes(exchange, first, ranks, false);
    char *message = bytes > 0 ? pl_schedule_temp(schedule, head + bytes) : NULL;
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

static const char *words_of(char text[24], uint32_t amount)
{
    if (amount == PL_HIERARCHY_DIRECT)
        snprintf(text, 24, "more than %d", PL_HIERARCHY_BLOCK);
    else
        snprintf(text, 24, "%u", amount);
    return text;
}

static int fail_block(int source, uint32_t given, int receiver, uint32_t expected)
{
    char gives[24], expects[24];
    return pl_fail(MPI_ERR_TRUNCATE,
                   "rank %d gives %s bytes where rank %d expects %s: all ranks must call the same collective with "
                   "matching sizes",
                   source, words_of(gives, given), receiver, words_of(expects, expected));
}

/* Moves the block from a rank to one of the node into place. `given` and `from`: as its sender's leader has them. */
static const char *take_block(struct exchange *exchange, int source, int i, uint32_t given, const char *from)
{
    uint32_t expected = amounts_of(exchange, i).in[source];
    size_t bytes = short_bytes(expected);
    if (exchange->call->rc)
        return from;
    if (given != expected) {
        exchange->call->rc = fail_block(source, given, exchange->first + i, expected);
        return from;
    }
    pl_copy_bytes(exchange->result + exchange->next[i], from, bytes);
    exchange->next[i] += (MPI_Aint)bytes;
    return from + bytes;
}

static void node_take(struct exchange *exchange, const char *message, int first, int ranks)
{
    const char *data = message + node_head(exchange, ranks);
    for (int k = 0; k < ranks; k++)
        for (int i = 0; i < exchange->here; i++) {
            uint32_t given;
            memcpy(&given, message + ((size_t)k * (size_t)exchange->here + (size_t)i) * sizeof given, sizeof given);
            data = take_block(exchange, first + k, i, given, data);
        }
}

/* The same of this node's own blocks. */
static void node_take_own(struct exchange *exchange)
{
    const char *from = exchange->blocks;
    for (int k = 0; k < exchange->here; k++) {
        const uint32_t *out = amounts_of(exchange, k).out;
        const char *data = from + sum_of(out, exchange->first);
        for (int i = 0; i < exchange->here; i++)
            data = take_block(exchange, exchange->first + k, i, out[exchange->first + i], data);
        from += sum_of(out, exchange->all);
    }
}

/* The leaders exchange what their ranks have. */
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
        size_t head = node_head(exchange, ranks), bytes = node_bytes(exchange, first, ranks, true);
        if (node == hierarchy->node || bytes == 0)
            continue;
        size_t most = head + bytes + PL_HIERARCHY_BLOCK; /* one that is wrong by a block, too: its amounts tell which */
        messages[node] = pl_schedule_temp(&schedule, most);
        pl_schedule_recv(&schedule, pl_block_bytes(messages[node], most), first);
    }
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        if (node != hierarchy->node)
            node_send(exchange, &schedule, first, ranks);
        else
            for (int i = 0; i < exchange->here; i++)
                exchange->next[i] += (MPI_Aint)sum_of(amounts_of(exchange, i).out + first, ranks);
    }
    int rc = pl_hierarchy_may_continue(exchange->call) ? pl_schedule_run(&schedule) : MPI_SUCCESS;
    exchange->call->rc = exchange->call->rc ? exchange->call->rc : rc;
    node_place(exchange, true);
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        if (node == hierarchy->node)
            node_take_own(exchange);
        else if (messages[node])
            node_take(exchange, messages[node], first, ranks);
    }
    pl_schedule_fini(&schedule);
    free(messages);
}

/* Memory for the amounts of the node's ranks, and where their blocks are. */
static bool leader_make(struct exchange *exchange)
{
    size_t here = (size_t)exchange->here, all = (size_t)exchange->all;
    size_t places = here * (sizeof *exchange->counts + 2 * sizeof *exchange->displs);
    exchange->counts = pl_malloc(places + here * 2 * all * sizeof *exchange->amounts);
    if (!exchange->counts)
        return false;
    exchange->displs = (MPI_Aint *)(exchange->counts + here);
    exchange->next = exchange->displs + here;
    exchange->amounts = (uint32_t *)(exchange->next + here);
    return true;
}

/* Memory for the blocks that they send and receive. */
static bool leader_make_blocks(struct exchange *exchange)
{
    size_t in = node_place(exchange, true), out = node_place(exchange, false);
    exchange->blocks = pl_malloc(out + in + 1);
    exchange->result = exchange->blocks ? exchange->blocks + out : NULL;
    return exchange->blocks != NULL;
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

static void exchange_collect(struct exchange *exchange)
{
    struct pl_comm *here = exchange->call->hierarchy->here;
    MPI_Count bytes = (MPI_Count)(2 * (size_t)exchange->all * sizeof(uint32_t));
    if (!here)
        memcpy(exchange->amounts, exchange->own.out, (size_t)bytes);
    pl_hierarchy_step(exchange->call, here,
                      (struct pl_coll){ .kind = PL_COLL_GATHER,
                                        .sendbuf = exchange->own.out,
                                        .sendcount = bytes,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = exchange->amounts,
                                        .recvcount = bytes,
                                        .recvtype = PL_TYPE_BYTE });
    if (exchange->amounts && exchange->call->rc == MPI_SUCCESS && !leader_make_blocks(exchange))
        exchange->call->rc = pl_fail_memory("the blocks of a node's ranks");
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

static void exchange_spread(struct exchange *exchange)
{
    struct pl_comm *here = exchange->call->hierarchy->here;
    MPI_Count in = (MPI_Count)sum_of(exchange->own.in, exchange->all);
    if (!here && exchange->blocks)
        pl_copy_bytes(exchange->packed, exchange->result, (size_t)in);
    pl_hierarchy_step(exchange->call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTERV,
                                        .sendbuf = exchange->result,
                                        .sendtype = PL_TYPE_BYTE,
                                        .sendcounts.wide = exchange->counts,
                                        .senddispls.wide = exchange->displs,
                                        .recvbuf = exchange->packed,
                                        .recvcount = in,
                                        .recvtype = PL_TYPE_BYTE });
}

/* A rank exchanges its long blocks while its leader is busy with the short ones. */
static void exchange_run(struct exchange *exchange, int tag)
{
    exchange_collect(exchange);
    if (exchange->blocks)
        leader_exchange(exchange, tag);
    if (exchange->call->rc == MPI_ERR_TRUNCATE) /* the others wait for this leader */
        pl_coll_tell_amounts(exchange->call->coll->comm);
    if (exchange->call->rc)
        return;
    own_exchange_direct(exchange, tag);
    exchange_spread(exchange);
    own_unpack(exchange);
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
    free(exchange.blocks);
    free(exchange.counts);
    free(exchange.packed);
    free(exchange.own.out);
}
