/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of a partitioned operation, and which partition they make complete. A piece that comes is found by its
 * tag, without a search in the queue: there may be thousands, in any order.
 */
#include "core/engine/partitioned_pieces.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/datatype.h"
#include "core/engine/engine.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/peer_failure.h"

/* --- which piece is in which partition ---------------------------------------------------------------------------- */

/* The parts [*first .. *last] of one division of the data that part `i` of another overlaps; there is at least one of
 * each. Partitions of no data are divided alike. */
static void pieces_overlapped(int i, int parts, int others, int *first, int *last)
{
    *first = (int)((uint64_t)i * (uint64_t)others / (uint64_t)parts);
    *last = (int)((((uint64_t)i + 1) * (uint64_t)others - 1) / (uint64_t)parts);
}

/* A receive begins: nothing is there. */
void pl_channel_expect(struct pl_channel *channel)
{
    for (int i = 0; i < channel->partitions; i++) {
        int first = 0, last = channel->known ? -1 : 0;
        if (channel->known && channel->terms.pieces > 0)
            pieces_overlapped(i, channel->partitions, channel->terms.pieces, &first, &last);
        atomic_store_explicit(&channel->missing[i], last - first + 1, memory_order_relaxed);
    }
}

static void mark_arrived(struct pl_channel *channel, int piece)
{
    int first, last;
    if (channel->partitions == 0)
        return;
    pieces_overlapped(piece, channel->terms.pieces, channel->partitions, &first, &last);
    for (int i = first; i <= last; i++)
        atomic_fetch_sub_explicit(&channel->missing[i], 1, memory_order_release);
}

/* --- pieces, with the engine's lock held -------------------------------------------------------------------------- */

void pl_channel_complete(struct pl_channel *channel)
{
    channel->started = false;
    pl_list_remove(&channel->link);
    pl_request_complete(channel->request, channel->refused ? channel->refused : channel->error);
}

static void piece_completed(struct pl_request *piece)
{
    struct pl_channel *channel = piece->on.owner;
    struct pl_request *request = channel->request;
    int number = (int)(piece - channel->pieces);
    if (piece->outcome.error && !channel->error)
        channel->error = piece->outcome.error;
    if (!channel->send) {
        request->outcome.cancelled |= piece->outcome.cancelled;
        request->outcome.bytes += piece->outcome.cancelled ? 0 : piece->outcome.bytes;
        if (channel->staging && !channel->refused) {
            struct pl_cursor cursor;
            pl_cursor_init(&cursor, request->args.buf, (MPI_Count)channel->partitions * request->args.count,
                           request->args.datatype);
            pl_cursor_seek(&cursor, (size_t)number * channel->terms.piece_bytes);
            pl_cursor_unpack(&cursor, channel->staging + (size_t)number * channel->terms.piece_bytes,
                             (size_t)piece->outcome.bytes);
        }
        mark_arrived(channel, number);
    }
    if (--channel->pending == 0)
        pl_channel_complete(channel);
}

/* Requests for all pieces. */
int pl_channel_make_pieces(struct pl_channel *channel)
{
    struct pl_request *request = channel->request;
    size_t n = (size_t)channel->terms.pieces;
    channel->pieces = pl_calloc(n + 1, sizeof *channel->pieces);
    if (!channel->pieces)
        return pl_fail_memory("the messages of a partitioned operation");
    for (size_t i = 0; i < n; i++) {
        struct pl_request *piece = &channel->pieces[i];
        piece->kind = channel->send ? PL_REQ_SEND : PL_REQ_RECV;
        piece->mode = PL_SEND_STANDARD;
        piece->is.caller_owned = true;
        piece->context = PL_MSG_PARTITIONED;
        piece->engine = request->engine;
        piece->comm = request->comm;
        piece->args.datatype = request->args.datatype;
        piece->args.peer_rank = request->args.peer_rank;
        piece->args.tag =
            INT32_MIN + (int)(((uint64_t)channel->terms.first_tag + i) % PL_CHANNEL_TAGS); /* far from MPI_ANY_TAG */
        piece->on.completed = piece_completed;
        piece->on.owner = channel;
        pl_list_init(&piece->link);
    }
    return MPI_SUCCESS;
}

