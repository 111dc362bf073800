/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the rings of other engines. */
#include "plugins/shm/ring_read.h"

#include <string.h>

#include "core/base/cpu.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/ring.h"
#include "plugins/shm/rndv.h"
#include "plugins/shm/shm_peer.h"

enum {
    RECORDS_AT_ONCE = 64, /* of one ring, before the other rings have their turn */
    HEAT_TO_POLL = 64,    /* records found by a ready bit after which a ring is worth polling */
    STREAM = 16,          /* records in a streak after which the next one may well be there, too */
    STREAM_POLLS = 8,     /* a receive waits that long for it, some 0.2 us, before it is posted */
    STREAM_SHARE = 8,     /* records of a stream for each line that this side sends meanwhile, at least */
};

/* --- which rings are polled ------------------------------------------------------------------------------------ */

static const _Atomic uint32_t *read_next_sequence(const struct pl_shm_in *in)
{
    return &pl_shm_record_at(in->ring, in->position & in->mask)->sequence;
}

bool pl_shm_read_has_record(const struct pl_shm_peer *peer)
{
    return atomic_load_explicit(read_next_sequence(&peer->in), memory_order_acquire) ==
           pl_shm_sequence(peer->in.position);
}

static void read_poll_at(struct pl_shm_poll *poll, struct pl_shm_peer *peer)
{
    peer->in.poll = poll;
    poll->peer = peer;
    poll->sequence = read_next_sequence(&peer->in);
    poll->expected = pl_shm_sequence(peer->in.position);
}

/* Several rings share a bit when there are more rings than bits: all of them are read when it is set. */
static void read_assign_bit(struct pl_shm *shm, struct pl_shm_peer *peer)
{
    uint32_t bit = shm->next_bit++ % PL_SHM_READY_BITS;
    peer->in.ready_bit = bit + 1;
    peer->in.same_bit = shm->by_bit[bit];
    shm->by_bit[bit] = peer;
    shm->unpolled++;
    atomic_store_explicit(&peer->in.ring->ready_bit, bit + 1, memory_order_relaxed);
    pl_shm_barrier(shm);
    if (pl_shm_read_has_record(peer)) /* published before the writer could see its ready bit */
        atomic_fetch_or_explicit(&shm->head->ready[bit / 64], (uint64_t)1 << bit % 64, memory_order_relaxed);
}

static void read_withdraw_bit(struct pl_shm *shm, struct pl_shm_peer *peer)
{
    struct pl_shm_peer **at = &shm->by_bit[peer->in.ready_bit - 1];
    while (*at != peer)
        at = &(*at)->in.same_bit;
    *at = peer->in.same_bit;
    shm->unpolled--;
    peer->in.ready_bit = 0;
    atomic_store_explicit(&peer->in.ring->ready_bit, 0, memory_order_relaxed);
}

void pl_shm_read_start(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    if (shm->polls < PL_SHM_POLLS)
        read_poll_at(&shm->poll[shm->polls++], peer);
    else
        read_assign_bit(shm, peer);
}

void pl_shm_read_stop(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    if (peer->in.ready_bit) {
        read_withdraw_bit(shm, peer);
        return;
    }
    struct pl_shm_poll *last = &shm->poll[--shm->polls];
    if (last != peer->in.poll)
        read_poll_at(peer->in.poll, last->peer);
    peer->in.poll = NULL;
}

/* An unpolled ring has become busy: polls it instead of the quietest polled one. Each call halves the others' heat. */
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
    read_withdraw_bit(shm, peer);
    if (shm->polls < PL_SHM_POLLS) {
        read_poll_at(&shm->poll[shm->polls++], peer);
        return;
    }
    struct pl_shm_peer *demoted = quietest->peer;
    demoted->in.poll = NULL;
    read_poll_at(quietest, peer);
    read_assign_bit(shm, demoted);
}

/* --- records ---------------------------------------------------------------------------------------------------- */

/* Handles one record with `bytes` behind its head. `more`: may the engine wait for the next one? False: the record is
 * not allowed. */
