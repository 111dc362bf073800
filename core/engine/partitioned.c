/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication: announcements, channels, readiness and arrival. See partitioned.h. */
#include "core/engine/partitioned_chunks.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/datatype/datatype.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/wait.h"

bool pl_is_psend(const struct pl_request *request)
{
    return request->kind == PL_REQ_PARTITIONED && pl_channel_of(request)->send;
}

bool pl_is_precv(const struct pl_request *request)
{
    return request->kind == PL_REQ_PARTITIONED && !pl_channel_of(request)->send;
}

int pl_partitions(const struct pl_request *request)
{
    return pl_channel_of(request)->partitions;
}

/* Bytes of one partition on this side, and of all. */
static uint64_t partition_bytes(const struct pl_channel *channel)
{
    return (uint64_t)channel->request->args.count * (uint64_t)channel->request->args.datatype->size;
}

static uint64_t partitioned_all_bytes(const struct pl_channel *channel)
{
    return (uint64_t)channel->partitions * partition_bytes(channel);
}

/* --- announcements ------------------------------------------------------------------------------------------------ */

static void free_owner(struct pl_request *request)
{
    free(request->on.owner);
}

static struct pl_request *partitioned_describe(struct pl_comm *comm, enum pl_request_kind kind, void *data, int peer,
                                               int tag)
{
    struct pl_request *request;
    if (!data ||
        pl_p2p_prepare(kind, true, comm, data, sizeof(struct pl_terms), PL_TYPE_BYTE, peer, tag, &request) != 0) {
        free(data);
        return NULL;
    }
    request->context = PL_MSG_PARTITIONED;
    request->outcome = pl_channel_nobody;
    request->on.owner = data;
    request->on.destroyed = free_owner;
    return request;
}

/* Sends the announcement as a detached request: completion frees it. */
static int partitioned_announce(const struct pl_channel *channel)
{
    const struct pl_request *request = channel->request;
    struct pl_terms *terms = pl_malloc(sizeof *terms);
    struct pl_request *message =
        partitioned_describe(request->comm, PL_REQ_SEND, terms, request->args.peer_rank, request->args.tag);
    if (!message)
        return pl_fail_memory("the announcement of a partitioned send");
    *terms = channel->terms;
    pl_engine_enter(request->engine);
    message->is.detached = true;
    atomic_fetch_add_explicit(&request->comm->requests.detached, 1, memory_order_relaxed);
    pl_send_locked(message);
    pl_engine_leave(request->engine);
    return MPI_SUCCESS;
}

/* A chunk takes memory, so a few bytes of an announcement must not ask for very many of them: at most one for each byte
 * of the receive's buffer, or this many. */
enum { CHUNKS_WITHOUT_DATA = 1 << 16 };

/*
 * Takes the terms of the send. MPI error class: it is refused, and its chunks, if it has any, are received and dropped.
 * A send that is longer is refused. One that is shorter is received, and the status tells its length. The standard
 * matches partitioned operations like others (MPI-5.0 section 4.2.1), and for those a receive buffer may be longer than
 * the message (section 3.2.4).
 */
static int partitioned_take_terms(struct pl_terms *taken, const struct pl_terms *terms,
                                  const struct pl_outcome *outcome, uint64_t own)
{
    uint64_t all;
    if (outcome->error || outcome->cancelled)
        return outcome->error;
    if (outcome->bytes != sizeof *terms || terms->chunks < 0 || terms->first_tag < 0)
        return MPI_ERR_INTERN;
    bool longer = __builtin_mul_overflow(terms->chunk_bytes, (uint64_t)terms->chunks, &all) || all > own;
    bool too_many = terms->chunks > CHUNKS_WITHOUT_DATA && (uint64_t)terms->chunks > own;
    *taken = *terms;
    if (too_many)
        taken->chunks = 0;
    return longer ? MPI_ERR_TRUNCATE : too_many ? MPI_ERR_INTERN : MPI_SUCCESS;
}

/* Prepares a receive for the chunks of the send. Elements that are cut between two chunks are collected first. */
static void partitioned_settle(struct pl_channel *channel, const struct pl_terms *terms,
                               const struct pl_outcome *outcome)
{
    uint64_t own = partitioned_all_bytes(channel);
    channel->known = true;
    channel->terms.chunks = 0;
    channel->refused = partitioned_take_terms(&channel->terms, terms, outcome, own);
    bool cut = !channel->refused && own > 0 && channel->terms.chunks > 0 &&
               channel->terms.chunk_bytes % (uint64_t)channel->request->args.datatype->size != 0;
    if (cut)
        channel->staging = pl_malloc(own);
    if ((cut && !channel->staging) || pl_channel_make_chunks(channel)) {
        channel->refused = MPI_ERR_NO_MEM;
        channel->terms.chunks = 0;
    }
}

