/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing records into a ring.
 *
 * A record's sequence number is stored last and publishes the record. The reader then polls the line behind the last
 * record. That line may hold data of an older, longer record, which could by chance equal the awaited number. So the
 * writer remembers which lines hold such data (`stale`) and, before it publishes a record, overwrites the first word of
 * the line behind it if it is stale. It follows that a record needs one free line more than it takes. In a stream of
 * one-line messages no line is ever stale.
 */
#ifndef PLENUM_PLUGINS_SHM_RING_H
#define PLENUM_PLUGINS_SHM_RING_H

#include "core/datatype/cursor.h"
#include "plugins/shm/shm.h"

/* A record that waits for space in the ring. */
struct pl_shm_queued {
    struct pl_list link;
    enum pl_shm_kind kind;
    struct pl_shm_control control;
};

static inline bool pl_shm_fits(const struct pl_shm_out *out, uint32_t lines)
{
    return (int32_t)(out->limit - out->tail) >= (int32_t)lines && (out->tail & out->mask) + lines <= out->mask + 1;
}

/* Finds space for a record of this many lines: reads the reader's position, and pads to the end of the ring if needed.
 * False: there is none now, or there is no ring. */
bool pl_shm_make_space(struct pl_shm_out *out, uint32_t lines);

/* Packs the next `bytes` of a message's data into memory that the reader has read before. */
void pl_shm_pack(const struct pl_transport_host *host, struct pl_cursor *data, unsigned char *to, size_t bytes);

/* The next record, with `bytes` behind its head; not yet visible to the reader. NULL: no space. */
static inline struct pl_shm_record *pl_shm_reserve(struct pl_shm_out *out, size_t bytes)
{
    uint32_t lines = pl_shm_record_lines(bytes);
    if (pl_unlikely(!pl_shm_fits(out, lines)) && !pl_shm_make_space(out, lines))
        return NULL;
    return pl_shm_record_at(out->ring, out->tail & out->mask);
}

/* Marks `count` lines, from `line` on, as holding data. */
void pl_shm_mark_stale(struct pl_shm_out *out, uint32_t line, uint32_t count);
/* Overwrites a word that might equal the sequence number of `position`. */
void pl_shm_overwrite_stale(struct pl_shm_out *out, uint32_t position);

static inline bool pl_shm_is_stale(const struct pl_shm_out *out, uint32_t position)
{
    uint32_t line = position & out->mask;
    return out->stale[line / 64] >> (line % 64) & 1;
}

/* Makes the reserved record visible to the reader. The line behind it must not be stale. */
static inline void pl_shm_commit(struct pl_shm_out *out, struct pl_shm_record *record, enum pl_shm_kind kind,
                                 size_t bytes, uint32_t lines)
{
    uint32_t tail = out->tail;
    atomic_store_explicit(&record->word, PL_SHM_WORD(kind, bytes), memory_order_relaxed);
    atomic_store_explicit(&record->sequence, pl_shm_sequence(tail), memory_order_release);
    out->tail = tail + lines;
}

/* The same, for a record of any length; takes care of stale lines. */
static inline void pl_shm_publish(struct pl_shm_out *out, struct pl_shm_record *record, enum pl_shm_kind kind,
                                  size_t bytes)
{
    uint32_t lines = pl_shm_record_lines(bytes), tail = out->tail;
    if (lines > 1)
        pl_shm_mark_stale(out, (tail & out->mask) + 1, lines - 1);
    if (pl_unlikely(pl_shm_is_stale(out, tail + lines)))
        pl_shm_overwrite_stale(out, tail + lines);
    pl_shm_commit(out, record, kind, bytes, lines);
}

/*
 * Prefetches the lines of the next record for writing, `ahead` of them, while the sender of a record waits for the
 * answer. They are in the reader's cache, since it read them a lap ago, and fetching them takes as long as a message
 * does. Longer records are not prefetched: the instruction that writes them fetches lines by itself. The limit is that
 * of 3 KiB, the head and 48 lines: from 4 KiB on prefetching was measured to lose (docs/notes/p2p.md).
 */
enum { PL_SHM_AHEAD_MAX = 49 };
void pl_shm_prefetch_ahead(struct pl_shm_out *out);

/* Was there no space, and has the reader read on since? */
static inline bool pl_shm_has_space_again(const struct pl_shm_out *out)
{
    return out->ring && atomic_load_explicit(&out->ring->wants_space, memory_order_relaxed) &&
           atomic_load_explicit(&out->ring->read, memory_order_relaxed) + out->mask != out->limit;
}

/* Sends a control record, now or, if there is no space, later. False: out of memory. */
bool pl_shm_control_send(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control);
/* Sends waiting control records while there is space. Returns their number. */
int pl_shm_controls_flush(struct pl_shm_peer *peer);

#endif
