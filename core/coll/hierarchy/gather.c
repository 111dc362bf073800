/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers by a node hierarchy whose nodes' ranks follow each other. The leader of each node collects the blocks of its
 * ranks and sends them to the root in one message. No rank waits for another to have its data taken.
 *
 * In a gatherv only the root and the rank itself know a rank's amount. Each rank tells its leader, and the leader's
 * message begins with the amounts. A rank with more than PL_HIERARCHY_BLOCK bytes sends its data to the root itself, so
 * that long data is not copied twice.
 */
#include "core/coll/hierarchy/gather.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/area/call.h"
#include "core/coll/area/collectives.h"
#include "core/coll/schedule.h"

/* --- gather ------------------------------------------------------------------------------------------------------- */

/* In the root's node, to the root. */
static void gather_at_root(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int first = pl_hierarchy_first(hierarchy, hierarchy->node);
    struct pl_coll in = *coll;
    in.root = coll->root - first;
    if (coll->comm->rank == coll->root) {
        in.recvbuf = pl_recv_block(coll, first).buf;
        if (pl_has_counts(coll->recvcounts)) {
            in.recvbuf = coll->recvbuf;
            in.recvcounts = pl_counts_from(coll->recvcounts, first);
            in.recvdispls = pl_displs_from(coll->recvdispls, first);
        }
    }
    if (!hierarchy->here && !pl_coll_in_place(coll)) {
        struct pl_block own = pl_recv_block(coll, first);
        pl_hierarchy_copy(call, pl_coll_sent(coll), own);
    }
    pl_hierarchy_step(call, hierarchy->here, in);
}

/* The blocks of a node follow each other. */
static void gather_receive(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->exact = true;
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node);
        struct pl_block blocks = pl_recv_block(coll, first);
        blocks.count *= pl_hierarchy_ranks(hierarchy, node);
        if (node != hierarchy->node)
            pl_schedule_recv(schedule, blocks, first);
    }
    pl_hierarchy_run(call, schedule);
}

/* `part`: the rank sends more. */
static void gather_send(struct pl_hierarchy_call *call, int tag, struct pl_block blocks, bool part)
{
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->part = part;
    pl_schedule_send(schedule, blocks, call->coll->root);
    pl_hierarchy_run(call, schedule);
}

/* In another node, to the leader, which sends them on. */
static void gather_at_leader(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    size_t each = pl_block_size(pl_coll_sent(coll)), ranks = (size_t)pl_hierarchy_ranks(hierarchy, hierarchy->node);
    struct pl_hierarchy_buffer buffer;
    struct pl_coll in = *coll;
    void *blocks = pl_hierarchy_borrow(call, &buffer, hierarchy->here && hierarchy->leaders ? ranks * each : 0);
    if (!blocks)
        return;
    in.root = 0;
    in.recvbuf = blocks;
    in.recvcount = (MPI_Count)each;
    in.recvtype = PL_TYPE_BYTE;
    pl_hierarchy_step(call, hierarchy->here, in);
    if (hierarchy->leaders)
        gather_send(call, tag, hierarchy->here ? pl_block_bytes(blocks, ranks * each) : pl_coll_sent(coll), false);
    pl_hierarchy_return(&buffer);
}

void pl_hierarchy_gather(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    int tag = pl_hierarchy_tag(call);
    if (call->hierarchy->node != pl_hierarchy_node_of(call->hierarchy, coll->root)) {
        gather_at_leader(call, tag);
        return;
    }
    gather_at_root(call);
    if (coll->comm->rank == coll->root)
        gather_receive(call, tag);
}

/* --- gatherv ------------------------------------------------------------------------------------------------------ */