/* Engine lock held. */
static void partitioned_announced(struct pl_request *message)
{
    struct pl_expected *expected = message->on.owner;
    struct pl_channel *channel = expected->channel;
    if (channel) {
        channel->expected = NULL;
        partitioned_settle(channel, &expected->terms, &message->outcome);
        channel->request->outcome.cancelled |= message->outcome.cancelled;
        if (channel->started) {
            pl_channel_expect(channel);
            pl_channel_receive(channel);
        }
    }
    pl_list_append(&message->engine->deferred.frees, &message->link); /* released once the lock is dropped */
}

static int partitioned_expect(struct pl_channel *channel)
{
    const struct pl_request *request = channel->request;
    struct pl_expected *expected = pl_calloc(1, sizeof *expected);
    struct pl_request *message =
        partitioned_describe(request->comm, PL_REQ_RECV, expected, request->args.peer_rank, request->args.tag);
    if (!message)
        return pl_fail_memory("the announcement of a partitioned send");
    expected->channel = channel;
    channel->expected = expected;
    message->on.completed = partitioned_announced;
    pl_cursor_init(&message->in.data, &expected->terms, sizeof expected->terms, PL_TYPE_BYTE);
    pl_engine_enter(request->engine);
    pl_match_post(message);
    pl_engine_leave(request->engine);
    return MPI_SUCCESS;
}

/* --- channels ---------------------------------------------------------------------------------------------------- */

/* No chunk is under way; but a thread may still be inside the last one's completion, with the engine's lock. */
static void destroy_channel(struct pl_request *request)
{
    struct pl_channel *channel = pl_channel_of(request);
    pl_engine_enter(request->engine);
    if (channel->expected)
        channel->expected->channel = NULL;
    pl_list_remove(&channel->link);
    pl_engine_leave(request->engine);
    free(channel->ready);
    free(channel->missing);
    free(channel->chunks);
    free(channel->staging);
    free(channel);
}

static int partitioned_start(struct pl_request *request)
{
    struct pl_channel *channel = pl_channel_of(request);
    if (request->comm->health.orphan)
        return pl_comm_fail_orphan();
    atomic_store_explicit(&request->done, 0, memory_order_relaxed);
    pl_engine_enter(request->engine);
    channel->started = true;
    request->outcome = pl_channel_nobody;
    channel->error = MPI_SUCCESS;
    channel->pending = channel->terms.chunks;
    if (channel->send) {
        for (int i = 0; i < channel->partitions; i++)
            channel->ready[i] = false;
        if (channel->pending == 0)
            pl_channel_complete(channel);
    } else {
        if (request->args.peer_rank != MPI_PROC_NULL) {
            request->outcome.source = request->args.peer_rank;
            request->outcome.tag = request->args.tag;
        }
        pl_channel_expect(channel);
        if (channel->known)
            pl_channel_receive(channel);
    }
    pl_engine_leave(request->engine);
    return MPI_SUCCESS;
}

