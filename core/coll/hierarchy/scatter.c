/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatters by a node hierarchy: gathers (gather.c) the other way round. The root sends each node's blocks to its leader
 * in one message. Short ones it sends down a binomial tree of nodes, in which a leader passes on those of other nodes.
 * The message of a scatterv begins with the amounts; longer blocks go to their ranks without the leader.
 */
#include "core/coll/hierarchy/scatter.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/area/call.h"
#include "core/coll/schedule.h"

static void scatter_at_root(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int first = pl_hierarchy_first(hierarchy, hierarchy->node);
    struct pl_coll out = *coll;
    out.root = coll->root - first;
    if (coll->comm->rank == coll->root) {
        out.sendbuf = pl_send_block(coll, first).buf;
        if (pl_has_counts(coll->sendcounts)) {
            out.sendbuf = coll->sendbuf;
            out.sendcounts = pl_counts_from(coll->sendcounts, first);
            out.senddispls = pl_displs_from(coll->senddispls, first);
        }
    }
    if (!hierarchy->here && coll->recvbuf != MPI_IN_PLACE) {
        struct pl_block own = pl_send_block(coll, first);
        pl_hierarchy_copy(call, own, pl_coll_received(coll));
    }
    pl_hierarchy_step(call, hierarchy->here, out);
}

/* --- scatter ------------------------------------------------------------------------------------------------------ */

enum { TREE_BYTES = 8 << 10 }; /* of a node's blocks, up to which they go down the tree: see scatters in select.c */

/* Where blocks come from and go to. Nodes are numbered from the root's, and those below a node follow it. */
struct route {
    const struct pl_hierarchy_call *call;
    int nodes, home; /* how many; that of the root */
    bool tree;       /* else all come from the root */
    int me, parent;  /* this rank's node, and the one that it gets them from */
    int below;       /* nodes that get theirs by this one, and itself */
};

/* In the tree, as many as the lowest bit of the node's number says, as far as they exist. */
static int scatter_below(const struct route *route)
{
    int low = route->me & -route->me, following = route->nodes - route->me;
    if (route->me == 0)
        return route->nodes;
    if (!route->tree)
        return 1;
    return low < following ? low : following;
}

static struct route scatter_route(const struct pl_hierarchy_call *call, size_t each)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct route route = { .call = call, .nodes = hierarchy->run_count };
    route.home = pl_hierarchy_node_of(hierarchy, call->coll->root);
    route.tree = (size_t)call->coll->comm->size * each <= (size_t)route.nodes * TREE_BYTES;
    route.me = pl_rank_from(route.home, hierarchy->node, route.nodes);
    route.parent = route.tree ? route.me & (route.me - 1) : 0;
    route.below = scatter_below(&route);
    return route;
}

static int scatter_first(const struct route *route, int node)
{
    return pl_hierarchy_first(route->call->hierarchy, pl_rank_back(route->home, node, route->nodes));
}

/* The rank that gets the blocks of a node, or has those of all. */
static int scatter_rank(const struct route *route, int node)
{
    return node == 0 ? route->call->coll->root : scatter_first(route, node);
}

/* The ranks of `count` nodes. */
static size_t scatter_ranks(const struct route *route, int node, int count)
{
    size_t ranks = 0;
    for (int i = node; i < node + count; i++)
        ranks += (size_t)pl_hierarchy_ranks(route->call->hierarchy, pl_rank_back(route->home, i, route->nodes));
    return ranks;
}

/* The root's blocks for `count` nodes. Those before and after the end of the communicator are packed. */
static struct pl_block scatter_blocks(struct pl_schedule *schedule, const struct route *route, int node, int count)
{
    const struct pl_coll *coll = route->call->coll;
    int first = scatter_first(route, node);
    MPI_Count ranks = (MPI_Count)scatter_ranks(route, node, count), at_end = coll->comm->size - first;
    struct pl_block blocks = pl_send_block(coll, first), rest = pl_send_block(coll, 0);
    size_t each = pl_block_size(rest);
    if (ranks <= at_end) {
        blocks.count *= ranks;
        return blocks;
    }
    struct pl_block packed = pl_block_bytes(pl_schedule_temp(schedule, (size_t)ranks * each), (size_t)ranks * each);
    if (!packed.buf)
        return pl_block_bytes(NULL, 0);
    blocks.count *= at_end;
    rest.count *= ranks - at_end;
    pl_schedule_copy(schedule, blocks, pl_packed(packed.buf, each, 0, (int)at_end));
    pl_schedule_copy(schedule, rest, pl_packed(packed.buf, each, (int)at_end, (int)(ranks - at_end)));
    return packed;
}