/* The leader collects the amounts, and then the data. */
static void gatherv_collect(struct pl_hierarchy_call *call, struct pl_hierarchy_blocks *blocks, uint32_t amount,
                            struct pl_block own)
{
    struct pl_comm *here = call->hierarchy->here;
    if (!here)
        *blocks->amounts = amount;
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_GATHER,
                                        .sendbuf = &amount,
                                        .sendcount = sizeof amount,
                                        .sendtype = PL_TYPE_BYTE,
                                        .recvbuf = blocks->amounts,
                                        .recvcount = sizeof amount,
                                        .recvtype = PL_TYPE_BYTE });
    pl_hierarchy_blocks_place(call, blocks);
    if (!here)
        pl_type_copy(own.buf, own.count, own.type, blocks->data, blocks->counts[0], PL_TYPE_BYTE);
    pl_hierarchy_step(call, here,
                      (struct pl_coll){ .kind = PL_COLL_GATHERV,
                                        .sendbuf = own.buf,
                                        .sendcount = own.count,
                                        .sendtype = own.type,
                                        .recvbuf = blocks->data,
                                        .recvtype = PL_TYPE_BYTE,
                                        .recvcounts.wide = blocks->counts,
                                        .recvdispls.wide = blocks->displs });
}

static void gatherv_at_leader(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    struct pl_block own = pl_coll_sent(coll), through = own;
    uint32_t amount = pl_hierarchy_amount(own);
    bool direct = amount == PL_HIERARCHY_DIRECT;
    struct pl_hierarchy_blocks blocks;
    if (!pl_hierarchy_blocks_make(call, &blocks))
        return;
    if (direct)
        through.count = 0;
    gatherv_collect(call, &blocks, amount, through);
    if (call->hierarchy->leaders)
        gather_send(call, tag, pl_block_bytes(blocks.amounts, blocks.head + pl_hierarchy_blocks_place(call, &blocks)),
                    direct);
    if (direct)
        gather_send(call, tag, own, false);
    free(blocks.memory);
}

/* The same by messages. What a rank sends to its leader is its amount and then its data. */
enum { LETTER_MOST = sizeof(uint32_t) + PL_HIERARCHY_BLOCK };
struct letters {
    int ranks;
    int send; /* the step that sends to the root */
    char *each, *message;
};

static int gatherv_pack(struct pl_schedule *schedule, void *context)
{
    const struct letters *letters = context;
    char *data = letters->message + (size_t)letters->ranks * sizeof(uint32_t);
    for (int i = 0; i < letters->ranks; i++) {
        const char *letter = letters->each + (size_t)i * LETTER_MOST;
        uint32_t amount;
        memcpy(&amount, letter, sizeof amount);
        memcpy(letters->message + (size_t)i * sizeof amount, &amount, sizeof amount);
        pl_copy_bytes(data, letter + sizeof amount, pl_hierarchy_short(amount));
        data += pl_hierarchy_short(amount);
    }
    pl_schedule_change(schedule, letters->send, PL_STEP_SEND, letters->message, data - letters->message);
    return MPI_SUCCESS;
}

static struct letters *gatherv_append_letters(struct pl_schedule *schedule, int first, int ranks)
{
    struct letters *letters = pl_schedule_temp(schedule, sizeof *letters);
    char *memory = pl_schedule_temp(schedule, 2 * (size_t)ranks * LETTER_MOST);
    if (!letters || !memory)
        return NULL;
    *letters = (struct letters){ .ranks = ranks, .each = memory, .message = memory + (size_t)ranks * LETTER_MOST };
    for (int i = 1; i < ranks; i++)
        pl_schedule_recv(schedule, pl_block_bytes(memory + (size_t)i * LETTER_MOST, LETTER_MOST), first + i);
    return letters;
}

static void gatherv_append_at_leader(struct pl_hierarchy_call *call)
{
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    struct pl_schedule *schedule = call->schedule;
    struct pl_block own = pl_coll_sent(call->coll);
    int root = call->coll->root, first = pl_hierarchy_first(hierarchy, hierarchy->node);
    uint32_t amount = pl_hierarchy_amount(own);
    size_t bytes = pl_hierarchy_short(amount);
    struct letters *letters = NULL;
    if (hierarchy->leaders)
        letters = gatherv_append_letters(schedule, first, pl_hierarchy_ranks(hierarchy, hierarchy->node));
    char *letter = letters ? letters->each : pl_schedule_temp(schedule, sizeof amount + bytes);
    if (schedule->broken)
        return;
    memcpy(letter, &amount, sizeof amount);
    if (amount != PL_HIERARCHY_DIRECT)
        pl_schedule_copy(schedule, own, pl_block_bytes(letter + sizeof amount, bytes));
    if (letters) {
        pl_schedule_wait(schedule);
        pl_schedule_verify(schedule, gatherv_pack, letters);
        letters->send = pl_schedule_mark(schedule);
    }
    pl_schedule_send(schedule, pl_block_bytes(letter, sizeof amount + bytes), letters ? root : first);
    if (amount == PL_HIERARCHY_DIRECT)
        pl_schedule_send(schedule, own, root);
}

