/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends.
 *
 * A user's buffer holds segments in the order of their addresses, each with a header in the buffer itself. A new
 * message takes the gap behind the last one, or else the first gap that is large enough. With automatic buffering each
 * segment is allocated. A segment is freed when its message has been sent. A message that goes at once takes none.
 *
 * Locking: the lock of the place where a buffer is attached protects the pointer to it; a thread that uses the buffer
 * holds a reference. A buffer's lock protects its segments and flushes. It is taken with or without an engine's lock
 * held.
 */
#include "core/engine/bsend.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/p2p.h"
#include "core/engine/p2p_blocking.h"
#include "core/engine/wait.h"

enum { SEGMENT_ALIGN = 64 };

struct segment {
    struct pl_list link;     /* in the order of addresses */
    struct pl_list by_order; /* in the order of messages */
    struct pl_bsend *bsend;
    uint64_t order; /* number of the message among all of the buffer */
    size_t bytes;   /* including this header, rounded up */
    _Alignas(16) unsigned char data[];
};
_Static_assert(sizeof(struct segment) + SEGMENT_ALIGN <= MPI_BSEND_OVERHEAD,
               "the overhead that users are told covers a segment");

struct pl_bsend {
    _Atomic int refs; /* one of the place, and one of each thread that uses it */
    struct pl_lock lock;
    void *buffer; /* as the user gave it */
    MPI_Count size;
    unsigned char *start, *end;        /* aligned */
    struct pl_list segments, by_order; /* of segment.link, of segment.by_order */
    struct pl_list *last;              /* the segment that was made last, or one before it; or &segments */
    struct pl_list flushes; /* of pl_request.link, retained; args.count is the number of messages when it began */
    uint64_t messages;
    bool detached; /* takes no more messages */
};

static struct pl_bsend *process_bsend;
static struct pl_lock process_lock = PL_LOCK_INIT(PL_RANK_INSTANCE);

struct pl_bsend_place pl_bsend_of_comm(struct pl_comm *comm)
{
    return (struct pl_bsend_place){ &comm->bsend, &comm->lock, &comm->instance->engine, "the communicator" };
}

struct pl_bsend_place pl_bsend_of_instance(struct pl_instance *instance)
{
    return (struct pl_bsend_place){ &instance->bsend, &instance->lock, &instance->engine, "the session" };
}

struct pl_bsend_place pl_bsend_of_process(void)
{
    return (struct pl_bsend_place){ &process_bsend, &process_lock, pl_world ? &pl_world->engine : NULL, "the process" };
}

static struct pl_bsend *bsend_acquire(struct pl_bsend_place place)
{
    pl_lock_take(place.lock);
    struct pl_bsend *bsend = *place.slot;
    if (bsend)
        atomic_fetch_add(&bsend->refs, 1);
    pl_lock_drop(place.lock);
    return bsend;
}

static void bsend_release(struct pl_bsend *bsend)
{
    if (atomic_fetch_sub(&bsend->refs, 1) != 1)
        return;
    pl_lock_fini(&bsend->lock);
    free(bsend);
}

int pl_bsend_attach(struct pl_bsend_place place, void *buffer, MPI_Count size)
{
    struct pl_bsend *bsend = pl_calloc(1, sizeof *bsend);
    if (!bsend)
        return pl_fail_memory("an attached buffer");
    atomic_init(&bsend->refs, 1);
    bsend->buffer = buffer;
    bsend->size = size;
    if (buffer != MPI_BUFFER_AUTOMATIC) {
        uintptr_t start = ((uintptr_t)buffer + SEGMENT_ALIGN - 1) & ~(uintptr_t)(SEGMENT_ALIGN - 1);
        bsend->start = (unsigned char *)start;
        bsend->end = (unsigned char *)buffer + size;
    }
    pl_lock_init(&bsend->lock, PL_RANK_LEAF, true);
    pl_list_init(&bsend->segments);
    pl_list_init(&bsend->by_order);
    pl_list_init(&bsend->flushes);
    bsend->last = &bsend->segments;
    pl_lock_take(place.lock);
    bool taken = *place.slot != NULL;
    if (!taken)
        *place.slot = bsend;
    pl_lock_drop(place.lock);
    if (!taken)
        return MPI_SUCCESS;
    bsend_release(bsend);
    return pl_fail(MPI_ERR_BUFFER, "%s already has a buffer attached; detach it first", place.label);
}

