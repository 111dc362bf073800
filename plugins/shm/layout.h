/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of the memory that two processes share. docs/SHM.md describes the design; the essentials:
 *
 * - Every engine owns one memfd, its region. It begins with a head; rings and FIFOs follow wherever there was space.
 * - A ring carries records from its owner to one other engine. It is an array of lines of 64 bytes, and a record takes
 *   one or more contiguous lines. The record's first line begins with a sequence number, which is stored last: a
 *   reader that finds the number it waits for finds the whole record. So the reader polls the very line that carries a
 *   short message, and such a message costs one transfer of one cache line.
 * - A FIFO carries the data of rendezvous messages, from its owner to one other engine at a time.
 *
 * Of two processes only one writes a given line while the other reads it, except in the head: the comments there name
 * the writers. Readers trust nothing in this memory: they copy a value first, then check the copy, then use it.
 */
#ifndef PLENUM_PLUGINS_SHM_LAYOUT_H
#define PLENUM_PLUGINS_SHM_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/engine/transport.h"
#include "core/job/segment.h"

#define PL_SHM_MAGIC 0x314d48534e454c50ull /* "PLENSHM1" */

enum {
    PL_SHM_VERSION = 2,
    PL_SHM_LINE = PL_CACHE_LINE,
    PL_SHM_INBOX = 16,         /* connection requests that may wait at once; further callers try again */
    PL_SHM_POSTPONED_MAX = 50, /* times that an owner short of memory postpones a request: ten seconds */
    PL_SHM_READY_BITS = 256,   /* for rings that their reader does not poll; with more rings some share a bit */
    PL_SHM_INLINE = 16,        /* bytes of data that fit into a record's first line */
};

/* Where an engine's region is: descriptor `fd` of process `pid`. The cookie and the engine's id prove that it is the
 * right one. */
struct pl_shm_address {
    uint64_t cookie;
    uint64_t engine;
    int32_t pid;
    int32_t fd;
};

/* A connection request: the caller asks the engine to read its ring. */
struct pl_shm_request {
    struct pl_shm_address from;
    uint64_t ring;  /* offset in the caller's region */
    uint32_t lines; /* of that ring */
    uint32_t card_length;
    unsigned char card[PL_CARD_MAX];
};

/* An inbox slot: the caller's pid, and the state of its request. */
enum pl_shm_slot { PL_SHM_SLOT_FREE, PL_SHM_SLOT_CLAIMED, PL_SHM_SLOT_READY, PL_SHM_SLOT_REFUSED };
#define PL_SHM_SLOT(pid, state) ((uint64_t)(uint32_t)(pid) << 8 | (state))

/* Bits of pl_shm_head.attention. Every peer reads it after whatever it does that the owner may be waiting for. */
enum pl_shm_attention {
    PL_SHM_SLEEPING = 1, /* the owner sleeps: the peer that clears the bit adds 1 to `doorbell` and wakes the futex */
    PL_SHM_FENCE = 2,    /* peers must issue a full fence before they read this word (doorbell.c) */
    PL_SHM_CLOSED = 4,   /* the owner has closed its engine */
};

struct pl_shm_head {
    uint64_t magic;
    uint32_t version;
    uint32_t bytes; /* of the head */
    uint64_t cookie;
    uint64_t engine;

    PL_CACHE_ALIGNED _Atomic uint32_t attention; /* bits set by the owner; any peer clears SLEEPING */
    PL_CACHE_ALIGNED _Atomic uint32_t doorbell;  /* futex word */
    PL_CACHE_ALIGNED _Atomic uint64_t ready[PL_SHM_READY_BITS / 64]; /* set by writers of rings that are not polled */
    PL_CACHE_ALIGNED _Atomic uint32_t requests;                      /* counts inbox slots that became ready */
    PL_CACHE_ALIGNED _Atomic uint64_t slot[PL_SHM_INBOX];
    struct pl_shm_request request[PL_SHM_INBOX];
};

enum pl_shm_kind {
    PL_SHM_PAD = 1, /* empty: the next record is at the start of the ring */
    PL_SHM_EAGER,   /* a message and its data */
    PL_SHM_RTS,     /* a message whose data waits at the sender: struct pl_shm_rts behind the header */
    PL_SHM_CTS,     /* the receiver asks for the data; struct pl_shm_control replaces the header here and below */
    PL_SHM_DATA,    /* answer to a CTS: the data follows in a FIFO */
    PL_SHM_FIN,     /* the receiver does not need the data any more */
    PL_SHM_NACK,    /* instead of DATA: the message was withdrawn, or there is no FIFO; after it: no more data comes */
};

