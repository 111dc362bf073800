/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection requests: ours in the inboxes of peers, and theirs in ours. */
#include "plugins/shm/inbox.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/ring_read.h"
#include "plugins/shm/shm_peer.h"

static pid_t slot_pid(uint64_t slot)
{
    return (pid_t)(slot >> 8);
}

static enum pl_shm_slot slot_state(uint64_t slot)
{
    return (enum pl_shm_slot)(slot & 0xff);
}

/* --- our requests ----------------------------------------------------------------------------------------------- */

static int inbox_claim(struct pl_shm_head *head, int32_t pid)
{
    for (int i = 0; i < PL_SHM_INBOX; i++) {
        int slot = (pid + i) % PL_SHM_INBOX;
        uint64_t vacant = PL_SHM_SLOT(0, PL_SHM_SLOT_FREE);
        if (atomic_compare_exchange_strong_explicit(&head->slot[slot], &vacant, PL_SHM_SLOT(pid, PL_SHM_SLOT_CLAIMED),
                                                    memory_order_acquire, memory_order_relaxed))
            return slot;
    }
    return -1;
}

bool pl_shm_request_post(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_head *head = peer->head;
    int slot = inbox_claim(head, shm->address.pid);
    if (slot < 0)
        return false;
    struct pl_shm_request *request = &head->request[slot];
    size_t card_length;
    const void *card = shm->host->engine_card(shm->engine, &card_length);
    request->from = shm->address;
    request->ring = peer->out.span.offset;
    request->lines = peer->out.mask + 1;
    request->card_length = (uint32_t)card_length;
    memcpy(request->card, card, card_length);
    atomic_store_explicit(&head->slot[slot], PL_SHM_SLOT(shm->address.pid, PL_SHM_SLOT_READY), memory_order_release);
    atomic_fetch_add_explicit(&head->requests, 1, memory_order_release);
    peer->out.slot = slot;
    pl_shm_notify_other(peer);
    return true;
}

int pl_shm_request_progress(struct pl_shm_peer *peer)
{
    struct pl_shm_out *out = &peer->out;
    if (!out->ring || out->accepted)
        return 0;
    if (out->slot < 0)
        return pl_shm_request_post(peer);
    if (atomic_load_explicit(&out->ring->state, memory_order_acquire) == PL_SHM_RING_ACCEPTED) {
        out->accepted = true;
        return 1;
    }
    _Atomic uint64_t *slot = &peer->head->slot[out->slot];
    uint64_t refused = PL_SHM_SLOT(peer->shm->address.pid, PL_SHM_SLOT_REFUSED);
    if (atomic_compare_exchange_strong_explicit(slot, &refused, PL_SHM_SLOT(0, PL_SHM_SLOT_FREE), memory_order_acq_rel,
                                                memory_order_relaxed)) {
        peer->shm->host->fail(MPI_ERR_OTHER, "process %d cannot read the shared memory of this one",
                              (int)peer->address.pid);
        pl_shm_peer_leave(peer, MPI_ERR_OTHER, "its process cannot read this one's shared memory");
        return 1;
    }
    return 0;
}

/* --- the peers' requests ---------------------------------------------------------------------------------------- */

static bool request_is_sound(const struct pl_shm_request *request)
{
    return request->card_length <= PL_CARD_MAX && request->lines >= 4 &&
           request->lines <= PL_SHM_MAX_RECORD / PL_SHM_LINE && (request->lines & (request->lines - 1)) == 0;
}

/* Maps the caller's ring, which lies in the memory that it names. */
static int inbox_map_ring(struct pl_shm *shm, const struct pl_shm_request *request, struct pl_shm_peer *peer,
                          struct pl_shm_ring **ring)
{
    void *memory;
    size_t bytes = sizeof **ring + (size_t)request->lines * PL_SHM_LINE;
    int rc = pl_shm_region_map(shm->host, &request->from, request->ring, bytes, &peer->inode, &memory);
    if (rc)
        return rc;
    *ring = memory;
    if ((*ring)->cookie == shm->address.cookie && (*ring)->lines == request->lines)
        return MPI_SUCCESS;
    pl_shm_region_unmap(memory, bytes);
    return shm->host->fail(PL_UNREACHABLE, "transport shm: there is no ring where process %d names one",
                           (int)request->from.pid);
}

