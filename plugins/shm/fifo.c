/* SPDX-License-Identifier: BSD-3-Clause */
/* FIFOs: their assignment to peers, and copying in and out. */
#include "plugins/shm/fifo.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/ring.h"
#include "plugins/shm/rndv.h"
#include "plugins/shm/shm_peer.h"

enum {
    FIFOS_KEPT = 8,        /* more are created only if all of these are in use */
    CHUNK = 16 << 10,      /* bytes that are copied before the other side is notified ... */
    CHUNK_LONG = 64 << 10, /* ... and when much is to come: memory delivers longer runs faster */
    BUDGET = 256 << 10, /* bytes for a peer and direction in one progress round, so that other peers have their turn */
};

static uint64_t fifo_align(uint64_t position)
{
    return (position + PL_SHM_LINE - 1) & ~(uint64_t)(PL_SHM_LINE - 1);
}

/* --- assignment to peers ----------------------------------------------------------------------------------------- */

static bool fifo_is_empty(const struct pl_shm_fifo_out *fifo)
{
    return fifo->filled == fifo->end &&
           atomic_load_explicit(&fifo->shared->drained, memory_order_acquire) == fifo->filled;
}

static struct pl_shm_fifo_out *fifo_find_free(struct pl_shm *shm, int *count)
{
    struct pl_shm_fifo_out *idle = NULL;
    *count = 0;
    PL_LIST_EACH(fifo, &shm->fifos, struct pl_shm_fifo_out, link) {
        if (!fifo->peer)
            return fifo;
        if (!idle && fifo_is_empty(fifo))
            idle = fifo;
        ++*count;
    }
    return *count >= FIFOS_KEPT ? idle : NULL;
}

static int fifo_create(struct pl_shm *shm, struct pl_shm_fifo_out **fifo)
{
    struct pl_shm_fifo_out *made = pl_calloc(1, sizeof *made);
    if (!made)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a FIFO");
    int rc = pl_shm_span_create(&shm->region, shm->host, sizeof *made->shared + PL_SHM_FIFO_BYTES, &made->span);
    if (rc) {
        free(made);
        return rc;
    }
    made->shared = made->span.memory;
    pl_list_append(&shm->fifos, &made->link);
    *fifo = made;
    return MPI_SUCCESS;
}

static void fifo_free(struct pl_shm *shm, struct pl_shm_fifo_out *fifo, bool reuse)
{
    pl_list_remove(&fifo->link);
    pl_shm_span_release(&shm->region, &fifo->span, reuse);
    free(fifo);
}

int pl_shm_fifo_acquire(struct pl_shm_peer *peer)
{
    if (peer->out_fifo)
        return MPI_SUCCESS;
    int count;
    struct pl_shm_fifo_out *fifo = fifo_find_free(peer->shm, &count);
    if (!fifo) {
        int rc = fifo_create(peer->shm, &fifo);
        if (rc)
            return rc;
    }
    if (fifo->peer)
        fifo->peer->out_fifo = NULL;
    fifo->peer = peer;
    fifo->filled = fifo->end = fifo->floor = 0;
    atomic_store_explicit(&fifo->shared->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&fifo->shared->drained, 0, memory_order_relaxed);
    peer->out_fifo = fifo;
    pl_list_remove(&fifo->link); /* the least recently used one is first */
    pl_list_append(&peer->shm->fifos, &fifo->link);
    return MPI_SUCCESS;
}

uint64_t pl_shm_fifo_reserve(struct pl_shm_fifo_out *fifo, uint64_t bytes)
{
    uint64_t start = fifo_align(fifo->end);
    if (fifo_is_empty(fifo)) /* back to the start of the buffer, which is in the caches */
        start = fifo->floor = (fifo->end + PL_SHM_FIFO_BYTES - 1) / PL_SHM_FIFO_BYTES * PL_SHM_FIFO_BYTES;
    if (fifo->filled == fifo->end) /* no message is being copied */
        fifo->filled = start;
    fifo->end = start + bytes;
    return start;
}