/* Where the gap behind a segment begins, and its bytes; behind the list's head: that before the first segment. */
static size_t gap_behind(const struct pl_bsend *bsend, const struct pl_list *before, unsigned char **at)
{
    const struct pl_list *head = &bsend->segments;
    struct segment *segment = PL_CONTAINER(before, struct segment, link);
    *at = before == head ? bsend->start : (unsigned char *)segment + segment->bytes;
    unsigned char *limit =
        before->next == head ? bsend->end : (unsigned char *)PL_CONTAINER(before->next, struct segment, link);
    return *at > limit ? 0 : (size_t)(limit - *at);
}

/* Takes a gap of `bytes`; enters it into the list in the order of addresses. Lock held. */
static struct segment *segment_take_gap(struct pl_bsend *bsend, size_t bytes)
{
    unsigned char *at;
    struct pl_list *before = bsend->last;
    if (gap_behind(bsend, before, &at) < bytes) {
        before = &bsend->segments;
        while (gap_behind(bsend, before, &at) < bytes)
            if ((before = before->next) == &bsend->segments)
                return NULL;
    }
    struct segment *segment = (struct segment *)at;
    pl_list_push(before, &segment->link);
    bsend->last = &segment->link;
    return segment;
}

/* A segment of `bytes`: `allocated`, or a gap of the user's buffer. NULL: there is no room. */
static struct segment *segment_enter(struct pl_bsend *bsend, size_t bytes, struct segment *allocated)
{
    struct segment *made = allocated;
    pl_lock_take(&bsend->lock);
    if (bsend->detached) {
        free(allocated);
        made = NULL;
    } else if (allocated) {
        pl_list_append(&bsend->segments, &made->link);
    } else {
        made = segment_take_gap(bsend, bytes);
    }
    if (made) {
        pl_list_append(&bsend->by_order, &made->by_order);
        made->bsend = bsend;
        made->bytes = bytes;
        made->order = ++bsend->messages;
    }
    pl_lock_drop(&bsend->lock);
    return made;
}

/* Progress may complete messages whose receives are posted, or done, and so make room. It ends when two rounds in a row
 * bring nothing, or after many: others may send without end. */
static struct segment *segment_make_space(struct pl_bsend *bsend, struct pl_engine *engine, size_t bytes)
{
    enum { ROUNDS = 1000 };
    struct segment *made = NULL;
    for (int round = 0, quiet = 0; !made && quiet < 2 && round < ROUNDS; round++) {
        pl_engine_enter(engine);
        int events = pl_engine_progress(engine);
        pl_engine_leave(engine);
        events += pl_engine_nudge_others(engine); /* the process's buffer has messages of all its engines */
        quiet = events ? 0 : quiet + 1;
        made = segment_enter(bsend, bytes, NULL);
    }
    return made;
}

struct bsend_space {
    size_t free, longest; /* bytes in all gaps, and in the longest one */
    bool detached;
};

static void bsend_add_gap(struct bsend_space *space, const unsigned char *start, const unsigned char *end)
{
    size_t bytes = end > start ? (size_t)(end - start) : 0;
    space->free += bytes;
    if (bytes > space->longest)
        space->longest = bytes;
}

static struct bsend_space bsend_measure(struct pl_bsend *bsend)
{
    struct bsend_space space = { 0 };
    const unsigned char *at = bsend->start;
    pl_lock_take(&bsend->lock);
    space.detached = bsend->detached;
    for (const struct pl_list *node = bsend->segments.next; node != &bsend->segments; node = node->next) {
        const struct segment *segment = PL_CONTAINER(node, const struct segment, link);
        bsend_add_gap(&space, at, (const unsigned char *)segment);
        at = (const unsigned char *)segment + segment->bytes;
    }
    pl_lock_drop(&bsend->lock);
    bsend_add_gap(&space, at, bsend->end);
    return space;
}

