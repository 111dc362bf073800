/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication: announcements, pieces, and which partition is where. Idea and locking: partitioned.h. */
#include "core/partitioned.h"

#include <stdlib.h>

#include "core/datatype.h"
#include "core/engine.h"
#include "core/error.h"
#include "core/instance.h"
#include "core/match.h"
#include "core/memory.h"
#include "core/p2p.h"

enum { TAGS = 1 << 30 }; /* of pieces, used in turn */

/* What a sender announces. */
struct terms {
    uint64_t piece_bytes;
    int32_t pieces;
    int32_t first_tag; /* of piece 0; the others follow */
};

/* The receive that waits for an announcement. It outlives its channel if that is freed before, so that the announcement
 * meets the call that it belongs to and not the next one. */
struct expected {
    struct terms terms;
    struct channel *channel; /* NULL: it is gone */
};

/* Behind a request. `started` and everything after it: by the engine's lock. */
struct channel {
    struct pl_request *request; /* whose owner this is */
    bool send;
    int partitions;
    bool *ready;               /* [partitions] of a send: by the engine's lock too */
    _Atomic int *missing;      /* [partitions] of a receive: pieces that it waits for */
    struct expected *expected; /* receive: until the announcement is there */
    bool started;              /* an activation is not complete */
    bool known;                /* the terms are settled */
    struct terms terms;
    int refused; /* receive: the error class with which every activation ends; its pieces are thrown away */
    struct pl_request *pieces; /* [terms.pieces] */
    unsigned char *staging; /* data of all pieces, when they do not consist of whole elements of the receiver's type */
    int pending;            /* pieces of this activation that are not complete */
    int error;              /* the first among them */
};

static const struct pl_outcome outcome_of_nobody = { .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG };

static struct channel *channel_of(const struct pl_request *request)
{
    return request->owner;
}

bool pl_is_psend(const struct pl_request *request)
{
    return request->kind == PL_REQ_PARTITIONED && channel_of(request)->send;
}

bool pl_is_precv(const struct pl_request *request)
{
    return request->kind == PL_REQ_PARTITIONED && !channel_of(request)->send;
}

int pl_partitions(const struct pl_request *request)
{
    return channel_of(request)->partitions;
}

/* Bytes in one partition of this side, and in all. */
static uint64_t partition_bytes(const struct channel *channel)
{
    return (uint64_t)channel->request->count * (uint64_t)channel->request->datatype->size;
}

static uint64_t all_bytes(const struct channel *channel)
{
    return (uint64_t)channel->partitions * partition_bytes(channel);
}

/* --- which piece is in which partition ---------------------------------------------------------------------------- */

/* The parts [*first .. *last] of one division of the data that part `i` of another overlaps; there is at least one of
 * each. Partitions of no data are divided alike. */
static void overlapped(int i, int parts, int others, int *first, int *last)
{
    *first = (int)((uint64_t)i * (uint64_t)others / (uint64_t)parts);
    *last = (int)((((uint64_t)i + 1) * (uint64_t)others - 1) / (uint64_t)parts);
}

/* A receive begins: nothing is there. */
static void expect_all(struct channel *channel)
{
    for (int i = 0; i < channel->partitions; i++) {
        int first = 0, last = channel->known ? -1 : 0;
        if (channel->known && channel->terms.pieces > 0)
            overlapped(i, channel->partitions, channel->terms.pieces, &first, &last);
        atomic_store_explicit(&channel->missing[i], last - first + 1, memory_order_relaxed);
    }
}

static void mark_arrived(struct channel *channel, int piece)
{
    int first, last;
    if (channel->partitions == 0)
        return;
    overlapped(piece, channel->terms.pieces, channel->partitions, &first, &last);
    for (int i = first; i <= last; i++)
        atomic_fetch_sub_explicit(&channel->missing[i], 1, memory_order_release);
}

/* --- pieces, with the engine's lock held -------------------------------------------------------------------------- */

static void complete(struct channel *channel)
{
    channel->started = false;
    pl_request_complete(channel->request, channel->refused ? channel->refused : channel->error);
}

