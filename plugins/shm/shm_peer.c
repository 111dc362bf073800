/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: how they are found, and how this engine notices that they have gone. */
#include "plugins/shm/shm_peer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/fifo.h"
#include "plugins/shm/inbox.h"
#include "plugins/shm/ring.h"
#include "plugins/shm/ring_read.h"
#include "plugins/shm/rndv.h"
#include "plugins/shm/share.h"

/* Between checks for peers that have died, and how many peers one asks about, by a system call for each. If it asked
 * about all, 300 processes of a node would make half a million calls a second, for which two cores have no time. */
enum { CHECK_NS = 200000000, CHECK_PEERS = 16 };

static void peer_init_lists(struct pl_shm_peer *peer)
{
    struct pl_list *lists[] = { &peer->active,  &peer->link,     &peer->out.controls, &peer->rts_sent,
                                &peer->filling, &peer->cts_sent, &peer->draining,     &peer->copying };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        pl_list_init(lists[i]);
}

/* Maps the peer's head, and checks that it is the engine that the address names. */
static int peer_map_head(struct pl_shm_peer *peer)
{
    const struct pl_transport_host *host = peer->shm->host;
    const struct pl_shm_address *address = &peer->address;
    void *memory;
    int rc = pl_shm_region_map(host, address, 0, sizeof *peer->head, &peer->inode, &memory);
    if (rc)
        return rc;
    const struct pl_shm_head *head = memory;
    if (head->magic != PL_SHM_MAGIC || head->version != PL_SHM_VERSION || head->bytes != sizeof *head)
        rc = host->fail(PL_UNREACHABLE, "transport shm: process %d uses another version of Plenum", (int)address->pid);
    else if (head->cookie != address->cookie || head->engine != address->engine)
        rc = host->fail(PL_UNREACHABLE, "transport shm: process %d is not the one in the address", (int)address->pid);
    else if (atomic_load_explicit(&head->attention, memory_order_acquire) & PL_SHM_CLOSED)
        rc = host->fail(PL_UNREACHABLE, "transport shm: process %d has closed its engine", (int)address->pid);
    if (rc)
        pl_shm_region_unmap(memory, sizeof *head);
    else
        peer->head = memory;
    return rc;
}

int pl_shm_peer_get(struct pl_shm *shm, const struct pl_shm_address *address, struct pl_shm_peer **peer)
{
    PL_LIST_EACH(known, &shm->peers, struct pl_shm_peer, link)
        if (known->address.cookie == address->cookie && known->address.engine == address->engine) {
            *peer = known;
            return MPI_SUCCESS;
        }
    struct pl_shm_peer *made = pl_calloc(1, sizeof *made);
    if (!made)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a peer on the node");
    made->endpoint.ops = &pl_transport_shm;
    made->shm = shm;
    made->address = *address;
    made->fence = shm->registered ? 0 : PL_SHM_FENCE;
    made->out.slot = -1;
    peer_init_lists(made);
    int rc = peer_map_head(made);
    if (rc) {
        free(made);
        return rc;
    }
    pl_list_append(&shm->peers, &made->link);
    if (++shm->made >= PL_SHM_MADE)
        shm->idle |= PL_SHM_ROUNDS - 1;
    *peer = made;
    return MPI_SUCCESS;
}

int pl_shm_peer_open_ring(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_out *out = &peer->out;
    uint64_t *stale = pl_calloc((shm->lines + 63) / 64, sizeof *stale);
    if (!stale)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a ring");
    int rc =
        pl_shm_span_create(&shm->region, shm->host, sizeof *out->ring + (size_t)shm->lines * PL_SHM_LINE, &out->span);
    if (rc) {
        free(stale);
        return rc;
    }
    out->ring = out->span.memory;
    out->ring->cookie = peer->address.cookie;
    out->ring->lines = shm->lines;
    out->stale = stale;
    out->mask = shm->lines - 1;
    out->tail = 0;
    out->limit = out->mask;
    pl_shm_request_post(peer);
    pl_shm_activate(peer);
    return MPI_SUCCESS;
}

void pl_shm_peer_leave(struct pl_shm_peer *peer, int error, const char *why)
{
    if (peer->state != PL_SHM_PEER_OPEN)
        return;
    peer->state = PL_SHM_PEER_LEAVING;
    peer->error = error;
    peer->why = why;
    peer->out.ring = NULL; /* nothing is sent any more */
    peer->out.limit = peer->out.tail;
    pl_shm_activate(peer);
}

void pl_shm_peer_damaged(struct pl_shm_peer *peer, const char *what)
{
    peer->damaged = true;
    peer->shm->host->fail(MPI_ERR_OTHER, "shared memory of process %d is damaged: %s", (int)peer->address.pid, what);
    peer->shm->host->log("shm", 0, "shared memory of process %d is damaged: %s", (int)peer->address.pid, what);
    pl_shm_peer_leave(peer, MPI_ERR_OTHER, what);
}

