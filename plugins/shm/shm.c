/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport: opening, closing, sending, progress. docs/SHM.md describes the design, layout.h the shared
 * memory. */
#include "plugins/shm/shm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/base/far_copy.h"
#include "core/base/memory.h"
#include "plugins/shm/cma.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/fifo.h"
#include "plugins/shm/inbox.h"
#include "plugins/shm/ring.h"
#include "plugins/shm/ring_read.h"
#include "plugins/shm/rndv.h"
#include "plugins/shm/share.h"
#include "plugins/shm/shm_peer.h"

enum {
    RING_MIN = 4 << 10,
    RING_MAX = 4 << 20, /* bytes */
};

/* --- open and close --------------------------------------------------------------------------------------------- */

static void shm_configure(struct pl_shm *shm)
{
    long ring = shm->host->config_long("shm_ring"), eager = shm->host->config_long("shm_eager");
    const char *rndv = shm->host->config_text("shm_rndv");
    uint32_t bytes = RING_MIN;
    while (bytes < ring && bytes < RING_MAX)
        bytes *= 2;
    shm->lines = bytes / PL_SHM_LINE;
    shm->eager = eager < 0 ? 0 : eager < bytes / 4 ? (uint32_t)eager : bytes / 4;
    shm->rndv = strcmp(rndv, "copy") == 0  ? PL_SHM_RNDV_COPY
                : strcmp(rndv, "cma") == 0 ? PL_SHM_RNDV_CMA
                                           : PL_SHM_RNDV_AUTO;
}

static int shm_make_head(struct pl_shm *shm)
{
    const struct pl_transport_host *host = shm->host;
    int rc = pl_shm_region_open(&shm->region, host);
    if (rc)
        return rc;
    rc = pl_shm_span_create(&shm->region, host, sizeof *shm->head, &shm->span);
    if (rc)
        goto close_region;
    uint64_t cookie;
    if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie) {
        rc = host->fail(PL_UNREACHABLE, "transport shm: no random numbers: %s", strerror(errno));
        goto close_region;
    }
    shm->address = (struct pl_shm_address){
        .cookie = cookie, .engine = host->engine_id(shm->engine), .pid = getpid(), .fd = shm->region.fd
    };
    shm->head = shm->span.memory;
    shm->head->magic = PL_SHM_MAGIC;
    shm->head->version = PL_SHM_VERSION;
    shm->head->bytes = sizeof *shm->head;
    shm->head->cookie = cookie;
    shm->head->engine = shm->address.engine;
    return MPI_SUCCESS;

close_region:
    pl_shm_span_release(&shm->region, &shm->span, false);
    pl_shm_region_close(&shm->region);
    return rc;
}

static int shm_open(struct pl_engine *engine, const struct pl_transport_host *host, void **self)
{
    struct pl_shm *shm = pl_calloc(1, sizeof *shm);
    if (!shm)
        return host->fail(MPI_ERR_NO_MEM, "out of memory for transport shm");
    shm->engine = engine;
    shm->host = host;
    pl_list_init(&shm->peers);
    pl_list_init(&shm->ended);
    pl_list_init(&shm->active);
    pl_list_init(&shm->fifos);
    shm_configure(shm);
    int rc = shm_make_head(shm);
    if (rc) {
        free(shm);
        return rc;
    }
    pl_shm_barrier_open(shm);
    *self = shm;
    return MPI_SUCCESS;
}

static void shm_close(void *self)
{
    struct pl_shm *shm = self;
    /* A peer that sees CLOSED uses the memory of its ring for something else: nothing may be written there any more. */
    PL_LIST_EACH(peer, &shm->peers, struct pl_shm_peer, link)
        pl_shm_peer_abandon_ring(peer);
    atomic_fetch_or_explicit(&shm->head->attention, PL_SHM_CLOSED, memory_order_release);
    PL_LIST_EACH(peer, &shm->peers, struct pl_shm_peer, link) {
        pl_shm_notify_other(peer); /* it may wait for us to read on */
        pl_shm_peer_free(peer);
    }
    PL_LIST_EACH(peer, &shm->ended, struct pl_shm_peer, link)
        pl_shm_peer_free(peer);
    pl_shm_fifos_close(shm);
    pl_shm_tokens_fini(&shm->tokens);
    pl_shm_kept_fini(shm);
    pl_shm_span_release(&shm->region, &shm->span, false);
    pl_shm_region_close(&shm->region);
    free(shm);
}

static int shm_address(void *self, void *buffer, size_t capacity, size_t *length)
{
    const struct pl_shm *shm = self;
    if (capacity < sizeof shm->address)
        return shm->host->fail(MPI_ERR_INTERN, "transport shm: its address takes %zu bytes, there is space for %zu",
                               sizeof shm->address, capacity);
    memcpy(buffer, &shm->address, sizeof shm->address);
    *length = sizeof shm->address;
    return MPI_SUCCESS;
}