/* Sends to the first of `count` nodes what is for them. */
static void scatter_send_part(struct pl_schedule *schedule, const struct route *route, const void *blocks, size_t each,
                              int node, int count)
{
    int before = (int)scatter_ranks(route, route->me, node - route->me), ranks = (int)scatter_ranks(route, node, count);
    struct pl_block out =
        route->me == 0 ? scatter_blocks(schedule, route, node, count) : pl_packed(blocks, each, before, ranks);
    pl_schedule_send(schedule, out, scatter_first(route, node));
}

/* Sends what is for the nodes below, the largest part first. `blocks`: a leader's, of its own node and of these. */
static void scatter_send(struct pl_schedule *schedule, const struct route *route, const void *blocks, size_t each)
{
    int end = route->me + route->below;
    if (!route->tree) {
        for (int node = end - 1; node > route->me; node--)
            scatter_send_part(schedule, route, blocks, each, node, 1);
        return;
    }
    for (int step = route->below > 1 ? pl_power_below(route->below - 1) : 0; step > 0; step /= 2) {
        int node = route->me + step, rest = end - node;
        scatter_send_part(schedule, route, blocks, each, node, step < rest ? step : rest);
    }
}

/* Gets the blocks of this node, and of those below it to pass them on. Only those of this node if `blocks` is NULL. */
static void scatter_by_leader(struct pl_hierarchy_call *call, int tag, const struct route *route, void *blocks,
                              size_t each)
{
    struct pl_block own = pl_coll_received(call->coll);
    struct pl_schedule its, *schedule = pl_hierarchy_begin(call, &its, tag);
    schedule->exact = true; /* a leader that gets less would pass on what is not there */
    int ranks = (int)scatter_ranks(route, route->me, route->below);
    pl_schedule_recv(schedule, blocks ? pl_packed(blocks, each, 0, ranks) : own, scatter_rank(route, route->parent));
    if (route->below > 1)
        pl_schedule_wait(schedule);
    scatter_send(schedule, route, blocks, each);
    if (blocks && !call->hierarchy->here)
        pl_schedule_copy(schedule, pl_packed(blocks, each, 0, 1), own);
    pl_hierarchy_run(call, schedule);
}

static void scatter_at_leader(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    size_t each = pl_block_size(pl_coll_received(coll));
    struct route route = scatter_route(call, each);
    bool collects = hierarchy->leaders && (hierarchy->here || route.below > 1);
    struct pl_hierarchy_buffer buffer;
    struct pl_coll out = *coll;
    void *blocks =
        pl_hierarchy_borrow(call, &buffer, collects ? scatter_ranks(&route, route.me, route.below) * each : 0);
    if (!blocks)
        return;
    if (hierarchy->leaders)
        scatter_by_leader(call, tag, &route, collects ? blocks : NULL, each);
    out.root = 0;
    out.sendbuf = blocks;
    out.sendcount = (MPI_Count)each;
    out.sendtype = PL_TYPE_BYTE;
    pl_hierarchy_step(call, hierarchy->here, out);
    pl_hierarchy_return(&buffer);
}

static void scatter_from_root(struct pl_hierarchy_call *call, int tag)
{
    size_t each = pl_block_size(pl_send_block(call->coll, 0));
    struct route route = scatter_route(call, each);
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    scatter_send(schedule, &route, NULL, each);
    pl_hierarchy_run(call, schedule);
}

void pl_hierarchy_scatter(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    int tag = pl_hierarchy_tag(call);
    if (call->hierarchy->node != pl_hierarchy_node_of(call->hierarchy, coll->root)) {
        scatter_at_leader(call, tag);
        return;
    }
    if (coll->comm->rank == coll->root)
        scatter_from_root(call, tag);
    scatter_at_root(call);
}

/* --- scatterv ----------------------------------------------------------------------------------------------------- */

/* The message of a node, and its data. */
struct packet {
    const struct pl_coll *coll;
    int first, ranks;
    char *message;
};

static int scatterv_pack(struct pl_schedule *schedule, void *context)
{
    const struct packet *packet = context;
    char *data = packet->message + (size_t)packet->ranks * sizeof(uint32_t);
    (void)schedule;
    for (int i = 0; i < packet->ranks; i++) {
        struct pl_block block = pl_send_block(packet->coll, packet->first + i);
        uint32_t amount = pl_hierarchy_amount(block);
        memcpy(packet->message + (size_t)i * sizeof amount, &amount, sizeof amount);
        if (amount == PL_HIERARCHY_DIRECT)
            continue;
        pl_type_copy(block.buf, block.count, block.type, data, amount, PL_TYPE_BYTE);
        data += amount;
    }
    return MPI_SUCCESS;
}