static PL_COLD int bsend_fail_space(struct pl_bsend *bsend, size_t data)
{
    struct bsend_space space = bsend_measure(bsend);
    if (space.detached)
        return pl_fail(MPI_ERR_BUFFER, "another thread detaches the buffer");
    return pl_fail(MPI_ERR_BUFFER,
                   "a message of %zu bytes needs %zu bytes of buffer (with MPI_BSEND_OVERHEAD); of the attached %lld "
                   "bytes %zu are free, at most %zu of them in one piece",
                   data, data + MPI_BSEND_OVERHEAD, (long long)bsend->size, space.free, space.longest);
}

static size_t segment_bytes(size_t data)
{
    return (sizeof(struct segment) + data + SEGMENT_ALIGN - 1) & ~(size_t)(SEGMENT_ALIGN - 1);
}

static int segment_create(struct pl_bsend *bsend, struct pl_engine *engine, size_t data, struct segment **segment)
{
    size_t bytes = segment_bytes(data);
    bool automatic = bsend->buffer == MPI_BUFFER_AUTOMATIC;
    struct segment *allocated = automatic ? pl_malloc(bytes) : NULL;
    if (automatic && !allocated)
        return pl_fail_memory("a buffered message");
    struct segment *made = segment_enter(bsend, bytes, allocated);
    if (!made && !automatic && (MPI_Count)bytes <= bsend->size)
        made = segment_make_space(bsend, engine, bytes);
    if (!made)
        return bsend_fail_space(bsend, data);
    *segment = made;
    return MPI_SUCCESS;
}

static bool pending_until(const struct pl_bsend *bsend, uint64_t order)
{
    const struct pl_list *first = bsend->by_order.next;
    return first != &bsend->by_order && PL_CONTAINER(first, const struct segment, by_order)->order <= order;
}

/* The buffer may be detached as soon as the lock is dropped. */
static void segment_release(struct segment *segment)
{
    struct pl_bsend *bsend = segment->bsend;
    struct pl_list flushed, *node;
    pl_list_init(&flushed);
    pl_lock_take(&bsend->lock);
    if (bsend->last == &segment->link)
        bsend->last = segment->link.prev;
    pl_list_remove(&segment->link);
    pl_list_remove(&segment->by_order);
    PL_LIST_EACH(flush, &bsend->flushes, struct pl_request, link)
        if (!pending_until(bsend, (uint64_t)flush->args.count)) {
            pl_list_remove(&flush->link);
            pl_list_append(&flushed, &flush->link);
        }
    if (bsend->buffer == MPI_BUFFER_AUTOMATIC)
        free(segment);
    pl_lock_drop(&bsend->lock);
    while ((node = pl_list_pop(&flushed)) != NULL) {
        struct pl_request *flush = PL_CONTAINER(node, struct pl_request, link);
        pl_request_complete(flush, MPI_SUCCESS);
        pl_object_release(flush);
    }
}

static void segment_sent(struct pl_request *request)
{
    segment_release(request->on.owner);
    pl_list_append(&request->engine->deferred.frees, &request->link);
}

/* The buffer for messages of this communicator; the caller releases it. */
static struct pl_bsend *bsend_buffer_of(struct pl_comm *comm)
{
    struct pl_bsend *bsend = bsend_acquire(pl_bsend_of_comm(comm));
    if (!bsend)
        bsend = bsend_acquire(pl_bsend_of_instance(comm->instance));
    return bsend ? bsend : bsend_acquire(pl_bsend_of_process());
}

/* Would the empty buffer have room for this message? A longer one is an error, even if it could go at once. */
static bool bsend_fits(const struct pl_bsend *bsend, size_t data)
{
    return bsend->buffer == MPI_BUFFER_AUTOMATIC || (MPI_Count)segment_bytes(data) <= bsend->size;
}

