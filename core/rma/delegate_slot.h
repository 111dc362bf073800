/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots for delegated operations, in the area of a window whose paths are CMA, behind the window control block.
 *
 * Each origin has a few slots in its own area, which all ranks map. Both sides change a slot's state by
 * compare-and-swap from pl_delegated_made(): the side that succeeds executes the operation. A target does not trust
 * what it finds in a slot.
 */
#ifndef PLENUM_CORE_RMA_DELEGATE_SLOT_H
#define PLENUM_CORE_RMA_DELEGATE_SLOT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/rma/window_ctl.h"

enum pl_delegated_state {
    PL_DELEGATED_FREE,
    PL_DELEGATED_TAKEN,
    PL_DELEGATED_DONE,
    PL_DELEGATED_REFUSED,
    PL_DELEGATED_MADE, /* for rank 0; the next number is for rank 1, and so on */
};

/* Made for this rank. The number is the rank's, so that its compare-and-swap fails if the origin has meanwhile taken
 * the operation back and made one for another rank. */
static inline uint32_t pl_delegated_made(int rank)
{
    return PL_DELEGATED_MADE + (uint32_t)rank;
}

enum {
    PL_DELEGATED_SLOTS = 4,                       /* of an origin */
    PL_DELEGATED_BYTES = 16 << 10,                /* most bytes of data in a slot */
    PL_DELEGATED_RESULT = PL_DELEGATED_BYTES / 2, /* the same of an accumulate, which needs space for a result, too */
    PL_DELEGATED_RUNS = 128,                      /* most runs of the target's memory in a slot */
    PL_DELEGATED_HEAD = 2 << 10,                  /* bytes for the runs, or for a datatype */
};

struct pl_delegated_run {
    uint64_t at; /* an address in the target */
    uint64_t bytes;
};

/* What the operation is. Each side works with a copy of its own: other processes may write here. */
struct pl_delegated_head {
    uint8_t kind;              /* enum pl_rma_kind */
    uint8_t op;                /* of accumulates: the ABI constants of the operation ... */
    uint16_t type;             /* ... and, with runs, of the datatype */
    uint16_t runs;             /* 0: one address with a datatype */
    uint16_t result;           /* an accumulate must store what the memory held, behind the data */
    uint64_t bytes;            /* of data */
    uint64_t at, count, start; /* without runs: address, elements, and the packed bytes before these */
    uint32_t layout;           /* bytes of the datatype (core/datatype/wire.h) */
};

struct pl_delegated {
    PL_CACHE_ALIGNED _Atomic uint32_t state; /* enum pl_delegated_state, or pl_delegated_made() */
    struct pl_delegated_head head;
    alignas(16) unsigned char body[PL_DELEGATED_HEAD + PL_DELEGATED_BYTES]; /* runs or the datatype, then data */
};
_Static_assert(PL_DELEGATED_RUNS * sizeof(struct pl_delegated_run) <= PL_DELEGATED_HEAD, "all runs fit");

/* Bytes behind the control block: the slots, and a word for each rank's trial of CMA (window_memory.c). */
static inline size_t pl_delegate_area(int ranks)
{
    return PL_DELEGATED_SLOTS * sizeof(struct pl_delegated) + (size_t)ranks * sizeof(uint64_t);
}

static inline struct pl_delegated *pl_delegate_slots(struct pl_win_ctl *ctl)
{
    return (struct pl_delegated *)((char *)ctl + PL_WIN_CTL);
}

/* The data of a slot with this head, which is sound. */
static inline unsigned char *pl_delegate_data(struct pl_delegated *slot, const struct pl_delegated_head *head)
{
    size_t line = sizeof(struct pl_delegated_run);
    return slot->body + (head->runs ? head->runs * line : (head->layout + line - 1) / line * line);
}

#endif