static bool read_record(struct pl_shm_peer *peer, struct pl_shm_record *record, enum pl_shm_kind kind, uint32_t bytes,
                        bool *more)
{
    struct pl_shm *shm = peer->shm;
    struct pl_header header;
    struct pl_shm_rts rts;
    struct pl_shm_control control;
    switch (kind) {
    case PL_SHM_EAGER:
        header = record->header;
        atomic_signal_fence(memory_order_acq_rel); /* check the copy */
        if (header.size != bytes)
            return false;
        *more = shm->host->arrived(shm->engine, &peer->origin, &header, pl_shm_data_of(record, bytes), NULL);
        return true;
    case PL_SHM_RTS:
        if (bytes != sizeof rts)
            return false;
        header = record->header;
        memcpy(&rts, record->inline_data, sizeof rts);
        *more = pl_shm_rndv_rts_arrived(peer, &header, &rts);
        return true;
    case PL_SHM_CTS:
    case PL_SHM_DATA:
    case PL_SHM_FIN:
    case PL_SHM_NACK:
        if (bytes != 0)
            return false;
        control = record->control;
        atomic_signal_fence(memory_order_acq_rel);
        return pl_shm_rndv_control_arrived(peer, kind, &control);
    case PL_SHM_PAD: return true;
    }
    return false;
}

/* Publishes that records were read, so that the writer may overwrite them. */
static inline void read_advance(struct pl_shm_peer *peer, uint32_t records)
{
    struct pl_shm_in *in = &peer->in;
    in->heat += records;
    atomic_store_explicit(&in->ring->read, in->position, memory_order_release);
    pl_shm_notify_space(peer);
}

static inline bool read_matches(const struct pl_header *header, const struct pl_header *wanted, int source, int tag)
{
    return header->home == wanted->home && header->serial == wanted->serial && header->source == source &&
           header->tag == tag && header->kind == wanted->kind && header->flags == wanted->flags;
}

/* Copies in chunks that memcpy() moves through registers. For longer data it may use an instruction (`rep movsb`) that
 * is best for writing lines that another processor holds, but reads such lines a tenth slower. */
static inline void read_copy(char *to, const unsigned char *from, size_t bytes)
{
    enum { CHUNK = 1024 };
    while (bytes > 0) {
        size_t step = bytes < CHUNK ? bytes : CHUNK;
        pl_copy_short(to, from, step);
        to += step;
        from += step;
        bytes -= step;
    }
}

static inline void read_start_streak(struct pl_shm_peer *peer, uint32_t records)
{
    peer->in.streak = records;
    peer->in.sent_before = peer->out.tail;
}

/* Does the peer send messages in a row, and this side few? Where both send, a receive that takes its message at once
 * delays this side's next message. */
static inline bool read_is_stream(const struct pl_shm_peer *peer)
{
    const struct pl_shm_in *in = &peer->in;
    return in->streak >= STREAM && (uint64_t)(peer->out.tail - in->sent_before) * STREAM_SHARE <= in->streak;
}

/* Advances by one record of this many lines. Returns `size`. */
static inline ptrdiff_t read_finish_one(struct pl_shm_peer *peer, uint32_t lines, size_t size)
{
    peer->in.position += lines;
    peer->in.streak++;
    read_poll_at(peer->in.poll, peer);
    read_advance(peer, 1);
    return (ptrdiff_t)size;
}

static PL_NOINLINE ptrdiff_t read_take_lines(struct pl_shm_peer *peer, const struct pl_shm_record *record, void *buffer,
                                             size_t size)
{
    uint32_t lines = pl_shm_record_lines(size), mask = peer->in.mask;
    if (size >= PL_SHM_MAX_RECORD || lines > mask + 1 - (peer->in.position & mask))
        return PL_PENDING;
    read_copy(buffer, record->data, size);
    return read_finish_one(peer, lines, size);
}

static PL_NOINLINE ptrdiff_t read_poll_and_take(struct pl_endpoint *endpoint, const struct pl_header *wanted,
                                                int source, int tag, int polls, void *buffer, size_t capacity)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    if (polls > 1 && peer->out.ahead)
        pl_shm_prefetch_ahead(&peer->out);
    polls = polls ? polls : STREAM_POLLS;
    while (!pl_shm_read_has_record(peer)) {
        if (--polls <= 0) {
            read_start_streak(peer, 0);
            return PL_AGAIN;
        }
        pl_relax();
    }
    return pl_shm_take_next(endpoint, wanted, source, tag, 1, buffer, capacity);
}

