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
    LANES_KEPT = 8,         /* more are made only if all are in use */
    STEP = 16 << 10,        /* bytes that are copied before the other side is told ... */
    STEP_LONG = 64 << 10,   /* ... when much is to come: longer runs come faster out of memory */
    TURN = 256 << 10,       /* bytes before another peer has its turn */
};

static uint64_t whole_lines(uint64_t position)
{
    return (position + PL_SHM_LINE - 1) & ~(uint64_t)(PL_SHM_LINE - 1);
}

/* --- whose lane it is -------------------------------------------------------------------------------------------- */

static bool is_empty(const struct pl_shm_lane_out *lane)
{
    return lane->filled == lane->end &&
           atomic_load_explicit(&lane->shared->drained, memory_order_acquire) == lane->filled;
}

static struct pl_shm_lane_out *find_free(struct pl_shm *shm, int *count)
{
    struct pl_shm_lane_out *idle = NULL;
    *count = 0;
    PL_LIST_EACH(lane, &shm->lanes, struct pl_shm_lane_out, link) {
        if (!lane->peer)
            return lane;
        if (!idle && is_empty(lane))
            idle = lane;
        ++*count;
    }
    return *count >= LANES_KEPT ? idle : NULL;
}

static int lane_create(struct pl_shm *shm, struct pl_shm_lane_out **lane)
{
    struct pl_shm_lane_out *made = calloc(1, sizeof *made);
    if (!made)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a lane");
    int rc = pl_shm_area_create(&shm->segment, shm->host, sizeof *made->shared + PL_SHM_LANE_BYTES, &made->area);
    if (rc) {
        free(made);
        return rc;
    }
    made->shared = made->area.memory;
    pl_list_append(&shm->lanes, &made->link);
    *lane = made;
    return MPI_SUCCESS;
}

static void lane_free(struct pl_shm *shm, struct pl_shm_lane_out *lane, bool reuse)
{
    pl_list_remove(&lane->link);
    pl_shm_area_release(&shm->segment, &lane->area, reuse);
    free(lane);
}

int pl_shm_lane_get(struct pl_shm_peer *peer)
{
    if (peer->lane)
        return MPI_SUCCESS;
    int count;
    struct pl_shm_lane_out *lane = find_free(peer->shm, &count);
    if (!lane) {
        int rc = lane_create(peer->shm, &lane);
        if (rc)
            return rc;
    }
    if (lane->peer)
        lane->peer->lane = NULL;
    lane->peer = peer;
    lane->filled = lane->end = lane->floor = 0;
    atomic_store_explicit(&lane->shared->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&lane->shared->drained, 0, memory_order_relaxed);
    peer->lane = lane;
    pl_list_remove(&lane->link); /* the one used longest ago is first */
    pl_list_append(&peer->shm->lanes, &lane->link);
    return MPI_SUCCESS;
}

uint64_t pl_shm_lane_book(struct pl_shm_lane_out *lane, uint64_t bytes)
{
    uint64_t start = whole_lines(lane->end);
    if (is_empty(lane)) /* back to the start, which is in the caches */
        start = lane->floor = (lane->end + PL_SHM_LANE_BYTES - 1) / PL_SHM_LANE_BYTES * PL_SHM_LANE_BYTES;
    if (lane->filled == lane->end) /* nothing is under way */
        lane->filled = start;
    lane->end = start + bytes;
    return start;
}

int pl_shm_lane_follow(struct pl_shm_peer *peer, uint64_t offset)
{
    if (peer->in_lane && peer->in_lane_offset == offset)
        return MPI_SUCCESS;
    void *memory;
    size_t bytes = sizeof(struct pl_shm_lane) + PL_SHM_LANE_BYTES;
    int rc = pl_shm_map(peer->shm->host, &peer->address, offset, bytes, &peer->inode, &memory);
    if (rc)
        return rc;
    pl_shm_unmap(peer->in_lane, bytes);
    peer->in_lane = memory;
    peer->in_lane_offset = offset;
    return MPI_SUCCESS;
}

void pl_shm_lane_unfollow(struct pl_shm_peer *peer)
{
    pl_shm_unmap(peer->in_lane, sizeof(struct pl_shm_lane) + PL_SHM_LANE_BYTES);
    peer->in_lane = NULL;
}

void pl_shm_lane_put(struct pl_shm_peer *peer, bool reuse)
{
    if (!peer->lane)
        return;
    peer->lane->peer = NULL;
    if (!reuse)
        lane_free(peer->shm, peer->lane, false);
    peer->lane = NULL;
}

void pl_shm_lanes_close(struct pl_shm *shm)
{
    PL_LIST_EACH(lane, &shm->lanes, struct pl_shm_lane_out, link)
        lane_free(shm, lane, false);
}

/* --- out --------------------------------------------------------------------------------------------------------- */

/* Bytes that may be put in at `position` in one piece. A reader that claims to have taken what was not there gets
 * nothing any more. */