int pl_bsend(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag)
{
    struct pl_bsend *bsend = bsend_buffer_of(comm);
    if (!bsend)
        return pl_fail(MPI_ERR_BUFFER, "no buffer is attached to the communicator, its session or the process");
    if (bsend_fits(bsend, (size_t)count * (size_t)type->size) && pl_send_fast(comm, buf, count, type, dest, tag)) {
        bsend_release(bsend);
        return MPI_SUCCESS;
    }
    struct pl_cursor cursor;
    struct segment *segment = NULL;
    struct pl_request *request = pl_request_create(PL_REQ_SEND, comm, PL_TYPE_BYTE, true);
    pl_cursor_init(&cursor, buf, count, type);
    int rc = request ? segment_create(bsend, &comm->instance->engine, cursor.total, &segment) : MPI_ERR_NO_MEM;
    bsend_release(bsend);
    if (rc) {
        pl_object_release(request);
        return rc;
    }
    pl_cursor_pack(&cursor, segment->data, cursor.total);
    request->args.datatype = (struct pl_type *)PL_TYPE_BYTE;
    request->args.buf = segment->data;
    request->args.count = (MPI_Count)cursor.total;
    request->args.peer_rank = dest;
    request->args.tag = tag;
    request->on.owner = segment;
    request->on.completed = segment_sent;
    pl_object_retain(request); /* it may be complete, and released, when it is started */
    rc = pl_p2p_start(request);
    pl_object_release(request);
    return rc;
}

static bool bsend_is_sent(struct pl_bsend *bsend, uint64_t last)
{
    pl_lock_take(&bsend->lock); /* also waits for the thread that freed the last segment */
    bool sent = !pending_until(bsend, last);
    pl_lock_drop(&bsend->lock);
    return sent;
}

/* Waits for the messages up to this one. Other threads may go on with buffered sends. */
static void bsend_wait_sent(struct pl_bsend *bsend, struct pl_engine *engine, uint64_t last)
{
    struct pl_wait wait = { 0 };
    while (!bsend_is_sent(bsend, last)) {
        int events = 0;
        if (engine) {
            pl_engine_enter(engine);
            events = pl_engine_progress(engine);
            pl_engine_leave(engine);
        }
        events += pl_engine_nudge_others(engine);
        wait.rounds = events ? 0 : wait.rounds;
        pl_engine_idle(engine, &wait);
    }
}

int pl_bsend_detach(struct pl_bsend_place place, void **buffer, MPI_Count *size)
{
    pl_lock_take(place.lock);
    struct pl_bsend *bsend = *place.slot;
    *place.slot = NULL;
    pl_lock_drop(place.lock);
    *buffer = NULL;
    *size = 0;
    if (!bsend)
        return MPI_SUCCESS;
    pl_lock_take(&bsend->lock);
    bsend->detached = true;
    uint64_t last = bsend->messages;
    pl_lock_drop(&bsend->lock);
    bsend_wait_sent(bsend, place.engine, last);
    *buffer = bsend->buffer;
    *size = bsend->size;
    bsend_release(bsend);
    return MPI_SUCCESS;
}

int pl_bsend_flush(struct pl_bsend_place place)
{
    struct pl_bsend *bsend = bsend_acquire(place);
    if (!bsend)
        return MPI_SUCCESS;
    pl_lock_take(&bsend->lock);
    uint64_t last = bsend->messages;
    pl_lock_drop(&bsend->lock);
    bsend_wait_sent(bsend, place.engine, last);
    bsend_release(bsend);
    return MPI_SUCCESS;
}

int pl_bsend_iflush(struct pl_bsend_place place, struct pl_request **request)
{
    struct pl_request *made = pl_request_create(PL_REQ_COMPLETE, NULL, NULL, false);
    if (!made)
        return MPI_ERR_NO_MEM;
    made->engine = place.engine;
    made->is.active = true;
    made->outcome = (struct pl_outcome){ .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG };
    struct pl_bsend *bsend = bsend_acquire(place);
    bool waits = false;
    if (bsend) {
        pl_lock_take(&bsend->lock);
        made->args.count = (MPI_Count)bsend->messages;
        waits = pending_until(bsend, bsend->messages);
        if (waits)
            pl_list_append(&bsend->flushes, &((struct pl_request *)pl_object_retain(made))->link);
        pl_lock_drop(&bsend->lock);
        bsend_release(bsend);
    }
    if (!waits)
        atomic_store_explicit(&made->done, 1, memory_order_release);
    *request = made;
    return MPI_SUCCESS;
}
