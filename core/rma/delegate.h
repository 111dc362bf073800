/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offers: operations on a rank that is reached (cma.c), left in shared memory for it to do, if it is in MPI just
 * now. It copies or combines faster than the kernel would, since all is mapped for one of the two.
 *
 * Each rank has a few places for offers in its own area, which all others map. It leaves one, sets its bit in the
 * target's cell, and waits for a moment. The target takes what it finds in progress; what it has not taken by then the
 * origin takes back and does itself. So whoever changes the state from PL_DELEGATED_MADE does the operation: exactly one of
 * the two.
 *
 * win->reaching is held by the origin, the engine's lock by the target.
 */
#ifndef PLENUM_CORE_RMA_DELEGATE_H
#define PLENUM_CORE_RMA_DELEGATE_H

#include "core/datatype/wire.h"
#include "core/rma/rma.h"

enum pl_delegated_state {
    PL_DELEGATED_FREE,
    PL_DELEGATED_MADE,
    PL_DELEGATED_TAKEN,
    PL_DELEGATED_DONE,
    PL_DELEGATED_REFUSED
};

enum {
    PL_DELEGATED_SLOTS = 4,                       /* places of a rank */
    PL_DELEGATED_BYTES = 16 << 10,                /* of data in one */
    PL_DELEGATED_RESULT = PL_DELEGATED_BYTES / 2, /* of elements that are accumulated by one: there are results, too */
    PL_DELEGATED_RUNS = 128,                      /* pieces of the target's memory in one */
    PL_DELEGATED_HEAD = 2 << 10,                  /* bytes for them, or for a datatype */
};

struct pl_delegated_run {
    uint64_t at; /* an address there */
    uint64_t bytes;
};

struct pl_delegated {
    alignas(PL_WIN_LINE) _Atomic uint32_t state; /* enum pl_delegated_state */
    int32_t target;
    uint8_t kind; /* enum pl_rma_kind */
    uint8_t op;   /* of accumulates: the operation's ABI constant, and the datatype's */
    uint16_t type;
    uint16_t runs;             /* 0: one place, with a datatype */
    uint16_t result;           /* what was there before an accumulate is wanted: behind the data */
    uint64_t bytes;            /* of data */
    uint64_t at, count, start; /* without runs: the address there, the elements, and the packed bytes before these */
    uint32_t layout;           /* bytes of the datatype (core/datatype/wire.h) */
    alignas(16) unsigned char body[PL_DELEGATED_HEAD + PL_DELEGATED_BYTES]; /* runs or the datatype, then data */
};
_Static_assert(PL_DELEGATED_RUNS * sizeof(struct pl_delegated_run) <= PL_DELEGATED_HEAD, "room for all runs");

/* Bytes behind the cell in the area of a window that is reached: the places, then the words of trials. */
static inline size_t pl_delegate_area(int ranks)
{
    return PL_DELEGATED_SLOTS * sizeof(struct pl_delegated) + (size_t)ranks * sizeof(uint64_t);
}

static inline struct pl_delegated *pl_delegate_places(struct pl_win_ctl *ctl)
{
    return (struct pl_delegated *)((char *)ctl + PL_WIN_CTL);
}

static inline unsigned char *pl_delegate_data(struct pl_delegated *delegated)
{
    size_t line = sizeof(struct pl_delegated_run);
    return delegated->body + (delegated->runs ? delegated->runs * line : (delegated->layout + line - 1) / line * line);
}

/* Takes offers in progress from now on, and no more; takes those that are there now. delegate_target.c. Engine lock
 * held. */
void pl_delegate_open(struct pl_win *win);
void pl_delegate_close(struct pl_win *win);
int pl_delegate_take(struct pl_win *win);

/* Has the target do as much of a batch as it is there for. What is done is taken out of `reach`. */
int pl_delegate_batch(struct pl_win *win, int rank, struct pl_cma *cma);

/* The same between two layouts, from where the cursors stand; they go as far as it is done. `wire`: `there`'s datatype,
 * at most PL_DELEGATED_HEAD bytes. */
int pl_delegate_layout(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                       const struct pl_type_wire *wire);

/* Has the target do an accumulate of at most PL_DELEGATED_RESULT bytes. Either its datatype is predefined and has no gaps,
 * and the elements are there in these runs; or `wire` is it. PL_AGAIN: it is not there for that. */
int pl_delegate_change(struct pl_win *win, int rank, const struct pl_rma_change *change, const struct iovec *runs,
                       int count, const struct pl_type_wire *wire);

#endif
