/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: pipes of bytes for bulk data.
 *
 * A lane is a circular buffer in the sender's segment with two counters, of the bytes put in and of the bytes taken
 * out. The data of several messages follows one another as they were granted, each beginning at a whole cache line;
 * both sides know all lengths, so that nothing but data lies in it. Sender and receiver copy at the same time, the
 * receiver a step behind: it takes what is still in the cache.
 *
 * A lane belongs to an engine, not to a peer: it leads to the peer that needed it last, and to another one once it is
 * empty, so that the number of lanes is that of the peers who receive at the same time, and few while it can be.
 */
#include "plugins/shm/fifo.h"

#include <stdlib.h>

#include "plugins/shm/doorbell.h"
#include "plugins/shm/ring.h"

enum {
    FIFOS_KEPT = 8,       /* more are made only if all are in use */
    STEP = 16 << 10,      /* bytes that are copied before the other side is told ... */
    STEP_LONG = 64 << 10, /* ... when much is to come: longer runs come faster out of memory */
    TURN = 256 << 10,     /* bytes before another peer has its turn */
};

static uint64_t whole_lines(uint64_t position)
{
    return (position + PL_SHM_LINE - 1) & ~(uint64_t)(PL_SHM_LINE - 1);
}

/* --- whose lane it is -------------------------------------------------------------------------------------------- */

static bool is_empty(const struct pl_shm_fifo_out *fifo)
{
    return fifo->filled == fifo->end &&
           atomic_load_explicit(&fifo->shared->drained, memory_order_acquire) == fifo->filled;
}

static struct pl_shm_fifo_out *find_free(struct pl_shm *shm, int *count)
{
    struct pl_shm_fifo_out *idle = NULL;
    *count = 0;
    PL_LIST_EACH(fifo, &shm->fifos, struct pl_shm_fifo_out, link) {
        if (!fifo->peer)
            return fifo;
        if (!idle && is_empty(fifo))
            idle = fifo;
        ++*count;
    }
    return *count >= FIFOS_KEPT ? idle : NULL;
}

static int fifo_create(struct pl_shm *shm, struct pl_shm_fifo_out **fifo)
{
    struct pl_shm_fifo_out *made = calloc(1, sizeof *made);
    if (!made)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a lane");
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

int pl_shm_fifo_get(struct pl_shm_peer *peer)
{
    if (peer->fifo)
        return MPI_SUCCESS;
    int count;
    struct pl_shm_fifo_out *fifo = find_free(peer->shm, &count);
    if (!fifo) {
        int rc = fifo_create(peer->shm, &fifo);
        if (rc)
            return rc;
    }
    if (fifo->peer)
        fifo->peer->fifo = NULL;
    fifo->peer = peer;
    fifo->filled = fifo->end = fifo->floor = 0;
    atomic_store_explicit(&fifo->shared->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&fifo->shared->drained, 0, memory_order_relaxed);
    peer->fifo = fifo;
    pl_list_remove(&fifo->link); /* the one used longest ago is first */
    pl_list_append(&peer->shm->fifos, &fifo->link);
    return MPI_SUCCESS;
}

uint64_t pl_shm_fifo_reserve(struct pl_shm_fifo_out *fifo, uint64_t bytes)
{
    uint64_t start = whole_lines(fifo->end);
    if (is_empty(fifo)) /* back to the start, which is in the caches */
        start = fifo->floor = (fifo->end + PL_SHM_FIFO_BYTES - 1) / PL_SHM_FIFO_BYTES * PL_SHM_FIFO_BYTES;
    if (fifo->filled == fifo->end) /* nothing is under way */
        fifo->filled = start;
    fifo->end = start + bytes;
    return start;
}

int pl_shm_fifo_follow(struct pl_shm_peer *peer, uint64_t offset)
{
    if (peer->in_fifo && peer->in_fifo_offset == offset)
        return MPI_SUCCESS;
    void *memory;
    size_t bytes = sizeof(struct pl_shm_fifo) + PL_SHM_FIFO_BYTES;
    int rc = pl_shm_map(peer->shm->host, &peer->address, offset, bytes, &peer->inode, &memory);
    if (rc)
        return rc;
    pl_shm_unmap(peer->in_fifo, bytes);
    peer->in_fifo = memory;
    peer->in_fifo_offset = offset;
    return MPI_SUCCESS;
}

void pl_shm_fifo_unfollow(struct pl_shm_peer *peer)
{
    pl_shm_unmap(peer->in_fifo, sizeof(struct pl_shm_fifo) + PL_SHM_FIFO_BYTES);
    peer->in_fifo = NULL;
}

void pl_shm_fifo_put(struct pl_shm_peer *peer, bool reuse)
{
    if (!peer->fifo)
        return;
    peer->fifo->peer = NULL;
    if (!reuse)
        fifo_free(peer->shm, peer->fifo, false);
    peer->fifo = NULL;
}

void pl_shm_fifos_close(struct pl_shm *shm)
{
    PL_LIST_EACH(fifo, &shm->fifos, struct pl_shm_fifo_out, link)
        fifo_free(shm, fifo, false);
}

/* --- out --------------------------------------------------------------------------------------------------------- */

/* Bytes that may be put in at `position` in one piece. A reader that claims to have taken what was not there gets
 * nothing any more. */
static uint64_t room_at(const struct pl_shm_fifo_out *fifo, uint64_t position)
{
    uint64_t drained = atomic_load_explicit(&fifo->shared->drained, memory_order_acquire);
    uint64_t waiting = position - (drained > fifo->floor ? drained : fifo->floor);
    uint64_t at = position % PL_SHM_FIFO_BYTES, room = waiting <= PL_SHM_FIFO_BYTES ? PL_SHM_FIFO_BYTES - waiting : 0;
    return room < PL_SHM_FIFO_BYTES - at ? room : PL_SHM_FIFO_BYTES - at;
}

static struct pl_shm_sending *first_sending(const struct pl_shm_peer *peer)
{
    return PL_CONTAINER(peer->filling.next, struct pl_shm_sending, link);
}

bool pl_shm_fifo_has_room(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->filling) && room_at(peer->fifo, peer->fifo->filled) > 0;
}