/* Appends the message of a node, and those of its ranks that get theirs without the leader. */
static void scatterv_append(struct pl_schedule *schedule, const struct pl_coll *coll, int first, int ranks)
{
    size_t all = (size_t)ranks * sizeof(uint32_t);
    for (int i = first; i < first + ranks; i++)
        all += pl_hierarchy_short(pl_hierarchy_amount(pl_send_block(coll, i)));
    struct packet *packet = pl_schedule_temp(schedule, sizeof *packet);
    char *message = pl_schedule_temp(schedule, all);
    if (!packet || !message)
        return;
    *packet = (struct packet){ coll, first, ranks, message };
    pl_schedule_verify(schedule, scatterv_pack, packet);
    pl_schedule_send(schedule, pl_block_bytes(message, all), first);
    for (int i = first; i < first + ranks; i++)
        if (pl_hierarchy_amount(pl_send_block(coll, i)) == PL_HIERARCHY_DIRECT)
            pl_schedule_send(schedule, pl_send_block(coll, i), i);
}

static void scatterv_send(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    const struct pl_coll *coll = call->schedule ? pl_hierarchy_keep(schedule, call->coll) : call->coll;
    pl_schedule_hold(schedule, call->coll->sendtype);
    for (int node = 0; node < hierarchy->run_count && coll; node++)
        if (node != hierarchy->node)
            scatterv_append(schedule, coll, pl_hierarchy_first(hierarchy, node), pl_hierarchy_ranks(hierarchy, node));
    if (!call->schedule)
        pl_hierarchy_run(call, schedule);
}

/* Scatters the amounts, and then the data. This rank's amount. */
static uint32_t scatterv_spread(struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks)
{
    const struct pl_coll *coll = call->coll;
    struct pl_comm *here = call->hierarchy->here;
    uint32_t amount = 0;
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTER,
                                        .sendbuf = blocks->amounts,
                                        .sendcount = sizeof amount,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = &amount,
                                        .recvcount = sizeof amount,
                                        .recvtype = PL_TYPE_BYTE });
    pl_hierarchy_blocks_place(call, blocks);
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_SCATTERV,
                                        .sendbuf = blocks->data,
                                        .sendtype = PL_TYPE_BYTE,
                                        .sendcounts.wide = blocks->counts,
                                        .senddispls.wide = blocks->displs,
                                        .recvbuf = coll->recvbuf,
                                        .recvcount = amount == PL_HIERARCHY_DIRECT ? 0 : coll->recvcount,
                                        .recvtype = coll->recvtype });
    return amount;
}

/* The root gives this rank more than it expects, which a leader does not see when it copies its own block. */
static void scatterv_check(struct pl_hierarchy_call *call, uint32_t amount)
{
    size_t expected = pl_block_size(pl_coll_received(call->coll));
    if (pl_hierarchy_may_continue(call) && amount != PL_HIERARCHY_DIRECT && amount > expected)
        call->rc = pl_coll_fail_amount(call->coll->root, amount, expected);
}

/* The message of a node of one rank is for that rank. */
static void scatterv_unpack(const struct pl_hierarchy_call *call, uint32_t amount, const char *data)
{
    struct pl_block block = pl_coll_received(call->coll);
    if (amount <= PL_HIERARCHY_BLOCK)
        pl_type_copy(data, amount, PL_TYPE_BYTE, block.buf, block.count, block.type);
}

/* `part`: the root sends more. */
static void scatterv_receive(struct pl_hierarchy_call *call, int tag, struct pl_block blocks, bool part)
{
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->part = part;
    pl_schedule_recv(schedule, blocks, call->coll->root);
    pl_hierarchy_run(call, schedule);
}

static void scatterv_at_leader(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    uint32_t amount = 0;
    struct pl_hierarchy_blocks blocks;
    if (!pl_hierarchy_blocks_make(call, &blocks))
        return;
    if (hierarchy->leaders)
        scatterv_receive(call, tag, pl_block_bytes(blocks.amounts, blocks.most), true);
    if (hierarchy->here) {
        amount = scatterv_spread(call, &blocks);
    } else if (call->rc == MPI_SUCCESS) {
        amount = *blocks.amounts;
        scatterv_unpack(call, amount, blocks.data);
    }
    scatterv_check(call, amount);
    if (amount == PL_HIERARCHY_DIRECT)
        scatterv_receive(call, tag, pl_coll_received(call->coll), false);
    free(blocks.memory);
}

/* The same by messages. What a leader sends to a rank is its amount and then its data. */
enum { LETTER_MOST = sizeof(uint32_t) + PL_HIERARCHY_BLOCK };
struct letters {
    struct pl_block own; /* of this rank */
    int root;
    const char *amount, *data; /* where this rank's are */
    int direct;                /* the step that receives the data directly */
    bool early;                /* it comes before the amount, since the data is expected to be long */
    /* of a leader */
    int ranks;
    int sends; /* the first of the steps that send them */
    char *message, *each;
};

