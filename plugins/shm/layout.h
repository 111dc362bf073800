/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies in the memory that two processes share. docs/SHM.md tells the story; the essentials:
 *
 * - Every engine owns one memfd, its segment. It starts with a head; rings and lanes follow, wherever there was room.
 * - A ring carries the messages from its owner to one other engine. It is an array of lines of 64 bytes, and a record
 *   takes one or more of them, in one piece. The first line of a record begins with a sequence number that is stored
 *   last: a reader that finds the number it waits for finds the whole record. So the reader polls the very line that
 *   carries a short message, and such a message costs one transfer of one cache line.
 * - A lane is a pipe of bytes for bulk data, from its owner to one other engine at a time.
 *
 * Every line that is written while it is read is written by one side only, or is marked as rung by all.
 * Readers trust nothing in here: what they use is copied first, then checked, then used.
 */
#ifndef PLENUM_PLUGINS_SHM_LAYOUT_H
#define PLENUM_PLUGINS_SHM_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "core/engine/transport.h"
#include "core/job/segment.h"

#define PL_SHM_MAGIC 0x314d48534e454c50ull /* "PLENSHM1" */

enum {
    PL_SHM_VERSION = 2,
    PL_SHM_LINE = 64,
    PL_SHM_INBOX = 16,      /* connection requests that may wait at once; more callers try again */
    PL_SHM_RING_BITS = 256, /* bits for rings that their reader does not poll */
    PL_SHM_INLINE = 16,     /* bytes of data that fit into a record's first line */
};

#define PL_SHM_APART _Alignas(PL_SHM_LINE)

/* How to find an engine: descriptor `fd` of process `pid`, and proof that it is the right one. */
struct pl_shm_address {
    uint64_t cookie;
    uint64_t engine;
    int32_t pid;
    int32_t fd;
};

/* A caller that asks an engine to read its ring. */
struct pl_shm_request {
    struct pl_shm_address from;
    uint64_t ring;  /* offset in the caller's segment */
    uint32_t lines; /* of that ring */
    uint32_t card_length;
    unsigned char card[PL_CARD_MAX];
};

/* The state of an inbox slot: the caller's pid, and how far it has come. */
enum pl_shm_slot { PL_SHM_SLOT_FREE, PL_SHM_SLOT_CLAIMED, PL_SHM_SLOT_READY, PL_SHM_SLOT_REFUSED };
#define PL_SHM_SLOT(pid, state) ((uint64_t)(uint32_t)(pid) << 8 | (state))

/* Bits of pl_shm_head.attention, which everybody reads after everything that they do for the engine. */
enum pl_shm_attention {
    PL_SHM_SLEEPING = 1, /* wake me: add 1 to `doorbell` and call the kernel; whoever clears the bit does it */
    PL_SHM_FENCE = 2,    /* put a full fence between what you did and reading this (see doorbell.c) */
    PL_SHM_CLOSED = 4,   /* I have gone, orderly */
};

struct pl_shm_head {
    uint64_t magic;
    uint32_t version;
    uint32_t bytes; /* of the head */
    uint64_t cookie;
    uint64_t engine;

    PL_SHM_APART _Atomic uint32_t attention;                   /* set by the owner, SLEEPING cleared by anybody */
    PL_SHM_APART _Atomic uint32_t doorbell;                    /* futex word */
    PL_SHM_APART _Atomic uint64_t rung[PL_SHM_RING_BITS / 64]; /* by writers of rings that are not polled */
    PL_SHM_APART _Atomic uint32_t requests;                    /* how often a slot of the inbox became ready */
    PL_SHM_APART _Atomic uint64_t slot[PL_SHM_INBOX];
    struct pl_shm_request request[PL_SHM_INBOX];
};

enum pl_shm_kind {
    PL_SHM_PAD = 1, /* nothing: the next record is at the start of the ring */
    PL_SHM_EAGER,   /* a message and its data */
    PL_SHM_RTS,     /* a message whose data waits: struct pl_shm_rts behind the header */
    PL_SHM_CTS,     /* answer: send that data; struct pl_shm_control instead of the header, as in the rest */
    PL_SHM_DATA,    /* here it comes: it follows in a lane */
    PL_SHM_FIN,     /* answer: that data is not needed any more */
    PL_SHM_NACK,    /* answer to a grant: no; there is no such data any more, or no lane for it */
};