static void sending_done(struct pl_shm_peer *peer, struct pl_shm_sending *sending)
{
    struct pl_shm_fifo_out *fifo = peer->fifo;
    pl_list_remove(&sending->link);
    if (!pl_list_empty(&peer->filling)) /* on to the next one's place */
        fifo->filled = whole_lines(fifo->filled);
    peer->shm->host->sent(peer->shm->engine, pl_shm_message_of(sending), MPI_SUCCESS);
}

/* With much to come it does not matter how long the receiver waits for the first of it. */
static uint64_t next_step(const struct pl_shm_peer *peer, const struct pl_shm_sending *sending)
{
    bool much = sending->left >= 4 * STEP_LONG || sending->link.next != &peer->filling;
    uint64_t step = much ? STEP_LONG : STEP;
    return sending->left < step ? sending->left : step;
}

int pl_shm_fifo_fill(struct pl_shm_peer *peer)
{
    const struct pl_host *host = peer->shm->host;
    struct pl_shm_fifo_out *fifo = peer->fifo;
    int events = 0;
    for (uint64_t turn = TURN; turn > 0 && !pl_list_empty(&peer->filling);) {
        struct pl_shm_sending *sending = first_sending(peer);
        uint64_t room = room_at(fifo, fifo->filled), step = next_step(peer, sending);
        if (room == 0)
            break;
        if (step > room)
            step = room;
        unsigned char *to = fifo->shared->data + fifo->filled % PL_SHM_FIFO_BYTES;
        pl_shm_put(host, &pl_shm_message_of(sending)->data, to, step);
        fifo->filled += step;
        sending->left -= step;
        turn = turn > step ? turn - step : 0;
        atomic_store_explicit(&fifo->shared->filled, fifo->filled, memory_order_release);
        pl_shm_notify_other(peer);
        events++;
        if (sending->left == 0)
            sending_done(peer, sending);
    }
    return events;
}

bool pl_shm_fifo_flushed(const struct pl_shm_peer *peer)
{
    return !peer->fifo || is_empty(peer->fifo);
}

/* --- in ---------------------------------------------------------------------------------------------------------- */

static struct pl_shm_rndv *first_inflow(const struct pl_shm_peer *peer)
{
    return PL_CONTAINER(peer->draining.next, struct pl_shm_rndv, link);
}

/* Bytes that may be taken out at `position`, in any number of pieces. Negative or more than the lane: damaged. */
static int64_t data_at(const struct pl_shm_peer *peer, uint64_t position)
{
    return (int64_t)(atomic_load_explicit(&peer->in_fifo->filled, memory_order_acquire) - position);
}

bool pl_shm_fifo_has_data(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->draining) && data_at(peer, first_inflow(peer)->position) > 0;
}

int pl_shm_fifo_drain(struct pl_shm_peer *peer)
{
    const struct pl_host *host = peer->shm->host;
    int events = 0;
    for (uint64_t turn = TURN; turn > 0 && !pl_list_empty(&peer->draining);) {
        struct pl_shm_rndv *rndv = first_inflow(peer);
        int64_t data = data_at(peer, rndv->position);
        if (data <= 0) /* less than 0: what is there belongs to the message before it */
            break;
        if (data > PL_SHM_FIFO_BYTES) {
            pl_shm_peer_damaged(peer, "its lane holds more than it can");
            break;
        }
        uint64_t at = rndv->position % PL_SHM_FIFO_BYTES, step = (uint64_t)data;
        uint64_t most[] = { rndv->wanted - rndv->done, PL_SHM_FIFO_BYTES - at, STEP_LONG };
        for (size_t i = 0; i < sizeof most / sizeof *most; i++)
            step = step < most[i] ? step : most[i];
        host->unpack(&rndv->in->data, peer->in_fifo->data + at, step);
        rndv->position += step;
        rndv->done += step;
        turn = turn > step ? turn - step : 0;
        atomic_store_explicit(&peer->in_fifo->drained, rndv->position, memory_order_release);
        pl_shm_notify_other(peer);
        events++;
        if (rndv->done == rndv->wanted)
            pl_shm_rndv_finish(rndv, MPI_SUCCESS);
    }
    return events;
}