static void piece_completed(struct pl_request *piece)
{
    struct channel *channel = piece->owner;
    struct pl_request *request = channel->request;
    int number = (int)(piece - channel->pieces);
    if (piece->outcome.error && !channel->error)
        channel->error = piece->outcome.error;
    if (!channel->send) {
        request->outcome.cancelled |= piece->outcome.cancelled;
        request->outcome.bytes += piece->outcome.cancelled ? 0 : piece->outcome.bytes;
        if (channel->staging && !channel->refused) {
            struct pl_cursor cursor;
            pl_cursor_init(&cursor, request->buf, (MPI_Count)channel->partitions * request->count, request->datatype);
            pl_cursor_seek(&cursor, (size_t)number * channel->terms.piece_bytes);
            pl_cursor_unpack(&cursor, channel->staging + (size_t)number * channel->terms.piece_bytes,
                             (size_t)piece->outcome.bytes);
        }
        mark_arrived(channel, number);
    }
    if (--channel->pending == 0)
        complete(channel);
}

/* Requests for all pieces. */
static int make_pieces(struct channel *channel)
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
        piece->on_stack = true;
        piece->context = PL_MSG_PARTITIONED;
        piece->engine = request->engine;
        piece->comm = request->comm;
        piece->datatype = request->datatype;
        piece->peer_rank = request->peer_rank;
        piece->tag = INT32_MIN + (int)(((uint64_t)channel->terms.first_tag + i) % TAGS); /* far from MPI_ANY_TAG */
        piece->completed = piece_completed;
        piece->owner = channel;
        pl_list_init(&piece->link);
    }
    return MPI_SUCCESS;
}

static void send_piece(struct channel *channel, int number)
{
    struct pl_request *request = channel->request, *piece = &channel->pieces[number];
    piece->outcome = outcome_of_nobody;
    if (request->peer_rank == MPI_PROC_NULL) {
        piece_completed(piece);
        return;
    }
    piece->buf = pl_address(request->buf, number * request->count * request->datatype->extent);
    piece->count = request->count;
    pl_send_locked(piece);
}

/* Where a piece goes: into whole elements of the buffer, into the staging memory, or nowhere. */
static void aim(const struct channel *channel, struct pl_request *piece, int number)
{
    const struct pl_request *request = channel->request;
    const struct pl_type *type = request->datatype;
    uint64_t bytes = channel->terms.piece_bytes, offset = (uint64_t)number * bytes;
    if (channel->refused || bytes == 0)
        pl_cursor_init(&piece->in.data, request->buf, 0, PL_TYPE_BYTE);
    else if (channel->staging)
        pl_cursor_init(&piece->in.data, channel->staging + offset, (MPI_Count)bytes, PL_TYPE_BYTE);
    else
        pl_cursor_init(&piece->in.data, pl_address(request->buf, (MPI_Count)offset / type->size * type->extent),
                       (MPI_Count)bytes / type->size, type);
}

/* The pieces of an activation are expected; what has come before is taken at once. */
static void receive_pieces(struct channel *channel)
{
    channel->pending = channel->terms.pieces;
    if (channel->pending == 0) {
        complete(channel);
        return;
    }
    for (int i = 0; i < channel->terms.pieces; i++) {
        struct pl_request *piece = &channel->pieces[i];
        piece->outcome = outcome_of_nobody;
        aim(channel, piece, i);
        pl_match_post(piece);
    }
}

/* --- announcements ------------------------------------------------------------------------------------------------ */

static void free_owner(struct pl_request *request)
{
    free(request->owner);
}

static struct pl_request *describe(struct pl_comm *comm, enum pl_request_kind kind, void *data, int peer, int tag)
{
    struct pl_request *request = data ? pl_request_create(kind, comm, NULL, true) : NULL;
    if (!request) {
        free(data);
        return NULL;
    }
    request->context = PL_MSG_PARTITIONED;
    request->buf = data;
    request->count = sizeof(struct terms);
    request->datatype = (struct pl_type *)PL_TYPE_BYTE;
    request->peer_rank = peer;
    request->tag = tag;
    request->outcome = outcome_of_nobody;
    request->owner = data;
    request->destroyed = free_owner;
    return request;
}

/* Nobody waits for it: it is freed when it is complete. */
static int announce(const struct channel *channel)
{
    const struct pl_request *request = channel->request;
    struct terms *terms = pl_malloc(sizeof *terms);
    struct pl_request *message = describe(request->comm, PL_REQ_SEND, terms, request->peer_rank, request->tag);
    if (!message)
        return pl_fail_memory("the announcement of a partitioned send");
    *terms = channel->terms;
    pl_engine_enter(request->engine);
    message->detached = true;
    atomic_fetch_add_explicit(&request->comm->detached, 1, memory_order_relaxed);
    pl_send_locked(message);
    pl_engine_leave(request->engine);
    return MPI_SUCCESS;
}