int pl_shm_fifo_attach(struct pl_shm_peer *peer, uint64_t offset)
{
    if (peer->in_fifo && peer->in_fifo_offset == offset)
        return MPI_SUCCESS;
    void *memory;
    size_t bytes = sizeof(struct pl_shm_fifo) + PL_SHM_FIFO_BYTES;
    int rc = pl_shm_region_map(peer->shm->host, &peer->address, offset, bytes, &peer->inode, &memory);
    if (rc)
        return rc;
    pl_shm_region_unmap(peer->in_fifo, bytes);
    peer->in_fifo = memory;
    peer->in_fifo_offset = offset;
    return MPI_SUCCESS;
}

void pl_shm_fifo_detach(struct pl_shm_peer *peer)
{
    pl_shm_region_unmap(peer->in_fifo, sizeof(struct pl_shm_fifo) + PL_SHM_FIFO_BYTES);
    peer->in_fifo = NULL;
}

void pl_shm_fifo_release(struct pl_shm_peer *peer, bool reuse)
{
    if (!peer->out_fifo)
        return;
    peer->out_fifo->peer = NULL;
    if (!reuse)
        fifo_free(peer->shm, peer->out_fifo, false);
    peer->out_fifo = NULL;
}

void pl_shm_fifos_close(struct pl_shm *shm)
{
    PL_LIST_EACH(fifo, &shm->fifos, struct pl_shm_fifo_out, link)
        fifo_free(shm, fifo, false);
}

/* --- out --------------------------------------------------------------------------------------------------------- */

/* The most that may lie before a position that is not read yet: when the FIFO is full amid a line, the next message
 * begins behind the rest of this line. */
#define FIFO_UNREAD_MAX ((uint64_t)PL_SHM_FIFO_BYTES + PL_SHM_LINE - 1)

/* Bytes before `position` that may not be read yet. More than FIFO_UNREAD_MAX: the reader's counter is damaged. */
static uint64_t fifo_unread_at(const struct pl_shm_fifo_out *fifo, uint64_t position)
{
    uint64_t drained = atomic_load_explicit(&fifo->shared->drained, memory_order_acquire);
    return position - (drained > fifo->floor ? drained : fifo->floor);
}

/* Contiguous bytes that may be put in at `position`, with this many unread ones before it. */
static uint64_t fifo_space_at(uint64_t position, uint64_t unread)
{
    uint64_t at = position % PL_SHM_FIFO_BYTES, space = PL_SHM_FIFO_BYTES - unread;
    return space < PL_SHM_FIFO_BYTES - at ? space : PL_SHM_FIFO_BYTES - at;
}

static struct pl_shm_sending *fifo_first_out(const struct pl_shm_peer *peer)
{
    return PL_CONTAINER(peer->filling.next, struct pl_shm_sending, link);
}

bool pl_shm_fifo_has_space(const struct pl_shm_peer *peer)
{
    if (pl_list_empty(&peer->filling))
        return false;
    uint64_t unread = fifo_unread_at(peer->out_fifo, peer->out_fifo->filled);
    return unread < PL_SHM_FIFO_BYTES || unread > FIFO_UNREAD_MAX;
}

static void fifo_sent(struct pl_shm_peer *peer, struct pl_shm_sending *sending)
{
    struct pl_shm_fifo_out *fifo = peer->out_fifo;
    pl_list_remove(&sending->link);
    if (!pl_list_empty(&peer->filling)) /* on to where the next one begins */
        fifo->filled = fifo_align(fifo->filled);
    peer->shm->host->sent(peer->shm->engine, pl_shm_message_of(sending), MPI_SUCCESS);
}

/* With much data to come it does not matter how long the receiver waits for the first of it. */
static uint64_t fifo_next_chunk(const struct pl_shm_peer *peer, const struct pl_shm_sending *sending)
{
    bool much = sending->remaining >= 4 * CHUNK_LONG || sending->link.next != &peer->filling;
    uint64_t chunk = much ? CHUNK_LONG : CHUNK;
    return sending->remaining < chunk ? sending->remaining : chunk;
}