/* A record's kind and the number of bytes behind its head, in one word. */
#define PL_SHM_WORD(kind, bytes) ((uint32_t)(kind) << 24 | (uint32_t)(bytes))

struct pl_shm_rts {
    uint64_t token;   /* names the message in answers */
    uint64_t address; /* of the data in the sender's process; 0: the data is not one run */
};

struct pl_shm_control {
    uint64_t token; /* of the process that gets this record */
    uint64_t reply; /* CTS: the token for DATA and NACK */
    uint64_t bytes; /* CTS, DATA: how many; NACK: 0, or how many may still be read from the sender's memory */
    uint64_t fifo;  /* DATA: offset of the FIFO in the sender's region */
    uint64_t start; /* CTS: offset in the message; DATA: position in the FIFO where the data begins */
};

struct pl_shm_record {
    _Atomic uint32_t sequence;
    _Atomic uint32_t word; /* PL_SHM_WORD */
    union {
        struct pl_header header;
        struct pl_shm_control control;
    };
    unsigned char inline_data[PL_SHM_INLINE]; /* the data, if it fits ... */
    unsigned char data[];                     /* ... else all of it: whole lines are copied faster than parts of two */
};

enum { PL_SHM_RECORD = 48, PL_SHM_MAX_RECORD = 1 << 24 };
_Static_assert(sizeof(struct pl_header) == 40 && sizeof(struct pl_shm_control) == 40,
               "a header and 16 bytes fit into a line");
_Static_assert(offsetof(struct pl_shm_record, inline_data) == PL_SHM_RECORD, "inline data ends the first line");
_Static_assert(offsetof(struct pl_shm_record, data) == PL_SHM_LINE, "longer data begins a line");
_Static_assert(sizeof(struct pl_shm_rts) <= PL_SHM_INLINE, "an RTS is one line");

/* What the reader has done with a ring. */
enum pl_shm_ring_state { PL_SHM_RING_NEW, PL_SHM_RING_ACCEPTED, PL_SHM_RING_ABANDONED };

struct pl_shm_ring {
    uint64_t cookie; /* of the reader */
    uint32_t lines;
    PL_CACHE_ALIGNED _Atomic uint32_t wants_space; /* by the writer: wake me when you have read on */
    PL_CACHE_ALIGNED _Atomic uint32_t read;        /* by the reader: lines before this position may be reused */
    PL_CACHE_ALIGNED _Atomic uint32_t ready_bit;   /* by the reader: 0, or 1 + the bit to set in head.ready */
    _Atomic uint32_t state;                        /* by the reader: enum pl_shm_ring_state */
    PL_CACHE_ALIGNED unsigned char line[];
};

struct pl_shm_fifo {
    _Atomic uint64_t filled;                   /* by the owner: bytes put in */
    PL_CACHE_ALIGNED _Atomic uint64_t drained; /* by the reader: bytes taken out */
    PL_CACHE_ALIGNED unsigned char data[];
};

static inline uint32_t pl_shm_lines(size_t bytes)
{
    return (uint32_t)((bytes + PL_SHM_LINE - 1) / PL_SHM_LINE);
}

/* Lines of a record with this many bytes of data, and where the data lies. */
static inline uint32_t pl_shm_record_lines(size_t bytes)
{
    return bytes <= PL_SHM_INLINE ? 1 : 1 + pl_shm_lines(bytes);
}

static inline unsigned char *pl_shm_data_of(struct pl_shm_record *record, size_t bytes)
{
    return bytes <= PL_SHM_INLINE ? record->inline_data : record->data;
}

/* Copies up to PL_SHM_INLINE bytes without a call: during one the reader could take away the line that is being
 * written. */
static inline void pl_shm_copy_inline(unsigned char *to, const unsigned char *from, size_t bytes)
{
    if (bytes >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + bytes - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + bytes - 8, &last, 8);
        return;
    }
    if (bytes & 4)
        memcpy(to, from, 4);
    if (bytes & 2)
        memcpy(to + (bytes & 4), from + (bytes & 4), 2);
    if (bytes & 1)
        to[bytes - 1] = from[bytes - 1];
}

static inline struct pl_shm_record *pl_shm_record_at(const struct pl_shm_ring *ring, uint32_t line)
{
    return (struct pl_shm_record *)(uintptr_t)(ring->line + (size_t)line * PL_SHM_LINE);
}

/* The sequence number of a record that begins at this position (in lines since the ring was created). */
static inline uint32_t pl_shm_sequence(uint32_t position)
{
    return position + 1;
}

#endif