/* Settles what a receive has to expect. What does not fit is refused: its pieces come, and are thrown away. */
static void settle(struct channel *channel, const struct terms *terms, const struct pl_outcome *outcome)
{
    uint64_t all, own = all_bytes(channel);
    const struct pl_type *type = channel->request->datatype;
    channel->known = true;
    if (outcome->error || outcome->cancelled || outcome->bytes != sizeof *terms || terms->pieces < 0 ||
        terms->first_tag < 0) {
        channel->refused = outcome->error ? outcome->error : outcome->cancelled ? MPI_SUCCESS : MPI_ERR_INTERN;
        channel->terms.pieces = 0;
    } else {
        channel->terms = *terms;
        if (__builtin_mul_overflow(terms->piece_bytes, (uint64_t)terms->pieces, &all) || all > own)
            channel->refused = MPI_ERR_TRUNCATE;
        else if (all < own)
            channel->refused = MPI_ERR_COUNT;
    }
    bool ragged = !channel->refused && own > 0 && channel->terms.pieces > 0 &&
                  channel->terms.piece_bytes % (uint64_t)type->size != 0;
    if (ragged)
        channel->staging = pl_malloc(own);
    if ((ragged && !channel->staging) || make_pieces(channel)) {
        channel->refused = MPI_ERR_NO_MEM;
        channel->terms.pieces = 0;
    }
}

/* Engine lock held. */
static void announced(struct pl_request *message)
{
    struct expected *expected = message->owner;
    struct channel *channel = expected->channel;
    if (channel) {
        channel->expected = NULL;
        settle(channel, &expected->terms, &message->outcome);
        channel->request->outcome.cancelled |= message->outcome.cancelled;
        if (channel->started) {
            expect_all(channel);
            receive_pieces(channel);
        }
    }
    pl_list_append(&message->engine->graveyard, &message->link); /* released without the lock */
}

