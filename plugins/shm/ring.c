/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing into a ring: the slow paths, and control records. */
#include "plugins/shm/ring.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/far_copy.h"
#include "core/base/memory.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/shm_peer.h"

/* The target lines are in the reader's cache. A long copy overwrites them without fetching them from there first, so
 * data in many short runs is gathered in private memory before. */
void pl_shm_pack(const struct pl_transport_host *host, struct pl_cursor *data, unsigned char *to, size_t bytes)
{
    enum { SHORT_RUN = 2048, LONG_COPY = 8192 };
    unsigned char gathered[LONG_COPY];
    struct pl_cursor ahead = *data;
    void *run;
    bool gather = bytes >= LONG_COPY && host->run(&ahead, bytes, &run) < SHORT_RUN;
    for (; gather && bytes >= LONG_COPY; bytes -= LONG_COPY, to += LONG_COPY) {
        host->pack(data, gathered, LONG_COPY);
        pl_far_copy(to, gathered, LONG_COPY);
    }
    host->pack(data, to, bytes);
}

void pl_shm_mark_stale(struct pl_shm_out *out, uint32_t line, uint32_t count)
{
    while (count > 0) {
        uint32_t bit = line % 64, bits = 64 - bit < count ? 64 - bit : count;
        uint64_t ones = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
        out->stale[line / 64] |= ones << bit;
        line += bits;
        count -= bits;
    }
}

void pl_shm_overwrite_stale(struct pl_shm_out *out, uint32_t position)
{
    uint32_t line = position & out->mask;
    struct pl_shm_record *record = pl_shm_record_at(out->ring, line);
    /* Any number except the awaited one will do. The release store of the record before it publishes this store too. */
    atomic_store_explicit(&record->sequence, pl_shm_sequence(position) - 1, memory_order_relaxed);
    out->stale[line / 64] &= ~((uint64_t)1 << (line % 64));
}

/* The first line is left out: the reader polls it. */
void pl_shm_prefetch_ahead(struct pl_shm_out *out)
{
    for (uint32_t i = 1; i < out->ahead; i++)
        pl_prefetch_to_write(pl_shm_record_at(out->ring, (out->tail + i) & out->mask));
    out->ahead = 0;
}

/* Reads the reader's position. An impossible one ends the peer, and with it the ring. */
static void ring_update_limit(struct pl_shm_out *out)
{
    uint32_t read = atomic_load_explicit(&out->ring->read, memory_order_acquire);
    if (out->tail - read <= out->mask)
        out->limit = read + out->mask; /* one line stays free */
    else
        pl_shm_peer_damaged(PL_CONTAINER(out, struct pl_shm_peer, out), "it claims to have read what was not written");
}

bool pl_shm_make_space(struct pl_shm_out *out, uint32_t lines)
{
    if (!out->ring)
        return false;
    uint32_t at = out->tail & out->mask, rest = out->mask + 1 - at;
    uint32_t wanted = lines <= rest ? lines : rest + lines;
    if ((int32_t)(out->limit - out->tail) < (int32_t)wanted)
        ring_update_limit(out);
    if (!out->ring)
        return false;
    if ((int32_t)(out->limit - out->tail) < (int32_t)wanted) {
        atomic_store_explicit(&out->ring->wants_space, 1, memory_order_relaxed);
        return false;
    }
    atomic_store_explicit(&out->ring->wants_space, 0, memory_order_relaxed);
    if (lines > rest) {
        struct pl_shm_record *pad = pl_shm_record_at(out->ring, at);
        pl_shm_publish(out, pad, PL_SHM_PAD, (size_t)(rest - 1) * PL_SHM_LINE);
    }
    return true;
}

static bool control_write(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control)
{
    struct pl_shm_record *record = pl_shm_reserve(&peer->out, 0);
    if (!record)
        return false;
    record->control = *control;
    pl_shm_publish(&peer->out, record, kind, 0);
    pl_shm_notify(peer);
    return true;
}

bool pl_shm_control_send(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control)
{
    if (peer->state != PL_SHM_PEER_OPEN)
        return true; /* the peer will not read it */
    if (!peer->out.ring && pl_shm_peer_open_ring(peer) != MPI_SUCCESS)
        return false;
    if (pl_list_empty(&peer->out.controls) && control_write(peer, kind, control))
        return true;
    struct pl_shm_queued *queued = pl_malloc(sizeof *queued);
    if (!queued)
        return false;
    queued->kind = kind;
    queued->control = *control;
    pl_list_append(&peer->out.controls, &queued->link);
    pl_shm_activate(peer);
    return true;
}

int pl_shm_controls_flush(struct pl_shm_peer *peer)
{
    int events = 0;
    PL_LIST_EACH(queued, &peer->out.controls, struct pl_shm_queued, link) {
        if (!control_write(peer, queued->kind, &queued->control))
            break;
        pl_list_remove(&queued->link);
        free(queued);
        events++;
    }
    return events;
}