void pl_channel_send(struct pl_channel *channel, int number)
{
    struct pl_request *request = channel->request, *piece = &channel->pieces[number];
    piece->outcome = pl_channel_nobody;
    if (request->args.peer_rank == MPI_PROC_NULL) {
        piece_completed(piece);
        return;
    }
    piece->args.buf = pl_address(request->args.buf, number * request->args.count * request->args.datatype->extent);
    piece->args.count = request->args.count;
    pl_send_locked(piece);
}

/* Where a piece goes: into whole elements of the buffer, into the staging memory, or nowhere. */
static void pieces_aim(const struct pl_channel *channel, struct pl_request *piece, int number)
{
    const struct pl_request *request = channel->request;
    const struct pl_type *type = request->args.datatype;
    uint64_t bytes = channel->terms.piece_bytes, offset = (uint64_t)number * bytes;
    if (channel->refused || bytes == 0)
        pl_cursor_init(&piece->in.data, request->args.buf, 0, PL_TYPE_BYTE);
    else if (channel->staging)
        pl_cursor_init(&piece->in.data, channel->staging + offset, (MPI_Count)bytes, PL_TYPE_BYTE);
    else
        pl_cursor_init(&piece->in.data, pl_address(request->args.buf, (MPI_Count)offset / type->size * type->extent),
                       (MPI_Count)bytes / type->size, type);
}

/* The number of the piece that a message is, -1: it is none of this channel's. */
static int pieces_piece_of(const struct pl_channel *channel, const struct pl_header *header)
{
    uint32_t number = ((uint32_t)header->tag - (uint32_t)channel->terms.first_tag) % PL_CHANNEL_TAGS;
    bool own = header->source == channel->request->args.peer_rank && number < (uint32_t)channel->terms.pieces;
    return own && channel->pieces[number].args.tag == header->tag ? (int)number : -1;
}

/* A piece that has not come. In a broken communicator it never will. */
static void pieces_await(struct pl_request *piece)
{
    struct pl_comm *comm = piece->comm;
    if (atomic_load(&comm->health.failed)) {
        pl_request_complete(piece, pl_failure_class(comm));
        return;
    }
    piece->state = PL_STATE_POSTED;
    pl_list_append(&comm->match.queues[PL_MSG_PARTITIONED].posted, &piece->link);
}

/* `active`: it has not come yet. */
void pl_channel_receive(struct pl_channel *channel)
{
    struct pl_queues *queues = &channel->request->comm->match.queues[PL_MSG_PARTITIONED];
    channel->pending = channel->terms.pieces;
    if (channel->pending == 0) {
        pl_channel_complete(channel);
        return;
    }
    pl_list_append(&channel->request->comm->partitioned.channels, &channel->link);
    for (int i = 0; i < channel->terms.pieces; i++) {
        channel->pieces[i].outcome = pl_channel_nobody;
        channel->pieces[i].is.active = true;
        pieces_aim(channel, &channel->pieces[i], i);
    }
    PL_LIST_EACH(unexpected, &queues->unexpected, struct pl_unexpected, link) {
        int number = unexpected->header.tag < 0 ? pieces_piece_of(channel, &unexpected->header) : -1;
        if (number < 0 || !channel->pieces[number].is.active)
            continue;
        channel->pieces[number].is.active = false;
        pl_list_remove(&unexpected->link);
        pl_match_deliver(&channel->pieces[number], unexpected);
    }
    for (int i = 0; i < channel->terms.pieces; i++)
        if (channel->pieces[i].is.active)
            pieces_await(&channel->pieces[i]);
}

struct pl_request *pl_partitioned_take(struct pl_comm *comm, const struct pl_header *header)
{
    PL_LIST_EACH(channel, &comm->partitioned.channels, struct pl_channel, link) {
        int number = pieces_piece_of(channel, header);
        if (number >= 0 && channel->pieces[number].state == PL_STATE_POSTED) {
            pl_list_remove(&channel->pieces[number].link);
            return &channel->pieces[number];
        }
    }
    return NULL;
}