static int expect(struct channel *channel)
{
    const struct pl_request *request = channel->request;
    struct expected *expected = pl_calloc(1, sizeof *expected);
    struct pl_request *message = describe(request->comm, PL_REQ_RECV, expected, request->peer_rank, request->tag);
    if (!message)
        return pl_fail_memory("the announcement of a partitioned send");
    expected->channel = channel;
    channel->expected = expected;
    message->completed = announced;
    pl_cursor_init(&message->in.data, &expected->terms, sizeof expected->terms, PL_TYPE_BYTE);
    pl_engine_enter(request->engine);
    pl_match_post(message);
    pl_engine_leave(request->engine);
    return MPI_SUCCESS;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

/* By now no piece is under way; but a thread may still be on its way out of the last one's completion. */
static void destroy_channel(struct pl_request *request)
{
    struct channel *channel = channel_of(request);
    pl_engine_enter(request->engine);
    if (channel->expected)
        channel->expected->channel = NULL;
    pl_engine_leave(request->engine);
    free(channel->ready);
    free(channel->missing);
    free(channel->pieces);
    free(channel->staging);
    free(channel);
}

static int start(struct pl_request *request)
{
    struct channel *channel = channel_of(request);
    if (request->comm->orphan)
        return pl_fail(MPI_ERR_REQUEST, "the communicator is gone: its session, or the World, is finalized");
    atomic_store_explicit(&request->done, 0, memory_order_relaxed);
    pl_engine_enter(request->engine);
    channel->started = true;
    request->outcome = outcome_of_nobody;
    channel->error = MPI_SUCCESS;
    channel->pending = channel->terms.pieces;
    if (channel->send) {
        for (int i = 0; i < channel->partitions; i++)
            channel->ready[i] = false;
        if (channel->pending == 0)
            complete(channel);
    } else {
        if (request->peer_rank != MPI_PROC_NULL) {
            request->outcome.source = request->peer_rank;
            request->outcome.tag = request->tag;
        }
        expect_all(channel);
        if (channel->known)
            receive_pieces(channel);
    }
    pl_engine_leave(request->engine);
    return MPI_SUCCESS;
}

/* A request and its channel, with flags or counters for the partitions. */
static int create(struct pl_comm *comm, bool send, const void *buf, int partitions, MPI_Count count,
                  struct pl_type *type, int peer, int tag, struct pl_request **request)
{
    size_t n = (size_t)partitions + 1;
    struct pl_request *made = pl_request_create(PL_REQ_PARTITIONED, comm, type, false);
    struct channel *channel = made ? pl_calloc(1, sizeof *channel) : NULL;
    if (!channel) {
        pl_object_release(made);
        return pl_fail_memory("a partitioned operation");
    }
    made->persistent = true;
    made->datatype = type;
    made->buf = buf;
    made->count = count;
    made->peer_rank = peer;
    made->tag = tag;
    made->coll.restart = start;
    made->owner = channel;
    made->destroyed = destroy_channel;
    channel->request = made;
    channel->send = send;
    channel->partitions = partitions;
    *request = made;
    if (send)
        channel->ready = pl_calloc(n, sizeof *channel->ready);
    else
        channel->missing = pl_calloc(n, sizeof *channel->missing);
    return channel->ready || channel->missing ? MPI_SUCCESS : pl_fail_memory("a partitioned operation");
}

static int end_create(int rc, struct pl_request *request)
{
    if (rc && request)
        pl_handle_drop(request);
    return rc;
}

int pl_psend_create(struct pl_comm *comm, const void *buf, int partitions, MPI_Count count, struct pl_type *type,
                    int peer, int tag, struct pl_request **request)
{
    *request = NULL;
    int rc = create(comm, true, buf, partitions, count, type, peer, tag, request);
    if (rc)
        return end_create(rc, *request);
    struct channel *channel = channel_of(*request);
    channel->known = true;
    channel->terms.pieces = partitions;
    channel->terms.piece_bytes = partition_bytes(channel);
    pl_engine_enter(&comm->instance->engine);
    channel->terms.first_tag = (int32_t)(comm->partitioned % TAGS);
    comm->partitioned += (uint32_t)partitions;
    pl_engine_leave(&comm->instance->engine);
    rc = make_pieces(channel);
    if (!rc && peer != MPI_PROC_NULL)
        rc = announce(channel);
    return end_create(rc, *request);
}

int pl_precv_create(struct pl_comm *comm, void *buf, int partitions, MPI_Count count, struct pl_type *type, int peer,
                    int tag, struct pl_request **request)
{
    *request = NULL;
    int rc = create(comm, false, buf, partitions, count, type, peer, tag, request);
    if (rc)
        return end_create(rc, *request);
    if (peer == MPI_PROC_NULL)
        channel_of(*request)->known = true;
    else
        rc = expect(channel_of(*request));
    return end_create(rc, *request);
}

/* --- in between --------------------------------------------------------------------------------------------------- */

int pl_pready(struct pl_request *request, int low, int high)
{
    struct channel *channel = channel_of(request);
    int rc = MPI_SUCCESS;
    if (request->comm->orphan)
        return pl_fail(MPI_ERR_REQUEST, "the communicator is gone: its session, or the World, is finalized");
    pl_engine_enter(request->engine);
    for (int i = low; i <= high; i++) {
        if (channel->ready[i])
            rc = pl_fail(MPI_ERR_ARG, "partition %d is ready already", i);
        if (rc)
            break;
        channel->ready[i] = true;
        send_piece(channel, i);
    }
    pl_engine_leave(request->engine);
    return rc;
}

bool pl_parrived(struct pl_request *request, int partition)
{
    const struct channel *channel = channel_of(request);
    if (atomic_load_explicit(&channel->missing[partition], memory_order_acquire) == 0)
        return true;
    pl_engine_enter(request->engine);
    pl_engine_progress(request->engine);
    pl_engine_leave(request->engine);
    return atomic_load_explicit(&channel->missing[partition], memory_order_acquire) == 0;
}

int pl_partitioned_report(const struct pl_request *request, int error)
{
    const struct channel *channel = channel_of(request);
    if (error != channel->refused || (error != MPI_ERR_TRUNCATE && error != MPI_ERR_COUNT))
        return error;
    return pl_fail(
        error, "rank %d sends %d partitions of %llu bytes with tag %d, which is not the same as %d of %llu bytes here",
        request->peer_rank, channel->terms.pieces, (unsigned long long)channel->terms.piece_bytes, request->tag,
        channel->partitions, (unsigned long long)partition_bytes(channel));
}
