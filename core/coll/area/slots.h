/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cells of a board, and an operation on them (core/coll/area/area.h): what is in the shared memory, what a rank keeps for
 * itself, and the ways that every short collective goes, to be built into it. What takes longer is in board.c.
 */
#ifndef PLENUM_CORE_COLL_AREA_SLOTS_H
#define PLENUM_CORE_COLL_AREA_SLOTS_H

#include <stdalign.h>
#include <stdatomic.h>

#include "core/base/cpu.h"
#include "core/coll/area/area.h"
#include "core/engine/engine.h"

enum {
    PL_AREA_LINE = 64,
    PL_AREA_SMALL = 48,                  /* bytes of data that travel with their number */
    PL_AREA_SETS = 512,                  /* of cells: operations that may be under way at once */
    PL_AREA_SHORT_RING = 32 << 10,       /* bytes in turns of which a rank puts longer data, up to PL_AREA_SHORT ... */
    PL_AREA_LONG_RING = 512 << 10,       /* ... and beyond */
    PL_AREA_ELSEWHERE = PL_AREA_MAX + 1, /* as bytes of a cell: its data goes by messages */
    PL_AREA_RENEWAL = 1 << 17,           /* operations */
    PL_AREA_AHEAD = 4, /* operations before a cell is written its line is taken from those who read it */
};

#define PL_AREA_ANY SIZE_MAX /* as bytes that are awaited: cells may have different ones */

/* Everything that one rank writes and others poll has a line of its own. */
struct pl_area_slot {
    alignas(PL_AREA_LINE) _Atomic uint32_t word;
    uint32_t bytes;        /* of data, here or in one of the owner's rings */
    uint32_t place;        /* where there */
    _Atomic uint32_t core; /* beside what it has completed: where it waited last, plus 1; 0: not known */
    unsigned char data[PL_AREA_SMALL];
};
_Static_assert(sizeof(struct pl_area_slot) == PL_AREA_LINE, "short data travels with its number");
_Static_assert(PL_AREA_LONG_RING >= 2 * PL_AREA_MAX && PL_AREA_SHORT_RING >= 2 * PL_AREA_SHORT,
               "nobody waits for room at once");

/* The shared memory. Members are a bit each in a word. */
struct pl_area_memory {
    struct pl_area_slot left;                      /* how many members, the owner aside, do not use it any more */
    alignas(PL_AREA_LINE) _Atomic uint64_t asleep; /* who may sleep until it is shown a cell */
    _Atomic uint64_t wanting;                      /* who waits for room */
    _Atomic uint64_t wanted[PL_AREA_RANKS];        /* and for what: wish_of() */
    /* [size] operations completed by each; [PL_AREA_SETS][size] cells; then [size] rings of each kind */
    struct pl_area_slot lines[];
};

/* What this rank has shown in a set of cells. */
struct pl_area_published {
    uint32_t number; /* in which operation */
    int reader;      /* a rank; -1: all, the own: nobody */
};

/* What this rank has put into a ring. */
struct pl_area_written {
    uint32_t number;    /* in which operation */
    uint64_t before[2]; /* bytes that had been put into both before */
};

struct pl_area {
    struct pl_comm *comm; /* borrowed */
    struct pl_engine *engine;
    const struct pl_transport_ops *ops;
    int size, rank;
    uint32_t next; /* number of the next operation, or of the one under way */
    uint32_t seen; /* all ranks have completed those before this one */
    struct pl_area_memory *memory;
    struct pl_area_slot *slots; /* [size] of the operation `next` */
    struct pl_area_slot *own;   /* what this rank has completed */
    unsigned char *ring[2];     /* those of all ranks: short, long */
    uint64_t head[2];           /* bytes that this rank has put into its own so far */
    uint32_t oldest, newest;    /* of `said`: from the oldest that may still be read */
    struct pl_area_published published[PL_AREA_SETS];
    struct pl_area_written written[PL_AREA_SETS];
    uint32_t completed[PL_AREA_RANKS]; /* by each when this rank looked last: those before this one */
    struct pl_shared shared;           /* the owner's; memory NULL elsewhere */
    struct pl_closer closer;           /* of the engine, once the owner does not use it any more */
};

/* What takes longer. */
int pl_area_await(struct pl_area *area, int rank, int end); /* a cell that is not there, of several until `end` */
/* Until who was shown something in an operation has read it, and unless it has, everything up to `enough`. */
int pl_area_await_reader(struct pl_area *area, uint32_t number, uint32_t enough);
int pl_area_take_space(struct pl_area *area, size_t bytes, uint32_t *place); /* in a ring */
void pl_area_wake(struct pl_area *area, uint64_t asleep);                    /* members */
/* At an operation's end: wakes those of some members who want the room there is now, and renews numbers that get
 * old. */
void pl_area_end_slow(struct pl_area *area, uint64_t wanting);
int pl_area_fail_amount(int rank, size_t written, size_t expected); /* ranks that mean different amounts of data */

/* --- looking ------------------------------------------------------------------------------------------------------ */

static inline struct pl_area_slot *pl_area_completed(const struct pl_area *area, int rank)
{
    return &area->memory->lines[rank];
}

/* [size] of an operation. */
static inline struct pl_area_slot *pl_area_slots_of(const struct pl_area *area, uint32_t number)
{
    return &area->memory->lines[(size_t)area->size * (1 + number % PL_AREA_SETS)];
}