/* A request and its channel, with flags or counters for the partitions. */
static int partitioned_create(struct pl_comm *comm, bool send, const void *buf, int partitions, MPI_Count count,
                              struct pl_type *type, int peer, int tag, struct pl_request **request)
{
    size_t n = (size_t)partitions + 1;
    struct pl_request *made = pl_request_create(PL_REQ_PARTITIONED, comm, type, false);
    struct pl_channel *channel = made ? pl_calloc(1, sizeof *channel) : NULL;
    if (!channel) {
        pl_object_release(made);
        return pl_fail_memory("a partitioned operation");
    }
    made->is.persistent = true;
    pl_request_ask(made, buf, count, type, peer, tag);
    made->coll.restart = partitioned_start;
    made->on.owner = channel;
    made->on.destroyed = destroy_channel;
    channel->request = made;
    channel->send = send;
    channel->partitions = partitions;
    pl_list_init(&channel->link);
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

/* How far behind a tag the last one is of a send that uses some of `count` tags from there on; 0: none does. */
static uint64_t partitioned_used(const struct pl_comm *comm, uint64_t tag, uint64_t count)
{
    PL_LIST_EACH(other, &comm->partitioned.sends, struct pl_channel, link) {
        uint64_t chunks = (uint64_t)other->terms.chunks, first = (uint64_t)other->terms.first_tag;
        uint64_t from = (first - tag) % PL_CHANNEL_TAGS, into = (tag - first) % PL_CHANNEL_TAGS;
        if (chunks > 0 && (from < count || into < chunks))
            return from < count ? from + chunks : chunks - into;
    }
    return 0;
}

/* Tags for the chunks of a send. They are given in turn, but not again while a send has them: it may live long. */
static void partitioned_take_tags(struct pl_channel *channel)
{
    struct pl_comm *comm = channel->request->comm;
    uint64_t count = (uint64_t)channel->partitions, *next = &comm->partitioned.tags, used;
    while (*next + count > PL_CHANNEL_TAGS && (used = partitioned_used(comm, *next, count)) > 0)
        *next += used;
    channel->terms.first_tag = (int32_t)(*next % PL_CHANNEL_TAGS);
    *next += count;
    pl_list_append(&comm->partitioned.sends, &channel->link);
}

int pl_psend_create(struct pl_comm *comm, const void *buf, int partitions, MPI_Count count, struct pl_type *type,
                    int peer, int tag, struct pl_request **request)
{
    *request = NULL;
    int rc = partitioned_create(comm, true, buf, partitions, count, type, peer, tag, request);
    if (rc)
        return end_create(rc, *request);
    struct pl_channel *channel = pl_channel_of(*request);
    channel->known = true;
    channel->terms.chunks = partitions;
    channel->terms.chunk_bytes = partition_bytes(channel);
    pl_engine_enter(&comm->instance->engine);
    partitioned_take_tags(channel);
    pl_engine_leave(&comm->instance->engine);
    rc = pl_channel_make_chunks(channel);
    if (!rc && peer != MPI_PROC_NULL)
        rc = partitioned_announce(channel);
    return end_create(rc, *request);
}

int pl_precv_create(struct pl_comm *comm, void *buf, int partitions, MPI_Count count, struct pl_type *type, int peer,
                    int tag, struct pl_request **request)
{
    *request = NULL;
    int rc = partitioned_create(comm, false, buf, partitions, count, type, peer, tag, request);
    if (rc)
        return end_create(rc, *request);
    if (peer == MPI_PROC_NULL)
        pl_channel_of(*request)->known = true;
    else
        rc = partitioned_expect(pl_channel_of(*request));
    return end_create(rc, *request);
}

/* --- readiness and arrival --------------------------------------------------------------------------------------- */

int pl_pready(struct pl_request *request, int low, int high)
{
    struct pl_channel *channel = pl_channel_of(request);
    int rc = MPI_SUCCESS;
    if (request->comm->health.orphan)
        return pl_comm_fail_orphan();
    pl_engine_enter(request->engine);
    for (int i = low; i <= high; i++) {
        if (channel->ready[i])
            rc = pl_fail(MPI_ERR_ARG, "partition %d is ready already", i);
        if (rc)
            break;
        channel->ready[i] = true;
        pl_channel_send(channel, i);
    }
    pl_engine_leave(request->engine);
    return rc;
}

bool pl_parrived(struct pl_request *request, int partition)
{
    const struct pl_channel *channel = pl_channel_of(request);
    if (atomic_load_explicit(&channel->missing[partition], memory_order_acquire) == 0)
        return true;
    pl_engine_enter(request->engine);
    pl_engine_progress(request->engine);
    pl_engine_leave(request->engine);
    bool arrived = atomic_load_explicit(&channel->missing[partition], memory_order_acquire) == 0;
    if (!arrived)
        pl_engine_polled(request->engine);
    return arrived;
}

int pl_partitioned_report(const struct pl_request *request, int error)
{
    const struct pl_channel *channel = pl_channel_of(request);
    if (error != channel->refused || error != MPI_ERR_TRUNCATE)
        return error;
    return pl_fail(error,
                   "rank %d sends %d partitions of %llu bytes with tag %d, which do not fit into %d of %llu bytes here",
                   request->args.peer_rank, channel->terms.chunks, (unsigned long long)channel->terms.chunk_bytes,
                   request->args.tag, channel->partitions, (unsigned long long)partition_bytes(channel));
}
