/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots of a collective area, and an operation on them (area.h). This file has the layout of the shared memory, a
 * rank's private state, and the common path of every short collective, to be inlined into it. slots.c and await.c have
 * what takes longer.
 */
#ifndef PLENUM_CORE_COLL_AREA_SLOTS_H
#define PLENUM_CORE_COLL_AREA_SLOTS_H

#include <stdatomic.h>

#include "core/base/compiler.h"
#include "core/base/cpu.h"
#include "core/base/shared.h"
#include "core/coll/area/area.h"
#include "core/coll/area/await.h"
#include "core/coll/area/balance.h"
#include "core/coll/area/tree.h"
#include "core/coll/collective.h"
#include "core/engine/engine.h"

enum {
    PL_AREA_SMALL = 48,            /* bytes of data in the slot itself, beside its number */
    PL_AREA_SETS = 512,            /* of slots: operations that may be under way at once */
    PL_AREA_SHORT_RING = 32 << 10, /* bytes of a rank's ring for longer data, up to PL_AREA_SHORT ... */
    PL_AREA_LONG_RING = 516 << 10, /* ... and beyond: two slots, or more and smaller ones, each shifted by a line */
    PL_AREA_ELSEWHERE = PL_AREA_MAX + 1, /* as the bytes of a slot: messages bring its data */
    PL_AREA_RENEWAL = 1 << 19,           /* operations between two renewals of old numbers (slots.c) */
    PL_AREA_AHEAD = 4, /* operations before it writes a slot, its owner prefetches the line for writing */
};

#define PL_AREA_ANY SIZE_MAX /* as the expected bytes: slots may differ */

/* Everything that one rank writes and others poll has a line of its own. */
struct pl_area_slot {
    PL_CACHE_ALIGNED _Atomic uint32_t word; /* its operation, plus 1; or the number of those completed */
    uint32_t bytes;                         /* of data, here or in one of the owner's rings */
    uint32_t offset;                        /* in that ring */
    _Atomic uint32_t core; /* with completed operations: where the rank waited last, and when: pl_area_core_word() */
    unsigned char data[PL_AREA_SMALL];
};
_Static_assert(sizeof(struct pl_area_slot) == PL_CACHE_LINE, "short data is in the line of its number");
_Static_assert(PL_AREA_LONG_RING >= 2 * PL_AREA_MAX && PL_AREA_SHORT_RING >= 2 * PL_AREA_SHORT,
               "a rank can write a second operation before the first is read");

enum { PL_AREA_WORDS = PL_AREA_RANKS / 64 }; /* of a set of ranks, with a bit for each */

/* The shared memory. */
struct pl_area_memory {
    struct pl_area_slot released; /* number of ranks, the owner aside, that use it no more */
    PL_CACHE_ALIGNED _Atomic uint64_t
        asleep[PL_AREA_WORDS];              /* ranks that may sleep until a slot is published to them */
    _Atomic uint64_t wanting;               /* number of ranks that wait for space */
    _Atomic uint64_t wanted[PL_AREA_RANKS]; /* and what for: area_wish_of() */
    /* [size] operations completed by each, and as data its struct pl_area_place; [PL_AREA_SETS][size] slots; then
     * [size] short rings, and long ones for up to PL_AREA_FLAT ranks */
    struct pl_area_slot lines[];
};

/* What this rank has published in a set of slots. */
struct pl_area_published {
    uint32_t number; /* in which operation */
    int reader;      /* a rank; -1: all; this rank: none; below: area_children_of() */
};

struct pl_area_call;

/* Does a chunk of `bytes` bytes, from byte `at` on: one operation on the area without its end. */
typedef int pl_area_chunk(struct pl_area_call *call, size_t at, size_t bytes);

/* What this rank has written into a ring. */
struct pl_area_written {
    uint32_t number;    /* in which operation */
    uint64_t before[2]; /* bytes written into both rings until then */
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
    uint64_t head[2];           /* bytes that this rank has written into its own so far */
    uint32_t shift;             /* bytes between the start of a line and that of long data */
    uint32_t oldest, newest;    /* of `written`: from the oldest that may still be read */
    struct pl_area_published published[PL_AREA_SETS];
    struct pl_area_written written[PL_AREA_SETS];
    size_t wrong;                        /* the amount that another rank gave last, and this one did not expect */
    uint32_t completed[PL_AREA_RANKS];   /* by each rank, when this one read it last: those before this number */
    pl_area_chunk *chunk[PL_COLL_KINDS]; /* for short data, and for any where area_chunk_of() says so; NULL: none */
    enum pl_area_trees { PL_TREE_NONE, PL_TREE_BY_SIZE, PL_TREE_ALWAYS } trees; /* which operations go along the tree */
    struct pl_area_tree tree;
    struct pl_area_balance balance;
    struct pl_shared shared;   /* the owner's; memory NULL elsewhere */
    struct pl_endpoint *owner; /* elsewhere */
    struct pl_closer closer;   /* of the engine, once the owner uses it no more */
};