/* At the root: the data of its node's ranks. */
static void gatherv_append_here(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    for (int i = pl_hierarchy_first(hierarchy, hierarchy->node); i <= pl_hierarchy_last(hierarchy, hierarchy->node);
         i++)
        if (i != coll->root)
            pl_schedule_recv(call->schedule, pl_recv_block(coll, i), i);
    if (!pl_coll_in_place(coll))
        pl_schedule_copy(call->schedule, pl_coll_sent(coll), pl_recv_block(coll, coll->root));
}

/* At the root: what came from the other nodes. */
struct gathered {
    const struct pl_coll *coll;
    const struct pl_hierarchy *hierarchy;
    int direct;    /* the first of the steps that receive data directly that is expected to be long */
    bool appended; /* those that receive other data directly */
    const char *messages[];
};

/* The most bytes that the leader of a node sends. */
static size_t gatherv_most(const struct pl_coll *coll, int first, int ranks)
{
    size_t most = (size_t)ranks * sizeof(uint32_t);
    for (int i = 0; i < ranks; i++)
        most += pl_least(pl_block_size(pl_recv_block(coll, first + i)), PL_HIERARCHY_BLOCK);
    return most;
}

/* Where a rank's data is, is what the rank decides: `step` receives it directly if it is expected to be long. */
static void gatherv_take_direct(const struct gathered *gathered, struct pl_schedule *schedule, int rank, bool direct,
                                int *step)
{
    struct pl_block block = pl_recv_block(gathered->coll, rank);
    if (pl_hierarchy_amount(block) != PL_HIERARCHY_DIRECT) {
        if (direct && !gathered->appended)
            pl_schedule_recv(schedule, block, rank);
        return;
    }
    if (!direct)
        pl_schedule_drop(schedule, *step);
    ++*step;
}

/* Takes the data of a node's ranks from the leader's message. The end of one that is too long is cut off. */
static int gatherv_take_node(const struct gathered *gathered, struct pl_schedule *schedule, int node, int *step)
{
    const struct pl_coll *coll = gathered->coll;
    int first = pl_hierarchy_first(gathered->hierarchy, node), ranks = pl_hierarchy_ranks(gathered->hierarchy, node);
    int rc = MPI_SUCCESS;
    size_t at = (size_t)ranks * sizeof(uint32_t), end = gatherv_most(coll, first, ranks);
    for (int i = 0; i < ranks; i++) {
        struct pl_block block = pl_recv_block(coll, first + i);
        uint32_t amount;
        memcpy(&amount, gathered->messages[node] + (size_t)i * sizeof amount, sizeof amount);
        size_t bytes = pl_hierarchy_short(amount), expected = pl_block_size(block);
        gatherv_take_direct(gathered, schedule, first + i, amount == PL_HIERARCHY_DIRECT, step);
        if (bytes > expected && rc == MPI_SUCCESS) {
            schedule->wrong = bytes;
            rc = pl_coll_fail_amount(first + i, bytes, expected);
        }
        size_t some = pl_least(pl_least(bytes, expected), end - at);
        if (some > 0)
            pl_type_copy(gathered->messages[node] + at, (MPI_Count)some, PL_TYPE_BYTE, block.buf, block.count,
                         block.type);
        at += pl_least(bytes, end - at);
    }
    return rc;
}

