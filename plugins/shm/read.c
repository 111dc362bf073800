/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the rings of others.
 *
 * What has been published may still be changed by a damaged or hostile writer, so every record's word and header are
 * copied, the copies are checked, and only the copies are used. Data is handed on where it lies: all that a writer can
 * do is to send garbage.
 *
 * Up to PL_SHM_POLLS rings are polled: a line each, which stays in the reader's cache until something is written.
 * With more peers polling would touch too many lines for nothing: the writers of the others set a bit in the head,
 * which costs them an atomic operation on a shared line. Now and then a ring that is busy and rung changes places with
 * one that is quiet and polled.
 */
#include <string.h>

#include "core/base/cpu.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/ring.h"

enum {
    RECORDS_AT_ONCE = 64, /* of one ring, before the others have their turn */
    HEAT_PROMOTED = 64,   /* records through the bell after which a ring is worth polling */
};

/* --- which rings are polled ------------------------------------------------------------------------------------ */

static const _Atomic uint32_t *next_sequence(const struct pl_shm_in *in)
{
    return &pl_shm_record_at(in->ring, in->position & in->mask)->sequence;
}

bool pl_shm_in_ready(const struct pl_shm_peer *peer)
{
    return atomic_load_explicit(next_sequence(&peer->in), memory_order_acquire) == pl_shm_sequence(peer->in.position);
}

static void read_point(struct pl_shm_poll *poll, struct pl_shm_peer *peer)
{
    peer->in.poll = poll;
    poll->peer = peer;
    poll->sequence = next_sequence(&peer->in);
    poll->expected = pl_shm_sequence(peer->in.position);
}

/* Several rings share a bit when there are more rings than bits: whoever rings, all of them are looked at. They are
 * chained through `bell_next`. */
static void set_bit_for(struct pl_shm *shm, struct pl_shm_peer *peer)
{
    uint32_t bit = shm->next_bit++ % PL_SHM_RING_BITS;
    peer->in.bit = bit + 1;
    peer->in.bit_next = shm->bit[bit];
    shm->bit[bit] = peer;
    shm->unpolled++;
    atomic_store_explicit(&peer->in.ring->bit, bit + 1, memory_order_relaxed);
    pl_shm_barrier(shm);
    if (pl_shm_in_ready(peer)) /* published before the writer could know that it must ring */
        atomic_fetch_or_explicit(&shm->head->rung[bit / 64], (uint64_t)1 << bit % 64, memory_order_relaxed);
}

static void no_bit_for(struct pl_shm *shm, struct pl_shm_peer *peer)
{
    struct pl_shm_peer **at = &shm->bit[peer->in.bit - 1];
    while (*at != peer)
        at = &(*at)->in.bit_next;
    *at = peer->in.bit_next;
    shm->unpolled--;
    peer->in.bit = 0;
    atomic_store_explicit(&peer->in.ring->bit, 0, memory_order_relaxed);
}

void pl_shm_in_add(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    if (shm->polls < PL_SHM_POLLS)
        read_point(&shm->poll[shm->polls++], peer);
    else
        set_bit_for(shm, peer);
}

void pl_shm_in_remove(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    if (peer->in.bit) {
        no_bit_for(shm, peer);
        return;
    }
    struct pl_shm_poll *last = &shm->poll[--shm->polls];
    if (last != peer->in.poll)
        read_point(peer->in.poll, last->peer);
    peer->in.poll = NULL;
}

/* A rung ring has become busy: poll it instead of the quietest polled one. Heat fades with every change. */
static void read_promote(struct pl_shm *shm, struct pl_shm_peer *peer)
{
    struct pl_shm_poll *quietest = &shm->poll[0];
    for (int i = 0; i < shm->polls; i++) {
        if (shm->poll[i].peer->in.heat < quietest->peer->in.heat)
            quietest = &shm->poll[i];
        shm->poll[i].peer->in.heat /= 2;
    }
    if (shm->polls == PL_SHM_POLLS && quietest->peer->in.heat * 4 > peer->in.heat)
        return;
    no_bit_for(shm, peer);
    if (shm->polls < PL_SHM_POLLS) {
        read_point(&shm->poll[shm->polls++], peer);
        return;
    }
    struct pl_shm_peer *demoted = quietest->peer;
    demoted->in.poll = NULL;
    read_point(quietest, peer);
    set_bit_for(shm, demoted);
}