/* Takes the record that a receive waits for. Everything else is left to pl_shm_read(), including records that are not
 * allowed. A ring that is not polled has no fast path: its ready bit is set for every record in any case. */
ptrdiff_t pl_shm_take_next(struct pl_endpoint *endpoint, const struct pl_header *wanted, int source, int tag, int polls,
                           void *buffer, size_t capacity)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    struct pl_shm_in *in = &peer->in;
    if (pl_unlikely(!in->poll || !pl_list_empty(&peer->shm->active)) || (polls == 0 && !read_is_stream(peer)))
        return PL_PENDING;
    struct pl_shm_record *record = pl_shm_record_at(in->ring, in->position & in->mask);
    if (atomic_load_explicit(&record->sequence, memory_order_acquire) != pl_shm_sequence(in->position))
        return read_poll_and_take(endpoint, wanted, source, tag, polls, buffer, capacity);
    /* Of what was read only the size is used, and it was read once. */
    size_t size = atomic_load_explicit(&record->word, memory_order_relaxed) - PL_SHM_WORD(PL_SHM_EAGER, 0);
    if (size > capacity || size != record->header.size || !read_matches(&record->header, wanted, source, tag))
        return PL_PENDING;
    if (size > PL_SHM_INLINE)
        return read_take_lines(peer, record, buffer, size);
    pl_shm_copy_inline(buffer, record->inline_data, size);
    return read_finish_one(peer, 1, size);
}

/* To poll a line before it is written makes the writer fetch it from here, which takes as long as a message. So the
 * line behind a record is left alone if the engine awaits no other, except in a streak: then there may be a backlog. */
int pl_shm_read(struct pl_shm_peer *peer)
{
    struct pl_shm_in *in = &peer->in;
    int records = 0;
    bool streak = in->streak >= STREAM && in->idle == peer->shm->idle, more = true;
    while (more && records < RECORDS_AT_ONCE && !peer->damaged && pl_shm_read_has_record(peer)) {
        uint32_t line = in->position & in->mask;
        struct pl_shm_record *record = pl_shm_record_at(in->ring, line);
        uint32_t word = atomic_load_explicit(&record->word, memory_order_relaxed);
        uint32_t bytes = word & (PL_SHM_MAX_RECORD - 1), lines = pl_shm_record_lines(bytes);
        if (lines > in->mask + 1 - line || !read_record(peer, record, (enum pl_shm_kind)(word >> 24), bytes, &more)) {
            pl_shm_peer_damaged(peer, "its ring holds an invalid record");
            break;
        }
        in->position += lines;
        records++;
        more |= streak || !in->poll; /* no ready bit is set for the next record if it is there already */
    }
    if (records > 0) {
        read_advance(peer, (uint32_t)records);
        if (in->idle == peer->shm->idle)
            in->streak += (uint32_t)records;
        else
            read_start_streak(peer, (uint32_t)records);
        in->idle = peer->shm->idle;
    }
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
        read_poll_at(poll, poll->peer);
    }
    return records;
}

static int read_ready_bit(struct pl_shm *shm, uint32_t bit)
{
    int records = 0;
    for (struct pl_shm_peer *peer = shm->by_bit[bit], *next; peer; peer = next) {
        next = peer->in.same_bit;
        int taken = pl_shm_read(peer);
        records += taken;
        if (taken == RECORDS_AT_ONCE) /* there may be more, for which the bit is not set again */
            atomic_fetch_or_explicit(&shm->head->ready[bit / 64], (uint64_t)1 << bit % 64, memory_order_relaxed);
        if (peer->in.heat >= HEAT_TO_POLL && peer->state == PL_SHM_PEER_OPEN)
            read_promote(shm, peer);
    }
    return records;
}

int pl_shm_read_unpolled(struct pl_shm *shm)
{
    int records = 0;
    for (uint32_t word = 0; word < PL_SHM_READY_BITS / 64; word++) {
        if (!atomic_load_explicit(&shm->head->ready[word], memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange_explicit(&shm->head->ready[word], 0, memory_order_acquire);
        for (; bits; bits &= bits - 1)
            records += read_ready_bit(shm, word * 64 + (uint32_t)__builtin_ctzll(bits));
    }
    return records;
}