/* Puts the kind and the number of bytes behind the record's head into a word. */
#define PL_SHM_WORD(kind, bytes) ((uint32_t)(kind) << 24 | (uint32_t)(bytes))

struct pl_shm_rts {
    uint64_t token;   /* names the message in answers */
    uint64_t address; /* where the data lies in the sender's process when it is one run; 0: it is not */
};

struct pl_shm_control {
    uint64_t token; /* the receiver's own: what kind of record it answers is the receiver's to know */
    uint64_t reply; /* GRANT: the token for STREAM and GONE */
    uint64_t bytes; /* GRANT, STREAM: how many; GONE: 0, or how many may still be read from the sender's memory */
    uint64_t fifo;  /* STREAM: offset of the lane in the sender's segment */
    uint64_t start; /* STREAM: position in the lane's stream where the data begins */
};

struct pl_shm_record {
    _Atomic uint32_t sequence;
    _Atomic uint32_t word; /* PL_SHM_WORD */
    union {
        struct pl_header header;
        struct pl_shm_control control;
    };
    unsigned char few[PL_SHM_INLINE]; /* the data, if there is no more of it ... */
    unsigned char data[];             /* ... else it begins here: whole lines are copied faster than parts of two */
};

enum { PL_SHM_RECORD = 48, PL_SHM_MAX_RECORD = 1 << 24 };
_Static_assert(sizeof(struct pl_header) == 40 && sizeof(struct pl_shm_control) == 40,
               "a header and 16 bytes fit into a line");
_Static_assert(offsetof(struct pl_shm_record, few) == PL_SHM_RECORD, "a little data begins there");
_Static_assert(offsetof(struct pl_shm_record, data) == PL_SHM_LINE, "and more of it there");
_Static_assert(sizeof(struct pl_shm_rts) <= PL_SHM_INLINE, "an offer is one line");

/* A reader's stand towards a ring. */
enum pl_shm_stand { PL_SHM_WAITING, PL_SHM_TAKEN, PL_SHM_LEFT };

struct pl_shm_ring {
    uint64_t cookie; /* of the reader */
    uint32_t lines;
    PL_SHM_APART _Atomic uint32_t wants_room; /* by the writer: ring my bell when you have read on */
    PL_SHM_APART _Atomic uint32_t read;       /* by the reader: lines that may be used again */
    PL_SHM_APART _Atomic uint32_t bit;        /* by the reader: 0, or 1 + the bit to set in head.rung */
    _Atomic uint32_t stand;                   /* by the reader: enum pl_shm_stand */
    PL_SHM_APART unsigned char line[];
};

struct pl_shm_fifo {
    _Atomic uint64_t filled;               /* by the owner: bytes put in since it was made */
    PL_SHM_APART _Atomic uint64_t drained; /* by the reader: bytes taken out */
    PL_SHM_APART unsigned char data[];
};

static inline uint32_t pl_shm_lines(size_t bytes)
{
    return (uint32_t)((bytes + PL_SHM_LINE - 1) / PL_SHM_LINE);
}

/* Lines of a record with so many bytes of data, and where they lie in it. */
static inline uint32_t pl_shm_record_lines(size_t bytes)
{
    return bytes <= PL_SHM_INLINE ? 1 : 1 + pl_shm_lines(bytes);
}

static inline unsigned char *pl_shm_data_of(struct pl_shm_record *record, size_t bytes)
{
    return bytes <= PL_SHM_INLINE ? record->few : record->data;
}

/* Up to PL_SHM_INLINE bytes, without a call: while one is made the reader may take away the line that is being
 * written. */
static inline void pl_shm_copy_few(unsigned char *to, const unsigned char *from, size_t bytes)
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

/* The sequence number of a record that begins at this line, counted from the ring's making. */
static inline uint32_t pl_shm_sequence(uint32_t position)
{
    return position + 1;
}

#endif