static int gatherv_take(struct pl_schedule *schedule, void *context)
{
    struct gathered *gathered = context;
    int mark = pl_schedule_mark(schedule), step = gathered->direct, rc = MPI_SUCCESS;
    for (int node = 0; node < gathered->hierarchy->run_count; node++)
        if (node != gathered->hierarchy->node) {
            int error = gatherv_take_node(gathered, schedule, node, &step);
            rc = rc ? rc : error;
        }
    gathered->appended = true;
    schedule->part = false;
    int broken = pl_schedule_grown(schedule, mark);
    return broken ? broken : rc;
}

/* What the leaders send, and then long data, which arrives meanwhile. */
static struct gathered *gatherv_append_receives(struct pl_schedule *schedule, const struct pl_coll *coll,
                                                const struct pl_hierarchy *hierarchy)
{
    size_t nodes = (size_t)hierarchy->run_count;
    struct gathered *gathered = pl_schedule_temp(schedule, sizeof *gathered + nodes * sizeof *gathered->messages);
    if (!gathered || !coll)
        return NULL;
    *gathered = (struct gathered){ .coll = coll, .hierarchy = hierarchy };
    pl_schedule_hold(schedule, coll->recvtype);
    for (int node = 0; node < hierarchy->run_count; node++) {
        int first = pl_hierarchy_first(hierarchy, node);
        size_t most = gatherv_most(coll, first, pl_hierarchy_ranks(hierarchy, node));
        if (node == hierarchy->node)
            continue;
        char *message = pl_schedule_temp(schedule, most);
        gathered->messages[node] = message;
        pl_schedule_recv(schedule, pl_block_bytes(message, most), first);
    }
    gathered->direct = pl_schedule_mark(schedule);
    for (int rank = 0; rank < coll->comm->size; rank++)
        if (pl_hierarchy_node_of(hierarchy, rank) != hierarchy->node &&
            pl_hierarchy_amount(pl_recv_block(coll, rank)) == PL_HIERARCHY_DIRECT)
            pl_schedule_recv(schedule, pl_recv_block(coll, rank), rank);
    return gathered;
}

static void gatherv_receive(struct pl_hierarchy_call *call, int tag)
{
    const struct pl_coll *coll = call->coll;
    struct pl_schedule own, *schedule = pl_hierarchy_begin(call, &own, tag);
    schedule->part = true;
    struct gathered *gathered =
        gatherv_append_receives(schedule, call->schedule ? pl_hierarchy_keep(schedule, coll) : coll, call->hierarchy);
    if (gathered && call->schedule)
        gatherv_append_here(call);
    if (gathered) {
        pl_schedule_wait_until(schedule, gathered->direct);
        pl_schedule_verify(schedule, gatherv_take, gathered);
    }
    if (!call->schedule)
        pl_hierarchy_run(call, schedule);
}

void pl_hierarchy_gatherv(struct pl_hierarchy_call *call)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int tag = pl_hierarchy_tag(call);
    bool here = hierarchy->node == pl_hierarchy_node_of(hierarchy, coll->root);
    if (here && !call->schedule)
        gather_at_root(call);
    if (coll->comm->rank == coll->root)
        gatherv_receive(call, tag);
    else if (!here && !call->schedule)
        gatherv_at_leader(call, tag);
    else if (!here)
        gatherv_append_at_leader(call);
    else if (call->schedule)
        pl_schedule_send(call->schedule, pl_coll_sent(coll), coll->root);
}

/* --- allgatherv --------------------------------------------------------------------------------------------------- */

/* The blocks of all ranks as bytes, one after the other: where they belong, if the caller wants them so. */
struct packed {
    MPI_Count *counts; /* [ranks] */
    MPI_Aint *displs;  /* [ranks] */
    MPI_Count *each;   /* [nodes] */
    MPI_Aint *where;   /* [nodes] */
    size_t bytes;
    char *data;
    bool apart; /* `data` is memory of its own */
    struct pl_hierarchy_buffer buffer;
};