static int scatterv_sort(struct pl_schedule *schedule, void *context)
{
    const struct letters *letters = context;
    const char *data = letters->data;
    for (int i = 0; i < letters->ranks; i++) {
        char *letter = letters->each + (size_t)i * LETTER_MOST;
        uint32_t amount;
        memcpy(&amount, letters->message + (size_t)i * sizeof amount, sizeof amount);
        size_t bytes = pl_hierarchy_short(amount);
        if (i > 0) {
            memcpy(letter, &amount, sizeof amount);
            pl_copy_bytes(letter + sizeof amount, data, bytes);
            pl_schedule_change(schedule, letters->sends + i - 1, PL_STEP_SEND, letter,
                               (MPI_Count)(sizeof amount + bytes));
        }
        data += bytes;
    }
    return MPI_SUCCESS;
}

static int scatterv_take(struct pl_schedule *schedule, void *context)
{
    const struct letters *letters = context;
    struct pl_block own = letters->own;
    uint32_t amount;
    memcpy(&amount, letters->amount, sizeof amount);
    size_t bytes = pl_hierarchy_short(amount), expected = pl_block_size(own), some = pl_least(bytes, expected);
    if (!letters->early)
        pl_schedule_change(schedule, letters->direct, amount == PL_HIERARCHY_DIRECT ? PL_STEP_RECV : PL_STEP_SKIP,
                           own.buf, own.count);
    else if (amount != PL_HIERARCHY_DIRECT)
        pl_schedule_drop(schedule, letters->direct);
    if (some > 0)
        pl_type_copy(letters->data, (MPI_Count)some, PL_TYPE_BYTE, own.buf, own.count, own.type);
    schedule->wrong = bytes;
    return bytes > expected ? pl_coll_fail_amount(letters->root, bytes, expected) : MPI_SUCCESS;
}

/* Receives from the leader, or from the root; early, the data itself, too. */
static void scatterv_append_receive(struct pl_schedule *schedule, struct letters *letters, struct pl_block letter,
                                    int from)
{
    pl_schedule_recv(schedule, letter, from);
    letters->direct = pl_schedule_mark(schedule);
    if (letters->early)
        pl_schedule_recv(schedule, letters->own, letters->root);
    pl_schedule_wait_until(schedule, letters->direct);
}

static void scatterv_append_letters(struct pl_schedule *schedule, struct letters *letters, int first, int ranks)
{
    size_t head = (size_t)ranks * sizeof(uint32_t), most = head + (size_t)ranks * PL_HIERARCHY_BLOCK;
    letters->ranks = ranks;
    letters->message = pl_schedule_temp(schedule, most);
    letters->each = pl_schedule_temp(schedule, (size_t)ranks * LETTER_MOST);
    letters->amount = letters->message;
    letters->data = letters->message ? letters->message + head : NULL;
    scatterv_append_receive(schedule, letters, pl_block_bytes(letters->message, most), letters->root);
    pl_schedule_verify(schedule, scatterv_sort, letters);
    letters->sends = pl_schedule_mark(schedule);
    for (int i = 1; i < ranks; i++)
        pl_schedule_send(schedule, pl_block_bytes(NULL, 0), first + i);
}

static void scatterv_append_at_leader(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule *schedule = call->schedule;
    int first = pl_hierarchy_first(hierarchy, hierarchy->node);
    struct letters *letters = pl_schedule_temp(schedule, sizeof *letters);
    if (!letters)
        return;
    *letters = (struct letters){ .own = pl_coll_received(call->coll), .root = call->coll->root };
    letters->early = pl_hierarchy_amount(letters->own) == PL_HIERARCHY_DIRECT;
    if (hierarchy->leaders) {
        scatterv_append_letters(schedule, letters, first, pl_hierarchy_ranks(hierarchy, hierarchy->node));
    } else {
        char *letter = pl_schedule_temp(schedule, LETTER_MOST);
        letters->amount = letter;
        letters->data = letter ? letter + sizeof(uint32_t) : NULL;
        scatterv_append_receive(schedule, letters, pl_block_bytes(letter, LETTER_MOST), first);
    }
    pl_schedule_verify(schedule, scatterv_take, letters);
    if (letters->early)
        return;
    letters->direct = pl_schedule_mark(schedule);
    pl_schedule_recv(schedule, letters->own, letters->root);
}

void pl_hierarchy_scatterv(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    int tag = pl_hierarchy_tag(call);
    if (call->hierarchy->node != pl_hierarchy_node_of(call->hierarchy, coll->root)) {
        if (call->schedule)
            scatterv_append_at_leader(call);
        else
            scatterv_at_leader(call, tag);
        return;
    }
    if (coll->comm->rank == coll->root)
        scatterv_send(call, tag);
    scatter_at_root(call);
}