static uint64_t room_at(const struct pl_shm_lane_out *lane, uint64_t position)
{
    uint64_t drained = atomic_load_explicit(&lane->shared->drained, memory_order_acquire);
    uint64_t waiting = position - (drained > lane->floor ? drained : lane->floor);
    uint64_t at = position % PL_SHM_LANE_BYTES, room = waiting <= PL_SHM_LANE_BYTES ? PL_SHM_LANE_BYTES - waiting : 0;
    return room < PL_SHM_LANE_BYTES - at ? room : PL_SHM_LANE_BYTES - at;
}

static struct pl_shm_sending *first_sending(const struct pl_shm_peer *peer)
{
    return PL_CONTAINER(peer->streaming.next, struct pl_shm_sending, link);
}

bool pl_shm_lane_has_room(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->streaming) && room_at(peer->lane, peer->lane->filled) > 0;
}

static void sending_done(struct pl_shm_peer *peer, struct pl_shm_sending *sending)
{
    struct pl_shm_lane_out *lane = peer->lane;
    pl_list_remove(&sending->link);
    if (!pl_list_empty(&peer->streaming)) /* on to the next one's place */
        lane->filled = whole_lines(lane->filled);
    peer->shm->host->sent(peer->shm->engine, pl_shm_message_of(sending), MPI_SUCCESS);
}

/* With much to come it does not matter how long the receiver waits for the first of it. */
static uint64_t next_step(const struct pl_shm_peer *peer, const struct pl_shm_sending *sending)
{
    bool much = sending->left >= 4 * STEP_LONG || sending->link.next != &peer->streaming;
    uint64_t step = much ? STEP_LONG : STEP;
    return sending->left < step ? sending->left : step;
}

int pl_shm_lane_fill(struct pl_shm_peer *peer)
{
    const struct pl_host *host = peer->shm->host;
    struct pl_shm_lane_out *lane = peer->lane;
    int events = 0;
    for (uint64_t turn = TURN; turn > 0 && !pl_list_empty(&peer->streaming);) {
        struct pl_shm_sending *sending = first_sending(peer);
        uint64_t room = room_at(lane, lane->filled), step = next_step(peer, sending);
        if (room == 0)
            break;
        if (step > room)
            step = room;
        unsigned char *to = lane->shared->data + lane->filled % PL_SHM_LANE_BYTES;
        pl_shm_put(host, &pl_shm_message_of(sending)->data, to, step);
        lane->filled += step;
        sending->left -= step;
        turn = turn > step ? turn - step : 0;
        atomic_store_explicit(&lane->shared->filled, lane->filled, memory_order_release);
        pl_shm_notify_other(peer);
        events++;
        if (sending->left == 0)
            sending_done(peer, sending);
    }
    return events;
}

bool pl_shm_lane_flushed(const struct pl_shm_peer *peer)
{
    return !peer->lane || is_empty(peer->lane);
}

/* --- in ---------------------------------------------------------------------------------------------------------- */

static struct pl_shm_bulk *first_inflow(const struct pl_shm_peer *peer)
{
    return PL_CONTAINER(peer->inflow.next, struct pl_shm_bulk, link);
}

/* Bytes that may be taken out at `position`, in any number of pieces. Negative or more than the lane: damaged. */
static int64_t data_at(const struct pl_shm_peer *peer, uint64_t position)
{
    return (int64_t)(atomic_load_explicit(&peer->in_lane->filled, memory_order_acquire) - position);
}

bool pl_shm_lane_has_data(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->inflow) && data_at(peer, first_inflow(peer)->position) > 0;
}

int pl_shm_lane_drain(struct pl_shm_peer *peer)
{
    const struct pl_host *host = peer->shm->host;
    int events = 0;
    for (uint64_t turn = TURN; turn > 0 && !pl_list_empty(&peer->inflow);) {
        struct pl_shm_bulk *bulk = first_inflow(peer);
        int64_t data = data_at(peer, bulk->position);
        if (data <= 0) /* less than 0: what is there belongs to the message before it */
            break;
        if (data > PL_SHM_LANE_BYTES) {
            pl_shm_peer_damaged(peer, "its lane holds more than it can");
            break;
        }
        uint64_t at = bulk->position % PL_SHM_LANE_BYTES, step = (uint64_t)data;
        uint64_t most[] = { bulk->wanted - bulk->done, PL_SHM_LANE_BYTES - at, STEP_LONG };
        for (size_t i = 0; i < sizeof most / sizeof *most; i++)
            step = step < most[i] ? step : most[i];
        host->unpack(&bulk->in->data, peer->in_lane->data + at, step);
        bulk->position += step;
        bulk->done += step;
        turn = turn > step ? turn - step : 0;
        atomic_store_explicit(&peer->in_lane->drained, bulk->position, memory_order_release);
        pl_shm_notify_other(peer);
        events++;
        if (bulk->done == bulk->wanted)
            pl_shm_bulk_finish(bulk, MPI_SUCCESS);
    }
    return events;
}