int pl_shm_fifo_fill(struct pl_shm_peer *peer)
{
    const struct pl_transport_host *host = peer->shm->host;
    struct pl_shm_fifo_out *fifo = peer->out_fifo;
    int events = 0;
    for (uint64_t budget = BUDGET; budget > 0 && !pl_list_empty(&peer->filling);) {
        struct pl_shm_sending *sending = fifo_first_out(peer);
        uint64_t unread = fifo_unread_at(fifo, fifo->filled), chunk = fifo_next_chunk(peer, sending);
        if (unread > FIFO_UNREAD_MAX)
            pl_shm_peer_damaged(peer, "it claims to have taken out of a FIFO what was not put in");
        if (unread >= PL_SHM_FIFO_BYTES)
            break;
        uint64_t space = fifo_space_at(fifo->filled, unread);
        if (chunk > space)
            chunk = space;
        unsigned char *to = fifo->shared->data + fifo->filled % PL_SHM_FIFO_BYTES;
        pl_shm_pack(host, &pl_shm_message_of(sending)->data, to, chunk);
        fifo->filled += chunk;
        sending->remaining -= chunk;
        budget = budget > chunk ? budget - chunk : 0;
        atomic_store_explicit(&fifo->shared->filled, fifo->filled, memory_order_release);
        pl_shm_notify_other(peer);
        events++;
        if (sending->remaining == 0)
            fifo_sent(peer, sending);
    }
    return events;
}

bool pl_shm_fifo_flushed(const struct pl_shm_peer *peer)
{
    return !peer->out_fifo || fifo_is_empty(peer->out_fifo);
}

/* --- in ---------------------------------------------------------------------------------------------------------- */

/* A message begins behind the one before it, at most at the next start of the buffer. */
#define FIFO_BEHIND ((int64_t)PL_SHM_FIFO_BYTES + PL_SHM_LINE)

static struct pl_shm_rndv *fifo_first_in(const struct pl_shm_peer *peer)
{
    return PL_CONTAINER(peer->draining.next, struct pl_shm_rndv, link);
}

/* Bytes that may be taken out at `position`, where the first message in peer->draining goes on; not always contiguous.
 * Negative: the writer has not come to this message, and has yet to fill what the FIFO holds at most. More than the
 * capacity, either way: damaged. */
static int64_t fifo_data_at(const struct pl_shm_peer *peer, uint64_t position)
{
    return (int64_t)(atomic_load_explicit(&peer->in_fifo->filled, memory_order_acquire) - position);
}

bool pl_shm_fifo_has_data(const struct pl_shm_peer *peer)
{
    int64_t data = pl_list_empty(&peer->draining) ? 0 : fifo_data_at(peer, fifo_first_in(peer)->position);
    return data > 0 || data < -FIFO_BEHIND;
}

int pl_shm_fifo_drain(struct pl_shm_peer *peer)
{
    const struct pl_transport_host *host = peer->shm->host;
    int events = 0;
    for (uint64_t budget = BUDGET; budget > 0 && !pl_list_empty(&peer->draining);) {
        struct pl_shm_rndv *rndv = fifo_first_in(peer);
        int64_t data = fifo_data_at(peer, rndv->position);
        if (data > PL_SHM_FIFO_BYTES || data < -FIFO_BEHIND) {
            pl_shm_peer_damaged(peer, "its FIFO claims to hold more than its capacity");
            break;
        }
        if (data <= 0)
            break;
        uint64_t at = rndv->position % PL_SHM_FIFO_BYTES, chunk = (uint64_t)data;
        uint64_t most[] = { rndv->wanted - rndv->done, PL_SHM_FIFO_BYTES - at, CHUNK_LONG };
        for (size_t i = 0; i < sizeof most / sizeof *most; i++)
            chunk = chunk < most[i] ? chunk : most[i];
        host->unpack(&rndv->in->data, peer->in_fifo->data + at, chunk);
        rndv->position += chunk;
        rndv->done += chunk;
        budget = budget > chunk ? budget - chunk : 0;
        atomic_store_explicit(&peer->in_fifo->drained, rndv->position, memory_order_release);
        pl_shm_notify_other(peer);
        events++;
        if (rndv->done == rndv->wanted)
            pl_shm_rndv_finish(rndv, MPI_SUCCESS);
    }
    return events;
}
