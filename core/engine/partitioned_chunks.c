/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chunks of a partitioned operation, and the partitions that they complete. A chunk that arrives is found by its
 * tag without a search: there may be thousands, in any order.
 */
#include "core/engine/partitioned_chunks.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/datatype.h"
#include "core/engine/comm_failures.h"
#include "core/engine/engine.h"
#include "core/engine/match.h"
#include "core/engine/match_index.h"
#include "core/engine/p2p.h"

/* --- chunks and partitions ---------------------------------------------------------------------------- */

/* Chunks and partitions divide the same data in two ways; the chunks may end before the partitions. */
struct division {
    uint64_t each; /* bytes */
    int parts;
};

/* The range of parts of `other` that part `i` overlaps, at least one. What lies beyond the end of the one belongs to
 * the last part of the other. Empty data is divided in proportion. */
static void chunks_overlapped(int i, struct division own, struct division other, int *first, int *last)
{
    uint64_t begin = (uint64_t)i * (uint64_t)other.parts / (uint64_t)own.parts;
    uint64_t end = (((uint64_t)i + 1) * (uint64_t)other.parts - 1) / (uint64_t)own.parts;
    uint64_t limit = (uint64_t)other.parts - 1;
    if (own.each > 0 && other.each > 0) {
        begin = (uint64_t)i * own.each / other.each;
        end = i == own.parts - 1 ? limit : (((uint64_t)i + 1) * own.each - 1) / other.each;
    }
    *first = (int)(begin < limit ? begin : limit);
    *last = (int)(end < limit ? end : limit);
}

static struct division channel_chunks(const struct pl_channel *channel)
{
    return (struct division){ channel->terms.chunk_bytes, channel->terms.chunks };
}

static struct division channel_partitions(const struct pl_channel *channel)
{
    const struct pl_request *request = channel->request;
    return (struct division){ (uint64_t)request->args.count * (uint64_t)request->args.datatype->size,
                              channel->partitions };
}

/* A send that is refused has chunks of any size. */
static void channel_overlapped(const struct pl_channel *channel, int i, bool chunk, int *first, int *last)
{
    struct division chunks = channel_chunks(channel), partitions = channel_partitions(channel);
    if (channel->refused)
        chunks.each = 0;
    if (chunk)
        chunks_overlapped(i, chunks, partitions, first, last);
    else
        chunks_overlapped(i, partitions, chunks, first, last);
}

void pl_channel_expect(struct pl_channel *channel)
{
    for (int i = 0; i < channel->partitions; i++) {
        int first = 0, last = channel->known ? -1 : 0;
        if (channel->known && channel->terms.chunks > 0)
            channel_overlapped(channel, i, false, &first, &last);
        atomic_store_explicit(&channel->missing[i], last - first + 1, memory_order_relaxed);
    }
}

static void mark_arrived(struct pl_channel *channel, int chunk)
{
    int first, last;
    if (channel->partitions == 0)
        return;
    channel_overlapped(channel, chunk, true, &first, &last);
    for (int i = first; i <= last; i++)
        atomic_fetch_sub_explicit(&channel->missing[i], 1, memory_order_release);
}

/* --- chunks, with the engine's lock held -------------------------------------------------------------------------- */

void pl_channel_complete(struct pl_channel *channel)
{
    channel->started = false;
    if (!channel->send)
        pl_list_remove(&channel->link);
    pl_request_complete(channel->request, channel->refused ? channel->refused : channel->error);
}

static void chunk_completed(struct pl_request *chunk)
{
    struct pl_channel *channel = chunk->on.owner;
    struct pl_request *request = channel->request;
    int number = (int)(chunk - channel->chunks);
    if (chunk->outcome.error && !channel->error)
        channel->error = chunk->outcome.error;
    if (!channel->send) {
        request->outcome.cancelled |= chunk->outcome.cancelled;
        request->outcome.bytes += chunk->outcome.cancelled ? 0 : chunk->outcome.bytes;
        if (channel->staging && !channel->refused) {
            struct pl_cursor cursor;
            pl_cursor_init(&cursor, request->args.buf, (MPI_Count)channel->partitions * request->args.count,
                           request->args.datatype);
            pl_cursor_seek(&cursor, (size_t)number * channel->terms.chunk_bytes);
            pl_cursor_unpack(&cursor, channel->staging + (size_t)number * channel->terms.chunk_bytes,
                             (size_t)chunk->outcome.bytes);
        }
        mark_arrived(channel, number);
    }
    if (--channel->pending == 0)
        pl_channel_complete(channel);
}

int pl_channel_make_chunks(struct pl_channel *channel)
{
    struct pl_request *request = channel->request;
    size_t n = (size_t)channel->terms.chunks;
    channel->chunks = pl_calloc(n + 1, sizeof *channel->chunks);
    if (!channel->chunks)
        return pl_fail_memory("the messages of a partitioned operation");
    for (size_t i = 0; i < n; i++) {
        struct pl_request *chunk = &channel->chunks[i];
        chunk->kind = channel->send ? PL_REQ_SEND : PL_REQ_RECV;
        chunk->mode = PL_SEND_STANDARD;
        chunk->is.caller_owned = true;
        chunk->context = PL_MSG_PARTITIONED;
        chunk->engine = request->engine;
        chunk->comm = request->comm;
        chunk->args.datatype = request->args.datatype;
        chunk->args.peer_rank = request->args.peer_rank;
        chunk->args.tag =
            INT32_MIN + (int)(((uint64_t)channel->terms.first_tag + i) % PL_CHANNEL_TAGS); /* far from MPI_ANY_TAG */
        chunk->on.completed = chunk_completed;
        chunk->on.owner = channel;
        pl_list_init(&chunk->link);
    }
    return MPI_SUCCESS;
}