/* Starts to read the caller's ring. */
static int inbox_accept(struct pl_shm *shm, const struct pl_shm_request *request)
{
    struct pl_shm_peer *peer;
    if (!request_is_sound(request))
        return shm->host->fail(PL_UNREACHABLE, "transport shm: a connection request is damaged");
    int rc = pl_shm_peer_get(shm, &request->from, &peer);
    if (rc)
        return rc;
    if (peer->in.ring || peer->state != PL_SHM_PEER_OPEN)
        return shm->host->fail(PL_UNREACHABLE, "transport shm: process %d connects a second time",
                               (int)request->from.pid);

    void *card = pl_malloc(request->card_length + 1);
    if (!card)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for an address card");
    memcpy(card, request->card, request->card_length);
    struct pl_shm_ring *ring;
    rc = inbox_map_ring(shm, request, peer, &ring);
    if (rc) {
        free(card);
        return rc;
    }
    peer->in.ring = ring;
    peer->in.mask = request->lines - 1;
    peer->origin = (struct pl_origin){
        .engine = request->from.engine, .card = card, .card_length = request->card_length, .held = &peer->held
    };
    pl_shm_read_start(peer);
    atomic_store_explicit(&ring->state, PL_SHM_RING_ACCEPTED, memory_order_release);
    return MPI_SUCCESS;
}

/* Short of memory or descriptors: the request stays, and is tried again when the peers are checked next. */
static bool inbox_postpones(struct pl_shm *shm, int slot, int rc)
{
    bool again = rc == MPI_ERR_NO_MEM && shm->postponed[slot] < PL_SHM_POSTPONED_MAX;
    shm->postponed[slot] = again ? (uint8_t)(shm->postponed[slot] + 1) : 0;
    return again;
}

int pl_shm_requests_accept(struct pl_shm *shm)
{
    struct pl_shm_head *head = shm->head;
    int taken = 0;
    shm->requests = atomic_load_explicit(&head->requests, memory_order_acquire);
    for (int i = 0; i < PL_SHM_INBOX; i++) {
        uint64_t slot = atomic_load_explicit(&head->slot[i], memory_order_acquire);
        if (slot_state(slot) != PL_SHM_SLOT_READY)
            continue;
        struct pl_shm_request request = head->request[i];
        atomic_signal_fence(memory_order_acq_rel);
        int rc = inbox_accept(shm, &request);
        if (inbox_postpones(shm, i, rc))
            continue;
        if (rc) {
            shm->host->log("shm", 1, "refused a connection from process %d", (int)request.from.pid);
            shm->host->failed(shm->engine, NULL, &(struct pl_origin){ .engine = request.from.engine },
                              rc == MPI_ERR_NO_MEM ? rc : MPI_ERR_PROC_ABORTED,
                              rc == MPI_ERR_NO_MEM ? "out of memory for a connection"
                                                   : "its shared memory cannot be read; it may have ended");
        }
        atomic_store_explicit(&head->slot[i],
                              rc ? PL_SHM_SLOT(slot_pid(slot), PL_SHM_SLOT_REFUSED) : PL_SHM_SLOT(0, PL_SHM_SLOT_FREE),
                              memory_order_release);
        taken++;
    }
    return taken;
}

int pl_shm_requests_retry(struct pl_shm *shm)
{
    for (int i = 0; i < PL_SHM_INBOX; i++)
        if (shm->postponed[i] > 0)
            return pl_shm_requests_accept(shm);
    return 0;
}

void pl_shm_inbox_clean(struct pl_shm *shm)
{
    for (int i = 0; i < PL_SHM_INBOX; i++) {
        uint64_t slot = atomic_load_explicit(&shm->head->slot[i], memory_order_relaxed);
        enum pl_shm_slot state = slot_state(slot);
        if (state == PL_SHM_SLOT_FREE || state == PL_SHM_SLOT_READY)
            continue;
        if (slot_pid(slot) > 0 && (kill(slot_pid(slot), 0) == 0 || errno != ESRCH))
            continue;
        atomic_compare_exchange_strong_explicit(&shm->head->slot[i], &slot, PL_SHM_SLOT(0, PL_SHM_SLOT_FREE),
                                                memory_order_acq_rel, memory_order_relaxed);
    }
}