static int shm_connect(void *self, const void *address, size_t length, struct pl_peer *engine_peer,
                       struct pl_endpoint **endpoint)
{
    struct pl_shm *shm = self;
    struct pl_shm_address to;
    struct pl_shm_peer *peer;
    if (length != sizeof to)
        return shm->host->fail(PL_UNREACHABLE, "transport shm: an address has %zu bytes, not %zu", sizeof to, length);
    memcpy(&to, address, sizeof to);
    int rc = pl_shm_peer_get(shm, &to, &peer);
    if (rc)
        return rc;
    peer->endpoint.peer = engine_peer;
    peer->connected = true;
    peer->given_up = false;
    *endpoint = &peer->endpoint;
    return MPI_SUCCESS;
}

/* The peer object stays: the peer may be sending to us. */
static void shm_disconnect(struct pl_endpoint *endpoint)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    peer->connected = false;
    peer->given_up = true;
    pl_shm_rndv_give_up(peer);
}

/* --- sending ---------------------------------------------------------------------------------------------------- */

/* A record found no space: the ring is full, was not created yet, or the peer is leaving. MPI_SUCCESS: there is space
 * now. */
static PL_NOINLINE int send_make_space(struct pl_shm_peer *peer)
{
    const struct pl_transport_host *host = peer->shm->host;
    if (peer->state != PL_SHM_PEER_OPEN)
        return peer->error ? host->fail(peer->error, "process %d has gone", (int)peer->address.pid)
                           : PL_SHM_PEER_CLOSED;
    if (peer->out.ring)
        return PL_AGAIN;
    return pl_shm_peer_open_ring(peer);
}

static inline void shm_fill_header(struct pl_shm_record *record, const struct pl_header *header, int tag, size_t size)
{
    record->header = *header;
    record->header.tag = tag;
    record->header.size = size;
}

/* Short records, whose lines were prefetched for writing, are copied in chunks that memcpy() moves through registers.
 * For longer data it may use an instruction (`rep movsb`) that fetches lines by itself, and first waits until
 * everything before it is done, also the reading of an answer. */
static inline void shm_copy_in(unsigned char *to, const unsigned char *from, size_t bytes)
{
    enum { CHUNK = 1024 };
    if (bytes >= PL_SHM_AHEAD_MAX * PL_SHM_LINE) {
        pl_far_copy(to, from, bytes);
        return;
    }
    for (size_t step; bytes > 0; bytes -= step, to += step, from += step) {
        step = bytes < CHUNK ? bytes : CHUNK;
        pl_copy_short(to, from, step);
    }
}

/* The head is written last: the reader polls its line, and would take it away while the data is written. */
static PL_NOINLINE bool shm_send_lines(struct pl_shm_peer *peer, const struct pl_header *header, int tag, size_t size,
                                       const void *data)
{
    uint32_t lines = pl_shm_record_lines(size);
    struct pl_shm_record *record = size <= peer->shm->eager ? pl_shm_reserve(&peer->out, size) : NULL;
    if (!record)
        return false;
    shm_copy_in(pl_shm_data_of(record, size), data, size);
    shm_fill_header(record, header, tag, size);
    pl_shm_publish(&peer->out, record, PL_SHM_EAGER, size);
    pl_shm_notify(peer);
    peer->out.ahead = lines <= PL_SHM_AHEAD_MAX ? lines : 0;
    return true;
}

static PL_NOINLINE bool shm_notified(struct pl_shm_peer *peer)
{
    pl_shm_notify_slow(peer, true);
    return true;
}

/* Sends a record of one line if nothing has to be done beforehand. All calls are tail calls, so that this function
 * saves no registers. */
static bool shm_send_now(struct pl_endpoint *endpoint, const struct pl_header *header, int tag, size_t size,
                         const void *data)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    struct pl_shm_out *out = &peer->out;
    if (size > PL_SHM_INLINE || size > peer->shm->eager || out->limit == out->tail ||
        pl_shm_is_stale(out, out->tail + 1))
        return shm_send_lines(peer, header, tag, size, data);
    struct pl_shm_record *record = pl_shm_record_at(out->ring, out->tail & out->mask);
    shm_fill_header(record, header, tag, size);
    pl_shm_copy_inline(record->inline_data, data, size);
    pl_shm_commit(out, record, PL_SHM_EAGER, size, 1);
    return pl_unlikely(pl_shm_wants_notify(peer)) ? shm_notified(peer) : true;
}