/* A collective under way in an area: what its chunks share. */
struct pl_area_call {
    struct pl_area *area;
    const struct pl_coll *coll;
    int rank, size, root;
    size_t bytes; /* alike on all: of the vector in bcast, reduce, allreduce and scans, else of the longest block */
    size_t last;  /* of the chunk before, if its parts have yet to be published */
    bool exceeds_caches; /* what this rank receives */
    uint64_t elsewhere;  /* ranks whose data does not fit into a slot: messages bring it after the operation */
};

/* The bytes of the memory for this many ranks; and the rest of a rank's state once it has mapped that memory. */
size_t pl_area_memory_bytes(int size);
void pl_area_begin(struct pl_area *area);

/* Waits until the readers of what this rank published in operation `number` have read it. If they have not yet, waits
 * for everything up to operation `enough`. */
int pl_area_await_reader(struct pl_area *area, uint32_t number, uint32_t enough);

/* Finds space for `bytes` bytes in this rank's ring. Waits until what was there has been read. */
int pl_area_take_space(struct pl_area *area, size_t bytes, uint32_t *offset);

/* The rest of an operation's end: wakes those of the ranks `wanting` whose space is free now, and renews numbers that
 * get old. */
void pl_area_end_slow(struct pl_area *area, uint64_t wanting);

/* A rank gives another amount than this rank expects: MPI_ERR_TRUNCATE. */
PL_COLD int pl_area_fail_amount(struct pl_area *area, int rank, size_t given, size_t expected);

/* --- where ranks wait --------------------------------------------------------------------------------------------- */

enum { PL_AREA_CORE_BITS = 12, PL_AREA_CORE_UNIT = 256 /* operations */, PL_AREA_CORE_NEW = 4 /* units */ };

/* 0 stands for a rank that has not waited. */
static inline uint32_t pl_area_core_word(int core, uint32_t number)
{
    return number / PL_AREA_CORE_UNIT << PL_AREA_CORE_BITS | (((uint32_t)core + 1) & ((1u << PL_AREA_CORE_BITS) - 1));
}

/* -1: unknown. */
static inline int pl_area_core_of(uint32_t word)
{
    return (int)(word & ((1u << PL_AREA_CORE_BITS) - 1)) - 1;
}

