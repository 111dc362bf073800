/* SPDX-License-Identifier: BSD-3-Clause */
/* See leaders.h. A message from a leader to another has the amounts of all blocks, and then the short blocks. */
#include "core/coll/hierarchy/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"

void *pl_exchange_reserve(struct pl_exchange *exchange, enum pl_exchange_space name, size_t bytes)
{
    struct pl_exchange_memory *space = &exchange->spaces[name];
    if (space->memory && bytes <= space->bytes)
        return space->memory;
    if (!exchange->schedule)
        free(space->memory);
    space->bytes = bytes + 1; /* of none, too, there is memory */
    space->memory = exchange->schedule ? pl_schedule_temp(exchange->schedule, bytes + 1) : pl_malloc(bytes + 1);
    if (!space->memory)
        pl_fail_memory("the blocks of a node's ranks");
    return space->memory;
}

bool pl_exchange_lead(struct pl_exchange *exchange)
{
    size_t here = (size_t)exchange->here, amounts = here * pl_exchange_head(exchange),
           told = exchange->schedule ? 0 : PL_EXCHANGE_TOLD * amounts;
    size_t places = here * (sizeof *exchange->members + sizeof *exchange->counts + sizeof *exchange->displs),
           nodes = (size_t)exchange->hierarchy->run_count * sizeof *exchange->messages;
    exchange->members = pl_exchange_reserve(exchange, PL_EXCHANGE_LEADER, places + nodes + amounts + told);
    if (!exchange->members)
        return false;
    exchange->counts = (MPI_Count *)(exchange->members + here);
    exchange->displs = (MPI_Aint *)(exchange->counts + here);
    exchange->messages = (char **)(exchange->displs + here);
    exchange->given = (uint32_t *)(exchange->messages + exchange->hierarchy->run_count);
    exchange->told = exchange->given + here * (size_t)exchange->all;
    return true;
}

void pl_exchange_hear(struct pl_exchange *exchange, int i, uint32_t *told, const char *blocks)
{
    size_t all = (size_t)exchange->all;
    exchange->members[i] =
        (struct pl_exchange_member){ .amounts = { told, told + all, exchange->given + (size_t)i * all },
                                     .blocks = blocks };
}

/* Is there a message to another node, or from there? It has the amounts even where all blocks are long. */
static bool node_talks(const struct pl_exchange *exchange, int first, int ranks, bool in)
{
    bool talks = false;
    for (int i = 0; i < exchange->here; i++) {
        const struct pl_exchange_amounts *amounts = &exchange->members[i].amounts;
        for (int k = first; k < first + ranks; k++)
            talks |= (in ? amounts->in : amounts->out)[k] > 0;
    }
    return talks;
}

static size_t node_head(const struct pl_exchange *exchange, int ranks)
{
    return (size_t)exchange->here * (size_t)ranks * sizeof(uint32_t);
}

/* Bytes of the message to a node. */
static size_t node_bytes(const struct pl_exchange *exchange, int first, int ranks)
{
    size_t bytes = node_head(exchange, ranks);
    for (int i = 0; i < exchange->here; i++)
        bytes += pl_exchange_sum(exchange->members[i].amounts.out + first, ranks);
    return bytes;
}

static size_t node_most(const struct pl_exchange *exchange, int ranks)
{
    return node_head(exchange, ranks) + (size_t)exchange->here * (size_t)ranks * PL_HIERARCHY_BLOCK;
}

/* Makes the message for a node. Those for the nodes before have been made. */
static void node_pack(struct pl_exchange *exchange, char *message, int first, int ranks)
{
    char *data = message + node_head(exchange, ranks);
    for (int i = 0; i < exchange->here; i++) {
        struct pl_exchange_member *member = &exchange->members[i];
        const uint32_t *out = member->amounts.out + first;
        size_t its = pl_exchange_sum(out, ranks);
        memcpy(message + (size_t)i * (size_t)ranks * sizeof *out, out, (size_t)ranks * sizeof *out);
        pl_copy_bytes(data, member->next, its);
        member->next += its;
        data += its;
    }
}

/* Those of this node stay, and there are none for a node to which there is no message. */
static void node_skip(struct pl_exchange *exchange, int first, int ranks)
{
    for (int i = 0; i < exchange->here; i++)
        exchange->members[i].next += pl_exchange_sum(exchange->members[i].amounts.out + first, ranks);
}

