/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory that stays mapped for the next use. See share.h. */
#include "plugins/shm/share.h"

#include <string.h>

/* --- of this process's region ------------------------------------------------------------------------------------- */

static struct pl_shm_span kept_remove(struct pl_shm_kept *kept, int at)
{
    struct pl_shm_span span = kept->span[at];
    kept->bytes -= span.bytes;
    kept->count--;
    memmove(&kept->span[at], &kept->span[at + 1], (size_t)(kept->count - at) * sizeof span);
    return span;
}

static bool kept_take(struct pl_shm_kept *kept, size_t bytes, struct pl_shm_span *span)
{
    bytes = pl_shm_region_round_up(bytes);
    for (int i = kept->count - 1; i >= 0; i--)
        if (kept->span[i].bytes == bytes) {
            *span = kept_remove(kept, i);
            return true;
        }
    return false;
}

/* The oldest ones make room. */
static void kept_add(struct pl_shm *shm, const struct pl_shm_span *span)
{
    struct pl_shm_kept *kept = &shm->kept;
    while (kept->count == PL_SHM_KEPT_SPANS || kept->bytes + span->bytes > PL_SHM_KEPT_TOTAL) {
        struct pl_shm_span oldest = kept_remove(kept, 0);
        pl_shm_span_release(&shm->region, &oldest, true);
    }
    kept->span[kept->count++] = *span;
    kept->bytes += span->bytes;
}

int pl_shm_share(void *self, size_t bytes, struct pl_shared *shared)
{
    struct pl_shm *shm = self;
    struct pl_shm_span span;
    if (!kept_take(&shm->kept, bytes, &span)) {
        int rc = pl_shm_span_create(&shm->region, shm->host, bytes, &span);
        if (rc)
            return rc;
    }
    *shared =
        (struct pl_shared){ .place = span.offset, .bytes = span.bytes, .written = span.bytes, .memory = span.memory };
    return MPI_SUCCESS;
}

void pl_shm_unshare(void *self, struct pl_shared *shared, bool reuse)
{
    struct pl_shm *shm = self;
    struct pl_shm_span span = { .offset = shared->place, .bytes = shared->bytes, .memory = shared->memory };
    if (reuse && span.memory && span.bytes <= PL_SHM_KEPT_BYTES) {
        memset(span.memory, 0, shared->written);
        kept_add(shm, &span);
    } else {
        pl_shm_span_release(&shm->region, &span, reuse);
    }
    shared->memory = NULL;
}

void pl_shm_kept_fini(struct pl_shm *shm)
{
    while (shm->kept.count > 0) {
        struct pl_shm_span span = kept_remove(&shm->kept, 0);
        pl_shm_span_release(&shm->region, &span, false);
    }
}

/* --- of peers' regions -------------------------------------------------------------------------------------------- */

/* -1: there is none. */
static int attached_find_kept(const struct pl_shm_peer *peer, uint64_t place, size_t bytes)
{
    for (int i = (int)peer->attached.count - 1; i >= 0; i--) {
        const struct pl_shm_attached *at = &peer->attached.items[i];
        if (!at->in_use && at->place == place && at->bytes == bytes)
            return i;
    }
    return -1;
}

static int attached_find(const struct pl_shm_peer *peer, const void *memory)
{
    for (int i = (int)peer->attached.count - 1; i >= 0; i--)
        if (peer->attached.items[i].memory == memory)
            return i;
    return -1;
}

static void attached_unmap(struct pl_shm_peer *peer, int at)
{
    pl_shm_region_unmap(peer->attached.items[at].memory, peer->attached.items[at].bytes);
    PL_VEC_REMOVE(&peer->attached, (size_t)at);
}

/* The first ones make room: those that were mapped earlier. */
static void attached_keep(struct pl_shm_peer *peer, int at)
{
    int kept = 0, first = -1;
    for (int i = (int)peer->attached.count - 1; i >= 0; i--)
        if (!peer->attached.items[i].in_use) {
            kept++;
            first = i;
        }
    peer->attached.items[at].in_use = false;
    if (kept == PL_SHM_KEPT_SPANS)
        attached_unmap(peer, first);
}

int pl_shm_attach(struct pl_endpoint *owner, uint64_t place, size_t bytes, void **memory)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)owner;
    size_t whole = pl_shm_region_round_up(bytes);
    int at = attached_find_kept(peer, place, whole);
    if (at >= 0) {
        peer->attached.items[at].in_use = true;
        *memory = peer->attached.items[at].memory;
        return MPI_SUCCESS;
    }
    int rc = pl_shm_region_map(peer->shm->host, &peer->address, place, bytes, &peer->inode, memory);
    /* One that is not in the list, for its size or for lack of memory, is unmapped when it is detached. */
    struct pl_shm_attached *made = rc || whole > PL_SHM_KEPT_BYTES ? NULL : PL_VEC_PUSH(&peer->attached);
    if (made)
        *made = (struct pl_shm_attached){ place, whole, *memory, true };
    return rc;
}

void pl_shm_detach(struct pl_endpoint *owner, void *memory, size_t bytes)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)owner;
    int at = attached_find(peer, memory);
    if (at < 0)
        pl_shm_region_unmap(memory, bytes);
    else if (peer->state == PL_SHM_PEER_ENDED)
        attached_unmap(peer, at);
    else
        attached_keep(peer, at);
}

void pl_shm_attached_release(struct pl_shm_peer *peer)
{
    for (int i = (int)peer->attached.count - 1; i >= 0; i--)
        if (!peer->attached.items[i].in_use)
            attached_unmap(peer, i);
}