/* --- records ---------------------------------------------------------------------------------------------------- */

/* Takes one record with `bytes` behind its head. False: it is not allowed. */
static bool read_take(struct pl_shm_peer *peer, struct pl_shm_record *record, enum pl_shm_kind kind, uint32_t bytes)
{
    struct pl_shm *shm = peer->shm;
    struct pl_header header;
    struct pl_shm_rts offer;
    struct pl_shm_control control;
    switch (kind) {
    case PL_SHM_EAGER:
        header = record->header;
        atomic_signal_fence(memory_order_acq_rel); /* checked is what was copied */
        if (header.size != bytes)
            return false;
        shm->host->arrived(shm->engine, &peer->origin, &header, pl_shm_data_of(record, bytes), NULL);
        return true;
    case PL_SHM_RTS:
        if (bytes != sizeof offer)
            return false;
        header = record->header;
        memcpy(&offer, record->few, sizeof offer);
        pl_shm_rndv_arrived(peer, &header, &offer);
        return true;
    case PL_SHM_CTS:
    case PL_SHM_DATA:
    case PL_SHM_FIN:
    case PL_SHM_NACK:
        if (bytes != 0)
            return false;
        control = record->control;
        atomic_signal_fence(memory_order_acq_rel);
        return pl_shm_rndv_control(peer, kind, &control);
    case PL_SHM_PAD: return true;
    }
    return false;
}

/* After reading `records` of them: they may be overwritten. */
static inline void read_on(struct pl_shm_peer *peer, uint32_t records)
{
    struct pl_shm_in *in = &peer->in;
    in->heat += records;
    atomic_store_explicit(&in->ring->read, in->position, memory_order_release);
    pl_shm_notify_room(peer);
}

static inline bool read_fits(const struct pl_header *header, const struct pl_header *wanted, int source, int tag)
{
    return header->home == wanted->home && header->serial == wanted->serial && header->source == source &&
           header->tag == tag && header->kind == wanted->kind && header->flags == wanted->flags;
}

/* In pieces that memcpy() moves through registers. For longer ones it may use an instruction of the processor, which is
 * the best for writing lines that another processor holds, but reads such lines a tenth slower. */
static inline void copy_out(char *to, const unsigned char *from, size_t bytes)
{
    enum { PIECE = 1024 };
    while (bytes > 0) {
        size_t step = bytes < PIECE ? bytes : PIECE;
        memcpy(to, from, step);
        to += step;
        from += step;
        bytes -= step;
    }
}

/* After one record, of this many lines. */
static inline ptrdiff_t go_on(struct pl_shm_peer *peer, uint32_t lines, size_t size)
{
    peer->in.position += lines;
    read_point(peer->in.poll, peer);
    read_on(peer, 1);
    return (ptrdiff_t)size;
}

static __attribute__((noinline)) ptrdiff_t take_lines(struct pl_shm_peer *peer, const struct pl_shm_record *record,
                                                      void *buffer, size_t size)
{
    uint32_t lines = pl_shm_record_lines(size), mask = peer->in.mask;
    if (size >= PL_SHM_MAX_RECORD || lines > mask + 1 - (peer->in.position & mask))
        return PL_PENDING;
    copy_out(buffer, record->data, size);
    return go_on(peer, lines, size);
}

static __attribute__((noinline)) ptrdiff_t wait_and_take(struct pl_endpoint *endpoint, const struct pl_header *wanted,
                                                         int source, int tag, int polls, void *buffer, size_t room)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    if (polls > 1 && peer->out.ahead)
        pl_shm_get_hold_ahead(&peer->out);
    while (!pl_shm_in_ready(peer)) {
        if (--polls <= 0)
            return PL_AGAIN;
        pl_relax();
    }
    return pl_shm_take_next(endpoint, wanted, source, tag, 1, buffer, room);
}