/* Memory for the messages between nodes: as long as their senders make them. */
static bool leader_place(struct pl_exchange *exchange, char **in, char **out)
{
    const struct pl_hierarchy *hierarchy = exchange->hierarchy;
    size_t in_bytes = 0, out_bytes = 0;
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        if (node == hierarchy->node)
            continue;
        in_bytes += node_talks(exchange, first, ranks, true) ? node_most(exchange, ranks) : 0;
        out_bytes += node_bytes(exchange, first, ranks);
    }
    *in = pl_exchange_reserve(exchange, PL_EXCHANGE_IN, in_bytes);
    *out = pl_exchange_reserve(exchange, PL_EXCHANGE_OUT, out_bytes);
    return *in && *out;
}

/* What goes to the other nodes, and what comes from them. */
static int leader_prepare(struct pl_schedule *schedule, void *context)
{
    struct pl_exchange *exchange = context;
    const struct pl_hierarchy *hierarchy = exchange->hierarchy;
    int receive = exchange->receives, send = exchange->sends;
    char *in, *out;
    if (!leader_place(exchange, &in, &out))
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < exchange->here; i++)
        exchange->members[i].next = exchange->members[i].blocks;
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        bool other = node != hierarchy->node, hears = other && node_talks(exchange, first, ranks, true),
             tells = other && node_talks(exchange, first, ranks, false);
        size_t most = hears ? node_most(exchange, ranks) : 0, bytes = tells ? node_bytes(exchange, first, ranks) : 0;
        exchange->messages[node] = hears ? in : NULL;
        if (tells)
            node_pack(exchange, out, first, ranks);
        else
            node_skip(exchange, first, ranks);
        if (other) {
            pl_schedule_change(schedule, receive++, hears ? PL_STEP_RECV : PL_STEP_SKIP, in, (MPI_Count)most);
            pl_schedule_change(schedule, send++, tells ? PL_STEP_SEND : PL_STEP_SKIP, out, (MPI_Count)bytes);
        }
        in += most;
        out += bytes;
    }
    return MPI_SUCCESS;
}

/* What the ranks of a node give to those of this one, as its message says; nothing if there is none. */
static void node_learn(struct pl_exchange *exchange, const char *message, int first, int ranks, bool own)
{
    for (int k = 0; k < ranks; k++)
        for (int i = 0; i < exchange->here; i++) {
            uint32_t *given = &exchange->members[i].amounts.given[first + k];
            if (own)
                *given = exchange->members[k].amounts.out[exchange->first + i];
            else if (message)
                memcpy(given, message + ((size_t)k * (size_t)exchange->here + (size_t)i) * sizeof *given,
                       sizeof *given);
            else
                *given = 0;
        }
}

/* Moves the blocks from a rank to those of the node, which follow each other, into place. */
static const char *take_blocks(struct pl_exchange *exchange, int source, const char *from)
{
    for (int i = 0; i < exchange->here; i++) {
        struct pl_exchange_member *member = &exchange->members[i];
        size_t bytes = pl_hierarchy_short(member->amounts.given[source]);
        pl_copy_bytes(member->to, from, bytes);
        member->to += bytes;
        from += bytes;
    }
    return from;
}

/* This node's own blocks. */
static void node_take_own(struct pl_exchange *exchange)
{
    for (int k = 0; k < exchange->here; k++) {
        const struct pl_exchange_member *member = &exchange->members[k];
        take_blocks(exchange, exchange->first + k,
                    member->blocks + pl_exchange_sum(member->amounts.out, exchange->first));
    }
}

/* Where the blocks go that the ranks of the node are given. By messages, a rank's follow the amounts of each. */
static bool leader_place_result(struct pl_exchange *exchange, struct pl_schedule *schedule)
{
    size_t head = exchange->schedule ? pl_exchange_head(exchange) : 0, bytes = 0;
    for (int i = 0; i < exchange->here; i++) {
        exchange->counts[i] = (MPI_Count)pl_exchange_sum(exchange->members[i].amounts.given, exchange->all);
        exchange->displs[i] = (MPI_Aint)(bytes + head);
        bytes += (head + (size_t)exchange->counts[i] + 3) & ~(size_t)3;
    }
    exchange->result = pl_exchange_reserve(exchange, PL_EXCHANGE_RESULT, bytes);
    for (int i = 0; exchange->result && i < exchange->here; i++) {
        struct pl_exchange_member *member = &exchange->members[i];
        member->to = exchange->result + exchange->displs[i];
        if (head == 0)
            continue;
        memcpy(member->to - head, member->amounts.given, head);
        if (i > 0)
            pl_schedule_change(schedule, exchange->replies + i - 1, PL_STEP_SEND, member->to - head,
                               (MPI_Count)head + exchange->counts[i]);
    }
    return exchange->result;
}