void pl_channel_send(struct pl_channel *channel, int number)
{
    struct pl_request *request = channel->request, *chunk = &channel->chunks[number];
    chunk->outcome = pl_channel_nobody;
    if (request->args.peer_rank == MPI_PROC_NULL) {
        chunk_completed(chunk);
        return;
    }
    chunk->args.buf = pl_address(request->args.buf, number * request->args.count * request->args.datatype->extent);
    chunk->args.count = request->args.count;
    pl_send_locked(chunk);
}

/* The destination of a chunk: whole elements of the buffer, the staging memory, or none. */
static void chunks_aim(const struct pl_channel *channel, struct pl_request *chunk, int number)
{
    const struct pl_request *request = channel->request;
    const struct pl_type *type = request->args.datatype;
    uint64_t bytes = channel->terms.chunk_bytes, offset = (uint64_t)number * bytes;
    if (channel->refused || bytes == 0)
        pl_cursor_init(&chunk->in.data, request->args.buf, 0, PL_TYPE_BYTE);
    else if (channel->staging)
        pl_cursor_init(&chunk->in.data, channel->staging + offset, (MPI_Count)bytes, PL_TYPE_BYTE);
    else
        pl_cursor_init(&chunk->in.data, pl_address(request->args.buf, (MPI_Count)offset / type->size * type->extent),
                       (MPI_Count)bytes / type->size, type);
}

/* The number of the chunk that a message is; -1: it is not of this channel. */
static int chunks_number_of(const struct pl_channel *channel, const struct pl_header *header)
{
    uint32_t number = ((uint32_t)header->tag - (uint32_t)channel->terms.first_tag) % PL_CHANNEL_TAGS;
    bool own = header->source == channel->request->args.peer_rank && number < (uint32_t)channel->terms.chunks;
    return own && channel->chunks[number].args.tag == header->tag ? (int)number : -1;
}

/* Expects a chunk that has not arrived. In a broken communicator it never will. */
static void chunks_await(struct pl_request *chunk)
{
    struct pl_comm *comm = chunk->comm;
    int error;
    if (atomic_load(&comm->health.failed) && pl_failures_end_receive(chunk, &error)) {
        pl_request_complete(chunk, error);
        return;
    }
    pl_match_append(chunk);
}

static void chunks_take(struct pl_request *chunk, struct pl_unexpected *unexpected)
{
    chunk->is.active = false;
    pl_match_take(chunk->comm, unexpected);
    pl_match_deliver(chunk, unexpected);
}

static bool chunks_are_many(const struct pl_list *unexpected)
{
    int steps = 0;
    for (const struct pl_list *node = unexpected->next; node != unexpected; node = node->next)
        if (steps++ == PL_SEARCH_LONG)
            return true;
    return false;
}

/* Takes the chunks that have arrived: either the queue or the channel is searched, whichever may be short. */
static void chunks_take_early(struct pl_channel *channel)
{
    struct pl_comm *comm = channel->request->comm;
    struct pl_list *early = &comm->match.queues[PL_MSG_PARTITIONED].unexpected;
    bool many = chunks_are_many(early);
    for (int i = 0; many && i < channel->terms.chunks; i++) {
        struct pl_request *chunk = &channel->chunks[i];
        struct pl_unexpected *unexpected =
            pl_match_find(comm, PL_MSG_PARTITIONED, chunk->args.peer_rank, chunk->args.tag);
        if (unexpected)
            chunks_take(chunk, unexpected);
    }
    if (many)
        return;
    PL_LIST_EACH(unexpected, early, struct pl_unexpected, link) {
        int number = unexpected->header.tag < 0 ? chunks_number_of(channel, &unexpected->header) : -1;
        if (number >= 0 && channel->chunks[number].is.active)
            chunks_take(&channel->chunks[number], unexpected);
    }
}

/* `active`: it has not arrived yet. */
void pl_channel_receive(struct pl_channel *channel)
{
    channel->pending = channel->terms.chunks;
    if (channel->pending == 0) {
        pl_channel_complete(channel);
        return;
    }
    pl_list_append(&channel->request->comm->partitioned.channels, &channel->link);
    for (int i = 0; i < channel->terms.chunks; i++) {
        channel->chunks[i].outcome = pl_channel_nobody;
        channel->chunks[i].is.active = true;
        chunks_aim(channel, &channel->chunks[i], i);
    }
    chunks_take_early(channel);
    for (int i = 0; i < channel->terms.chunks; i++)
        if (channel->chunks[i].is.active)
            chunks_await(&channel->chunks[i]);
}

struct pl_request *pl_partitioned_find(struct pl_comm *comm, const struct pl_header *header)
{
    int steps = 0;
    PL_LIST_EACH(channel, &comm->partitioned.channels, struct pl_channel, link) {
        int number = chunks_number_of(channel, header);
        if (number >= 0 && channel->chunks[number].state == PL_STATE_POSTED)
            return &channel->chunks[number];
        if (steps++ == PL_SEARCH_LONG)
            return pl_match_find_posted(comm, header);
    }
    return NULL;
}