static inline bool pl_area_has(const struct pl_area *area, int rank)
{
    uint32_t word = atomic_load_explicit(&area->slots[rank].word, memory_order_acquire);
    return (int32_t)(word - area->next) > 0;
}

/* Where the data of a cell is. What another rank says of it leads nowhere else than into that rank's ring. */
static inline void *pl_area_data(const struct pl_area *area, int rank, size_t bytes)
{
    struct pl_area_slot *line = &area->slots[rank];
    if (__builtin_expect(bytes <= PL_AREA_SMALL, 1))
        return line->data;
    bool is_long = bytes > PL_AREA_SHORT;
    size_t whole = is_long ? PL_AREA_LONG_RING : PL_AREA_SHORT_RING, place = line->place, most = whole - bytes;
    return area->ring[is_long] + (size_t)rank * whole + (place < most ? place : most);
}

/* --- an operation: put, show, wait and read as it needs; then end, whether it went well or not -------------------- */

/* Has who was shown this read it, as far as is known here? */
static inline bool pl_area_is_read(const struct pl_area *area, const struct pl_area_published *published)
{
    return (int32_t)(published->number - area->seen) < 0 ||
           (published->reader >= 0 && (int32_t)(area->completed[published->reader] - published->number) > 0);
}

/* Room for what this rank says, at most PL_AREA_MAX bytes; waits until there is some. */
static inline int pl_area_reserve(struct pl_area *area, size_t bytes, void **data)
{
    struct pl_area_slot *line = &area->slots[area->rank];
    const struct pl_area_published *before = &area->published[area->next % PL_AREA_SETS];
    int rc = MPI_SUCCESS;
    if (__builtin_expect(!pl_area_is_read(area, before), 0))
        rc = pl_area_await_reader(area, before->number, area->next - PL_AREA_SETS / 2);
    if (rc == MPI_SUCCESS && bytes > PL_AREA_SMALL)
        rc = pl_area_take_space(area, bytes, &line->place);
    if (__builtin_expect(rc != MPI_SUCCESS, 0))
        return rc;
    pl_prefetch_to_write(&pl_area_slots_of(area, area->next + PL_AREA_AHEAD)[area->rank]);
    line->bytes = (uint32_t)bytes;
    *data = pl_area_data(area, area->rank, bytes);
    return MPI_SUCCESS;
}

/* Shows it to one rank, or to all (-1): wakes those who sleep. Who falls asleep says so long before, and looks once
 * more after a fence on all processors (plugins/shm/doorbell.c). */
static inline void pl_area_publish(struct pl_area *area, int rank)
{
    uint64_t readers = rank < 0 ? ~(uint64_t)0 : (uint64_t)1 << rank;
    area->published[area->next % PL_AREA_SETS] = (struct pl_area_published){ area->next, rank };
    atomic_store_explicit(&area->slots[area->rank].word, area->next + 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t asleep = atomic_load_explicit(&area->memory->asleep, memory_order_relaxed) & readers;
    if (__builtin_expect(asleep != 0, 0))
        pl_area_wake(area, asleep);
}

/* Waits for the cell of a rank. `bytes`: in, what is expected; out, what there is, if that is less: MPI_ERR_TRUNCATE
 * if it is more. */
static inline int pl_area_wait(struct pl_area *area, int rank, size_t *bytes, const void **data)
{
    int rc = pl_area_has(area, rank) ? MPI_SUCCESS : pl_area_await(area, rank, rank + 1);
    size_t written = area->slots[rank].bytes;
    if (__builtin_expect(rc != MPI_SUCCESS, 0))
        return rc;
    if (__builtin_expect(written > *bytes, 0))
        return pl_area_fail_amount(rank, written, *bytes);
    *bytes = written;
    *data = pl_area_data(area, rank, written);
    return MPI_SUCCESS;
}

/* Waits for all ranks' cells, of so many bytes each: MPI_ERR_TRUNCATE for any other number, but with PL_AREA_ANY. */
static inline int pl_area_wait_all(struct pl_area *area, size_t bytes)
{
    int wrong = -1;
    for (int i = 0; i < area->size; i++) {
        int rc = i == area->rank || pl_area_has(area, i) ? MPI_SUCCESS : pl_area_await(area, i, area->size);
        if (__builtin_expect(rc != MPI_SUCCESS, 0))
            return rc;
        if (__builtin_expect(bytes != PL_AREA_ANY && area->slots[i].bytes != bytes, 0))
            wrong = i;
    }
    area->seen = area->next;
    return __builtin_expect(wrong < 0, 1) ? MPI_SUCCESS : pl_area_fail_amount(wrong, area->slots[wrong].bytes, bytes);
}

/* A cell that was waited for. */
static inline const void *pl_area_read(const struct pl_area *area, int rank, size_t bytes)
{
    return pl_area_data(area, rank, bytes);
}

static inline void pl_area_end(struct pl_area *area)
{
    uint32_t next = ++area->next;
    area->slots = pl_area_slots_of(area, next);
    atomic_store_explicit(&area->own->word, next, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t wanting = atomic_load_explicit(&area->memory->wanting, memory_order_relaxed);
    if (__builtin_expect(wanting != 0 || next % PL_AREA_RENEWAL == 0, 0))
        pl_area_end_slow(area, wanting);
}

#endif