void pl_shm_peer_abandon_ring(struct pl_shm_peer *peer)
{
    if (!peer->in.ring)
        return;
    pl_shm_read_stop(peer);
    atomic_store_explicit(&peer->in.ring->state, PL_SHM_RING_ABANDONED, memory_order_release);
    pl_shm_region_unmap(peer->in.ring, sizeof *peer->in.ring + ((size_t)peer->in.mask + 1) * PL_SHM_LINE);
    peer->in.ring = NULL;
}

/* Releases everything that is mapped and owned for a peer. `reuse`: the peer does not use our memory any more. */
static void peer_release_memory(struct pl_shm_peer *peer, bool reuse)
{
    struct pl_shm *shm = peer->shm;
    pl_shm_peer_abandon_ring(peer);
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->out.controls)) != NULL)
        free(PL_CONTAINER(node, struct pl_shm_queued, link));
    pl_shm_fifo_detach(peer);
    pl_shm_fifo_release(peer, reuse);
    pl_shm_span_release(&shm->region, &peer->out.span, reuse);
    free(peer->out.stale);
    peer->out.stale = NULL;
    peer->out.ring = NULL;
    pl_shm_region_unmap(peer->head, sizeof *peer->head);
    peer->head = NULL;
    pl_shm_attached_release(peer);
    pl_list_remove(&peer->active);
    pl_list_remove(&peer->link);
    peer->state = PL_SHM_PEER_ENDED;
}

/* Takes what it had written: no more than the ring holds, in case it has not gone at all, and writes on. */
static void peer_read_rest(struct pl_shm_peer *peer)
{
    int64_t left = peer->in.ring ? (int64_t)peer->in.mask + 1 : 0;
    while (left > 0 && !peer->damaged) {
        int records = pl_shm_read(peer);
        left = records > 0 ? left - records : 0;
    }
}

int pl_shm_peer_end(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    peer_read_rest(peer);
    bool has_origin = peer->in.ring != NULL;
    int events = pl_shm_rndv_fail_all(peer);
    peer_release_memory(peer, !peer->damaged);
    pl_list_append(&shm->ended, &peer->link);
    struct pl_endpoint *endpoint = peer->connected ? &peer->endpoint : NULL;
    struct pl_origin nameless = { .engine = peer->address.engine };
    const struct pl_origin *from = has_origin ? &peer->origin : &nameless;
    if (peer->error)
        shm->host->failed(shm->engine, endpoint, from, peer->error, peer->why);
    else
        shm->host->closed(shm->engine, endpoint, from);
    return events + 1;
}

void pl_shm_peer_free(struct pl_shm_peer *peer)
{
    if (peer->state != PL_SHM_PEER_ENDED) {
        pl_shm_rndv_forget(peer);
        peer_release_memory(peer, false);
    }
    pl_list_remove(&peer->link);
    free((void *)(uintptr_t)peer->origin.card);
    PL_VEC_FINI(&peer->attached);
    free(peer);
}

static bool peer_has_closed(const struct pl_shm_peer *peer)
{
    return atomic_load_explicit(&peer->head->attention, memory_order_acquire) & PL_SHM_CLOSED;
}

/* A peer that has closed its descriptors, as daemons do, lives; but it can make no ring any more to send to us. */
static bool peer_is_gone(const struct pl_shm_peer *peer)
{
    return peer->in.ring ? !pl_shm_region_is_alive(&peer->address, peer->inode)
                         : !pl_shm_region_is_open(&peer->address, peer->inode);
}

static bool peer_is_used(const struct pl_shm_peer *peer)
{
    return peer->connected || peer->held > 0 || peer->rndvs > 0 || peer->attached.count > 0;
}

void pl_shm_peers_check(struct pl_shm *shm)
{
    int64_t now = pl_clock_ns();
    bool due = now - shm->checked > CHECK_NS;
    shm->made = 0;
    shm->host->quiet(shm->engine);
    PL_LIST_EACH(peer, &shm->ended, struct pl_shm_peer, link)
        if (!peer_is_used(peer))
            pl_shm_peer_free(peer);
    if (due) {
        shm->checked = now;
        pl_shm_inbox_clean(shm);
        pl_shm_requests_retry(shm);
    }
    int at = 0, from = shm->asked, end = due ? from + CHECK_PEERS : from;
    PL_LIST_EACH(peer, &shm->peers, struct pl_shm_peer, link) {
        bool dead = at >= from && at < end && peer_is_gone(peer);
        at++;
        if (peer_has_closed(peer)) { /* checked after `dead`: a closed engine has no descriptor either */
            pl_shm_peer_leave(peer, MPI_SUCCESS, NULL);
        } else if (dead && peer->state == PL_SHM_PEER_OPEN) {
            shm->host->fail(MPI_ERR_PROC_ABORTED, "process %d has died", (int)peer->address.pid);
            pl_shm_peer_leave(peer, MPI_ERR_PROC_ABORTED, NULL);
        }
    }
    shm->asked = end < at ? end : 0;
}