static int shm_send_eager(struct pl_shm_peer *peer, struct pl_outgoing *message)
{
    size_t size = message->header.size;
    const void *data = pl_cursor_direct(&message->data);
    if (pl_likely(data && size <= peer->shm->eager)) {
        bool sent = shm_send_now(&peer->endpoint, &message->header, message->header.tag, size, data);
        return sent ? MPI_SUCCESS : PL_AGAIN;
    }
    struct pl_shm_record *record = pl_shm_reserve(&peer->out, size);
    if (pl_unlikely(!record))
        return PL_AGAIN;
    pl_shm_pack(peer->shm->host, &message->data, pl_shm_data_of(record, size), size);
    record->header = message->header;
    pl_shm_publish(&peer->out, record, PL_SHM_EAGER, size);
    pl_shm_notify(peer);
    return MPI_SUCCESS;
}

static int shm_send(struct pl_endpoint *endpoint, struct pl_outgoing *message)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    bool eager = pl_message_is_eager(&message->header, peer->shm->eager);
    int rc = eager ? shm_send_eager(peer, message) : pl_shm_rndv_send_rts(peer, message);
    if (pl_likely(rc != PL_AGAIN))
        return rc;
    rc = send_make_space(peer);
    if (rc == PL_SHM_PEER_CLOSED)
        return MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return rc;
    return eager ? shm_send_eager(peer, message) : pl_shm_rndv_send_rts(peer, message);
}

/* --- progress --------------------------------------------------------------------------------------------------- */

static int shm_progress_active(struct pl_shm *shm)
{
    int events = 0;
    PL_LIST_EACH(peer, &shm->active, struct pl_shm_peer, active) {
        if (peer->state == PL_SHM_PEER_LEAVING) {
            events += pl_shm_peer_end(peer);
            continue;
        }
        events += pl_shm_request_progress(peer);
        events += pl_shm_rndv_progress(peer);
        if (peer->state == PL_SHM_PEER_OPEN && !pl_shm_rndv_is_active(peer) && (!peer->out.ring || peer->out.accepted))
            pl_list_remove(&peer->active);
    }
    return events;
}

static int shm_progress(void *self)
{
    struct pl_shm *shm = self;
    int events = 0;
    if (pl_unlikely(atomic_load_explicit(&shm->head->requests, memory_order_relaxed) != shm->requests))
        events += pl_shm_requests_accept(shm);
    events += pl_shm_read_polled(shm);
    if (shm->unpolled > 0)
        events += pl_shm_read_unpolled(shm);
    if (!pl_list_empty(&shm->active))
        events += shm_progress_active(shm);
    if (pl_unlikely(events == 0 && ++shm->idle % PL_SHM_ROUNDS == 0))
        pl_shm_peers_check(shm);
    return events;
}

static void shm_ring(struct pl_endpoint *endpoint)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    if (peer->state == PL_SHM_PEER_OPEN)
        pl_shm_notify_other(peer);
}

/* --- the end of what was sent ------------------------------------------------------------------------------------- */

static bool shm_peer_flushed(const struct pl_shm_peer *peer)
{
    const struct pl_shm_out *out = &peer->out;
    if (!out->ring || peer->given_up ||
        atomic_load_explicit(&peer->head->attention, memory_order_acquire) & PL_SHM_CLOSED)
        return true;
    return atomic_load_explicit(&out->ring->state, memory_order_acquire) == PL_SHM_RING_ACCEPTED &&
           atomic_load_explicit(&out->ring->read, memory_order_acquire) == out->tail && pl_list_empty(&out->controls) &&
           pl_list_empty(&peer->rts_sent) && pl_list_empty(&peer->filling) && pl_shm_fifo_flushed(peer);
}

static bool shm_flushed(void *self)
{
    struct pl_shm *shm = self;
    PL_LIST_EACH(peer, &shm->peers, struct pl_shm_peer, link)
        if (!shm_peer_flushed(peer))
            return false;
    return true;
}

const struct pl_transport_ops pl_transport_shm = {
    .abi = PL_TRANSPORT_ABI,
    .name = "shm",
    .open = shm_open,
    .close = shm_close,
    .address = shm_address,
    .connect = shm_connect,
    .disconnect = shm_disconnect,
    .send = shm_send,
    .send_now = shm_send_now,
    .take_next = pl_shm_take_next,
    .fetch = pl_shm_rndv_fetch,
    .drop = pl_shm_rndv_drop,
    .withdraw = pl_shm_rndv_withdraw,
    .progress = shm_progress,
    .share = pl_shm_share,
    .unshare = pl_shm_unshare,
    .attach = pl_shm_attach,
    .detach = pl_shm_detach,
    .ring = shm_ring,
    .cma = pl_shm_cma_copy,
    .flushed = shm_flushed,
    .arm = pl_shm_arm,
    .sleep = pl_shm_sleep,
    .disarm = pl_shm_disarm,
    .wake = pl_shm_wake,
};