static void allgatherv_place(const struct pl_hierarchy_call *call, struct packed *packed)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    const struct pl_type *type = coll->recvtype;
    MPI_Aint at = 0;
    packed->apart = !type->dense;
    for (int node = 0; node < hierarchy->run_count; node++) {
        packed->where[node] = at;
        for (int i = pl_hierarchy_first(hierarchy, node); i <= pl_hierarchy_last(hierarchy, node); i++) {
            packed->displs[i] = at;
            packed->counts[i] = pl_count_at(coll->recvcounts, i) * type->size;
            packed->apart |= packed->counts[i] > 0 && pl_displ_at(coll->recvdispls, i) * type->extent != at;
            at += packed->counts[i];
        }
        packed->each[node] = at - packed->where[node];
    }
    packed->bytes = (size_t)at;
}

static bool allgatherv_make(struct pl_hierarchy_call *call, struct packed *packed)
{
    const struct pl_coll *coll = call->coll;
    size_t ranks = (size_t)coll->comm->size, nodes = (size_t)call->hierarchy->run_count;
    packed->counts = pl_malloc((ranks + nodes) * (sizeof(MPI_Count) + sizeof(MPI_Aint)));
    if (packed->counts) {
        packed->displs = (MPI_Aint *)(packed->counts + ranks);
        packed->each = (MPI_Count *)(packed->displs + ranks);
        packed->where = (MPI_Aint *)(packed->each + nodes);
        allgatherv_place(call, packed);
        packed->data = packed->apart ? pl_hierarchy_borrow(call, &packed->buffer, packed->bytes)
                                     : pl_address(coll->recvbuf, coll->recvtype->true_lb);
        if (packed->data || !packed->apart)
            return true;
        free(packed->counts);
        return false;
    }
    call->rc = pl_fail_memory("the blocks of all ranks");
    return false;
}

/* The blocks of the node's ranks, at the leader. */
static void allgatherv_collect(struct pl_hierarchy_call *call, const struct packed *packed)
{
    const struct pl_coll *coll = call->coll;
    const struct pl_hierarchy *hierarchy = call->hierarchy;
    int rank = coll->comm->rank, first = pl_hierarchy_first(hierarchy, hierarchy->node);
    bool stays = pl_coll_in_place(coll) && !packed->apart;
    struct pl_block own = pl_coll_in_place(coll) ? pl_recv_block(coll, rank) : pl_coll_sent(coll);
    if (!hierarchy->here && !stays)
        pl_hierarchy_copy(call, own, pl_block_bytes(packed->data + packed->displs[rank], (size_t)packed->counts[rank]));
    pl_hierarchy_step(call, hierarchy->here,
                      (struct pl_coll){ .kind = PL_COLL_GATHERV,
                                        .sendbuf = stays && hierarchy->leaders ? MPI_IN_PLACE : own.buf,
                                        .sendcount = own.count,
                                        .sendtype = own.type,
                                        .recvbuf = packed->data,
                                        .recvtype = PL_TYPE_BYTE,
                                        .recvcounts.wide = packed->counts + first,
                                        .recvdispls.wide = packed->displs + first });
}

static void allgatherv_unpack(struct pl_hierarchy_call *call, const struct packed *packed)
{
    const struct pl_coll *coll = call->coll;
    for (int i = 0; packed->apart && i < coll->comm->size; i++) {
        struct pl_block block = pl_recv_block(coll, i);
        if (i != coll->comm->rank || !pl_coll_in_place(coll))
            pl_hierarchy_copy(call, pl_block_bytes(packed->data + packed->displs[i], (size_t)packed->counts[i]), block);
    }
}

void pl_hierarchy_allgatherv(struct pl_hierarchy_call *call)
{
    struct packed packed;
    if (!allgatherv_make(call, &packed))
        return;
    allgatherv_collect(call, &packed);
    pl_hierarchy_step(call, call->hierarchy->leaders,
                      (struct pl_coll){ .kind = PL_COLL_ALLGATHERV,
                                        .sendbuf = MPI_IN_PLACE,
                                        .recvbuf = packed.data,
                                        .recvtype = PL_TYPE_BYTE,
                                        .recvcounts.wide = packed.each,
                                        .recvdispls.wide = packed.where });
    pl_hierarchy_distribute(call, pl_block_bytes(packed.data, packed.bytes), 0);
    allgatherv_unpack(call, &packed);
    if (packed.apart)
        pl_hierarchy_return(&packed.buffer);
    free(packed.counts);
}
