/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing records into a ring.
 *
 * A record's sequence number is stored last, so that it publishes the record. The reader waits at the line behind the
 * last record; were the bytes of some older, longer record's data still lying there, they might by chance be the number
 * that it waits for. The writer remembers which lines hold such data (`stale`) and, before it publishes a record,
 * overwrites the first word of the line behind it if need be. It follows that one line more than the record takes must
 * be free. In a stream of one-line messages no line is ever stale.
 */
#ifndef PLENUM_PLUGINS_SHM_RING_H
#define PLENUM_PLUGINS_SHM_RING_H

#include "core/datatype/cursor.h"
#include "plugins/shm/shm.h"

/* An answer that waits for room in the ring. */
struct pl_shm_queued {
    struct pl_list link;
    enum pl_shm_kind kind;
    struct pl_shm_control control;
};

static inline bool pl_shm_fits(const struct pl_shm_out *out, uint32_t lines)
{
    return (int32_t)(out->limit - out->tail) >= (int32_t)lines && (out->tail & out->mask) + lines <= out->mask + 1;
}

/* Makes room for a record of so many lines: looks how far the reader is, goes back to the start of the ring. False:
 * there is none now, or there is no ring. */
bool pl_shm_make_room(struct pl_shm_out *out, uint32_t lines);

/* Puts the next `bytes` of a message's data there, into memory that the reader has read before. */
void pl_shm_put(const struct pl_host *host, struct pl_cursor *data, unsigned char *to, size_t bytes);

/* The place of the next record, with `bytes` behind its head; not yet seen by the reader. NULL: no room. */
static inline struct pl_shm_record *pl_shm_reserve(struct pl_shm_out *out, size_t bytes)
{
    uint32_t lines = pl_shm_record_lines(bytes);
    if (pl_shm_unlikely(!pl_shm_fits(out, lines)) && !pl_shm_make_room(out, lines))
        return NULL;
    return pl_shm_record_at(out->ring, out->tail & out->mask);
}

/* Marks `count` lines, from this one on, as holding data. */
void pl_shm_mark_stale(struct pl_shm_out *out, uint32_t line, uint32_t count);
/* Overwrites what might look like the sequence number of `position`. */
void pl_shm_overwrite_stale(struct pl_shm_out *out, uint32_t position);

static inline bool pl_shm_is_stale(const struct pl_shm_out *out, uint32_t position)
{
    uint32_t line = position & out->mask;
    return out->stale[line / 64] >> (line % 64) & 1;
}

/* Shows the reserved record to the reader: nothing behind it is stale. */
static inline void pl_shm_show(struct pl_shm_out *out, struct pl_shm_record *record, enum pl_shm_kind kind,
                               size_t bytes, uint32_t lines)
{
    uint32_t tail = out->tail;
    atomic_store_explicit(&record->word, PL_SHM_WORD(kind, bytes), memory_order_relaxed);
    atomic_store_explicit(&record->sequence, pl_shm_sequence(tail), memory_order_release);
    out->tail = tail + lines;
}

static inline void pl_shm_publish(struct pl_shm_out *out, struct pl_shm_record *record, enum pl_shm_kind kind,
                                  size_t bytes)
{
    uint32_t lines = pl_shm_record_lines(bytes), tail = out->tail;
    if (lines > 1)
        pl_shm_mark_stale(out, (tail & out->mask) + 1, lines - 1);
    if (pl_shm_unlikely(pl_shm_is_stale(out, tail + lines)))
        pl_shm_overwrite_stale(out, tail + lines);
    pl_shm_show(out, record, kind, bytes, lines);
}

/*
 * The lines of the next record are in the reader's cache, too, since it read them a lap ago; taking them from there
 * takes as long as a message does. Whoever has sent a record of some lines and waits for the answer has time for it:
 * `ahead` says how many. None for long records, which are written by an instruction that does it by itself.
 */
enum { PL_SHM_AHEAD_MAX = 49 };
void pl_shm_get_hold_ahead(struct pl_shm_out *out);

/* Was there no room, and has the reader gone on since? */
static inline bool pl_shm_has_room_again(const struct pl_shm_out *out)
{
    return out->ring && atomic_load_explicit(&out->ring->wants_room, memory_order_relaxed) &&
           atomic_load_explicit(&out->ring->read, memory_order_relaxed) + out->mask != out->limit;
}

/* Sends a record without a message, now or, if there is no room, later. False: out of memory. */
bool pl_shm_control_send(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control);
/* Sends those that wait, as far as there is room. Returns how many. */
int pl_shm_controls_flush(struct pl_shm_peer *peer);

#endif