/* A rank may be ahead of this one. */
static inline bool pl_area_core_is_new(uint32_t word, uint32_t number)
{
    uint32_t unit = number / PL_AREA_CORE_UNIT << PL_AREA_CORE_BITS,
             its = word >> PL_AREA_CORE_BITS << PL_AREA_CORE_BITS;
    int32_t behind = (int32_t)(unit - its) / (1 << PL_AREA_CORE_BITS);
    return behind <= PL_AREA_CORE_NEW && behind >= -PL_AREA_CORE_NEW;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static inline struct pl_area_slot *pl_area_completed(const struct pl_area *area, int rank)
{
    return &area->memory->lines[rank];
}

/* [size] of an operation. */
static inline struct pl_area_slot *pl_area_slots_of(const struct pl_area *area, uint32_t number)
{
    return &area->memory->lines[(size_t)area->size * (1 + number % PL_AREA_SETS)];
}

/* Has the rank published its slot of the operation under way? */
static inline bool pl_area_has(const struct pl_area *area, int rank)
{
    uint32_t word = atomic_load_explicit(&area->slots[rank].word, memory_order_acquire);
    return (int32_t)(word - area->next) > 0;
}

/* The bytes that a rank says are in its slot. */
static inline size_t pl_area_written(const struct pl_area *area, int rank)
{
    return pl_read_shared(&area->slots[rank].bytes);
}

/* Where the data of a slot is, at most PL_AREA_ELSEWHERE bytes. Whatever another rank's offset says, the result lies
 * within that rank's ring, aligned for each basic type. */
PL_PURE void *pl_area_in_ring(const struct pl_area *area, int rank, size_t bytes, size_t offset);
PL_PURE void *pl_area_data_in_ring(const struct pl_area *area, int rank, size_t bytes);
static inline void *pl_area_data(const struct pl_area *area, int rank, size_t bytes)
{
    return pl_likely(bytes <= PL_AREA_SMALL) ? area->slots[rank].data : pl_area_data_in_ring(area, rank, bytes);
}

/* --- an operation: reserve, publish, wait and read as it needs; then always end, after an error too --------------- */

/* Has every reader read this, as far as this rank knows? */
static inline bool pl_area_is_read(const struct pl_area *area, const struct pl_area_published *published)
{
    return (int32_t)(published->number - area->seen) < 0 ||
           (published->reader >= 0 && (int32_t)(area->completed[published->reader] - published->number) > 0);
}

/* The most bytes in a slot. */
static inline size_t pl_area_most(const struct pl_area *area)
{
    return area->size <= PL_AREA_FLAT ? PL_AREA_MAX : PL_AREA_SHORT;
}

/* Space for this rank's data, at most pl_area_most() bytes. Waits until there is some. */
static inline int pl_area_reserve(struct pl_area *area, size_t bytes, void **data)
{
    struct pl_area_slot *slot = &area->slots[area->rank];
    const struct pl_area_published *before = &area->published[area->next % PL_AREA_SETS];
    int rc = MPI_SUCCESS;
    if (pl_unlikely(!pl_area_is_read(area, before)))
        rc = pl_area_await_reader(area, before->number, area->next - PL_AREA_SETS / 2);
    if (rc == MPI_SUCCESS && bytes > PL_AREA_SMALL)
        rc = pl_area_take_space(area, bytes, &slot->offset);
    if (pl_unlikely(rc != MPI_SUCCESS))
        return rc;
    pl_prefetch_to_write(&pl_area_slots_of(area, area->next + PL_AREA_AHEAD)[area->rank]);
    slot->bytes = (uint32_t)bytes;
    *data = pl_area_data(area, area->rank, bytes);
    return MPI_SUCCESS;
}

/* Publishes the slot to one rank, or to all (-1), of at most PL_AREA_FLAT, and wakes those that sleep. A rank sets its
 * bit in `asleep` some rounds before it sleeps, and polls once more after a fence on all processors
 * (plugins/shm/doorbell.c). An engine that asks its writers for fences instead gets none here. Its sleep misses a slot
 * only if the store above takes longer than those rounds to become visible, and then ends by itself. */
static inline void pl_area_publish(struct pl_area *area, int rank)
{
    uint64_t readers = rank < 0 ? ~(uint64_t)0 : (uint64_t)1 << rank;
    area->published[area->next % PL_AREA_SETS] = (struct pl_area_published){ area->next, rank };
    atomic_store_explicit(&area->slots[area->rank].word, area->next + 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t asleep = atomic_load_explicit(&area->memory->asleep[0], memory_order_relaxed) & readers;
    if (pl_unlikely(asleep != 0))
        pl_area_wake(area, asleep);
}

/* The same for a rank, or for the children in the tree with that root, of any number of ranks (slots.c). `for_all`: in
 * the end all ranks read the data, which the children tell of. */
void pl_area_publish_up(struct pl_area *area, int parent);
void pl_area_publish_down(struct pl_area *area, int root, bool for_all);

/* Waits for the slot of a rank. `bytes`: in, the most that is expected; out, what there is. MPI_ERR_TRUNCATE if there
 * is more. */
static inline int pl_area_wait(const struct pl_area_call *call, int rank, size_t *bytes, const void **data)
{
    struct pl_area *area = call->area;
    int rc = pl_area_has(area, rank) ? MPI_SUCCESS : pl_area_await(area, call, rank, rank + 1);
    size_t written = pl_area_written(area, rank);
    if (pl_unlikely(rc != MPI_SUCCESS))
        return rc;
    if (pl_unlikely(written > *bytes))
        return pl_area_fail_amount(area, rank, written, *bytes);
    *bytes = written;
    *data = pl_area_data(area, rank, written);
    return MPI_SUCCESS;
}

/* Waits for the slots of all ranks, each of exactly `bytes` bytes, else MPI_ERR_TRUNCATE; or of PL_AREA_ANY. The caller
 * reads `bytes` bytes, whatever a slot says by then. `call` NULL: its arguments say nothing. */
static inline int pl_area_wait_all(struct pl_area *area, const struct pl_area_call *call, size_t bytes)
{
    int wrong = -1;
    for (int i = 0; i < area->size; i++) {
        int rc = i == area->rank || pl_area_has(area, i) ? MPI_SUCCESS : pl_area_await(area, call, i, area->size);
        if (pl_unlikely(rc != MPI_SUCCESS))
            return rc;
        if (pl_unlikely(bytes != PL_AREA_ANY && area->slots[i].bytes != bytes))
            wrong = i;
    }
    area->seen = area->next;
    return pl_likely(wrong < 0) ? MPI_SUCCESS : pl_area_fail_amount(area, wrong, area->slots[wrong].bytes, bytes);
}

/* The data of a slot that this rank has waited for. */
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
    if (pl_unlikely(wanting != 0 || next % PL_AREA_RENEWAL == 0))
        pl_area_end_slow(area, wanting);
}

#endif