/* Sorts what has come by the ranks of this node. The amounts are those of other leaders, which sent as many bytes. */
static int leader_sort(struct pl_schedule *schedule, void *context)
{
    struct pl_exchange *exchange = context;
    const struct pl_hierarchy *hierarchy = exchange->hierarchy;
    for (int node = 0; node < hierarchy->run_count; node++)
        node_learn(exchange, exchange->messages[node], pl_hierarchy_first(hierarchy, node),
                   pl_hierarchy_ranks(hierarchy, node), node == hierarchy->node);
    if (!leader_place_result(exchange, schedule))
        return MPI_ERR_NO_MEM;
    exchange->own.given = exchange->given;
    exchange->taken = exchange->members[0].to;
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node), ranks = pl_hierarchy_ranks(hierarchy, node);
        const char *message = exchange->messages[node], *data = message ? message + node_head(exchange, ranks) : NULL;
        for (int k = 0; data && k < ranks; k++)
            data = take_blocks(exchange, first + k, data);
        if (node == hierarchy->node)
            node_take_own(exchange);
    }
    return MPI_SUCCESS;
}

/* Steps whose data is not known yet. */
static void append_nodes(const struct pl_exchange *exchange, struct pl_schedule *schedule,
                         void (*append)(struct pl_schedule *schedule, struct pl_block data, int peer))
{
    const struct pl_hierarchy *hierarchy = exchange->hierarchy;
    for (int node = 0; node < hierarchy->run_count; node++)
        if (node != hierarchy->node)
            append(schedule, pl_block_bytes(NULL, 0), pl_hierarchy_first(hierarchy, node));
}

void pl_exchange_nodes(struct pl_hierarchy_call *call, struct pl_exchange *exchange, int tag)
{
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->part = !exchange->schedule; /* this rank has other messages in another schedule */
    schedule->cut_from = 0;
    pl_schedule_verify(schedule, leader_prepare, exchange);
    exchange->receives = pl_schedule_mark(schedule);
    append_nodes(exchange, schedule, pl_schedule_recv);
    exchange->sends = pl_schedule_mark(schedule);
    append_nodes(exchange, schedule, pl_schedule_send);
    int end = pl_schedule_mark(schedule);
    pl_exchange_direct(call, exchange, schedule, PL_EXCHANGE_NODES);
    pl_schedule_wait_for(schedule, exchange->receives, end);
    pl_schedule_verify(schedule, leader_sort, exchange);
    exchange->replies = pl_schedule_mark(schedule);
    for (int i = 1; i < exchange->here && exchange->schedule; i++)
        pl_schedule_send(schedule, pl_block_bytes(NULL, 0), exchange->first + i);
    if (!exchange->schedule)
        pl_hierarchy_run(call, schedule);
}

/* --- long blocks -------------------------------------------------------------------------------------------------- */

/* Of a block to a rank, or from it. */
static enum pl_exchange_turn direct_turn(const struct pl_exchange *exchange, int rank, bool out)
{
    if (!exchange->schedule)
        return PL_EXCHANGE_LAST;
    if (!exchange->members)
        return PL_EXCHANGE_FIRST;
    int node = pl_hierarchy_node_of(exchange->hierarchy, rank);
    if (node == exchange->hierarchy->node)
        return out ? PL_EXCHANGE_LAST : PL_EXCHANGE_FIRST;
    return rank == pl_hierarchy_first(exchange->hierarchy, node) ? PL_EXCHANGE_NODES : PL_EXCHANGE_FIRST;
}

void pl_exchange_direct(struct pl_hierarchy_call *call, struct pl_exchange *exchange, struct pl_schedule *schedule,
                        enum pl_exchange_turn turn)
{
    for (int i = 1; i < exchange->all; i++) {
        int from = pl_exchange_source(exchange, i);
        if (exchange->own.in[from] != PL_HIERARCHY_DIRECT || direct_turn(exchange, from, false) != turn)
            continue;
        exchange->direct[from] = pl_schedule_mark(schedule);
        pl_schedule_recv(schedule, exchange->expected[from], from);
    }
    for (int i = 1; i < exchange->all; i++) {
        int to = (exchange->rank + i) % exchange->all;
        if (exchange->own.out[to] == PL_HIERARCHY_DIRECT && direct_turn(exchange, to, true) == turn)
            pl_schedule_send(schedule, pl_send_block(call->coll, to), to);
    }
}