/* The one record in which a receive finds what it waits for. Everything else is left to pl_shm_read(), also whatever is
 * not allowed. A ring that is not polled is not for short ways: its bit is set for every record in any case. */
ptrdiff_t pl_shm_take_next(struct pl_endpoint *endpoint, const struct pl_header *wanted, int source, int tag, int polls,
                           void *buffer, size_t room)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    struct pl_shm_in *in = &peer->in;
    if (pl_shm_unlikely(!in->poll || !pl_list_empty(&peer->shm->active)))
        return PL_PENDING;
    struct pl_shm_record *record = pl_shm_record_at(in->ring, in->position & in->mask);
    if (atomic_load_explicit(&record->sequence, memory_order_acquire) != pl_shm_sequence(in->position))
        return wait_and_take(endpoint, wanted, source, tag, polls, buffer, room);
    /* Nothing but the size is used that was read, and that was read once. */
    size_t size = atomic_load_explicit(&record->word, memory_order_relaxed) - PL_SHM_WORD(PL_SHM_EAGER, 0);
    if (size > room || size != record->header.size || !read_fits(&record->header, wanted, source, tag))
        return PL_PENDING;
    if (size > PL_SHM_INLINE)
        return take_lines(peer, record, buffer, size);
    pl_shm_copy_few(buffer, record->few, size);
    return go_on(peer, 1, size);
}

/* Reads what has come, up to a limit. Returns the number of records. */
int pl_shm_read(struct pl_shm_peer *peer)
{
    struct pl_shm_in *in = &peer->in;
    int records = 0;
    while (records < RECORDS_AT_ONCE && !peer->damaged && pl_shm_in_ready(peer)) {
        uint32_t line = in->position & in->mask;
        struct pl_shm_record *record = pl_shm_record_at(in->ring, line);
        uint32_t word = atomic_load_explicit(&record->word, memory_order_relaxed);
        uint32_t bytes = word & (PL_SHM_MAX_RECORD - 1), lines = pl_shm_record_lines(bytes);
        if (lines > in->mask + 1 - line || !read_take(peer, record, (enum pl_shm_kind)(word >> 24), bytes)) {
            pl_shm_peer_damaged(peer, "its ring holds a record that cannot be");
            break;
        }
        in->position += lines;
        records++;
    }
    if (records > 0)
        read_on(peer, (uint32_t)records);
    return records;
}

int pl_shm_read_polled(struct pl_shm *shm)
{
    int records = 0;
    for (int i = 0; i < shm->polls; i++) {
        struct pl_shm_poll *poll = &shm->poll[i];
        if (atomic_load_explicit(poll->sequence, memory_order_relaxed) != poll->expected)
            continue;
        records += pl_shm_read(poll->peer);
        read_point(poll, poll->peer);
    }
    return records;
}

static int read_bit(struct pl_shm *shm, uint32_t bit)
{
    int records = 0;
    for (struct pl_shm_peer *peer = shm->bit[bit], *next; peer; peer = next) {
        next = peer->in.bit_next;
        int taken = pl_shm_read(peer);
        records += taken;
        if (taken == RECORDS_AT_ONCE) /* there may be more: nobody will ring for it again */
            atomic_fetch_or_explicit(&shm->head->rung[bit / 64], (uint64_t)1 << bit % 64, memory_order_relaxed);
        if (peer->in.heat >= HEAT_PROMOTED && peer->life == PL_SHM_OPEN)
            read_promote(shm, peer);
    }
    return records;
}

int pl_shm_read_rung(struct pl_shm *shm)
{
    int records = 0;
    for (uint32_t word = 0; word < PL_SHM_RING_BITS / 64; word++) {
        if (!atomic_load_explicit(&shm->head->rung[word], memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange_explicit(&shm->head->rung[word], 0, memory_order_acquire);
        for (; bits; bits &= bits - 1)
            records += read_bit(shm, word * 64 + (uint32_t)__builtin_ctzll(bits));
    }
    return records;
}
