/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of handle objects: one reserved range of addresses, cut into chunks, each chunk for one kind.
 *
 * Any pointer can be asked about: whether it is in the range, in a chunk of the kind, at the start of a slot, and
 * carries the stamp of a live object, is answered without ever following a pointer that is not the arena's own.
 *
 * Thread rule: all functions by any thread. Only pl_arena_trim() has a condition: it unmaps the range when no object
 * lives, and a thread that at this very moment asks about a freed handle has nothing to ask about.
 */
#ifndef PLENUM_CORE_OBJECT_ARENA_H
#define PLENUM_CORE_OBJECT_ARENA_H

#include "core/object/object.h"

/* A slot for an object of this kind: zeroed but for its header, which the caller fills in. NULL: out of memory. */
struct pl_object *pl_arena_take(enum pl_kind kind);

/* Marks the object as live: from now on it is found. The last thing that its maker does. */
void pl_arena_stamp(struct pl_object *object, enum pl_kind kind);

/* Wipes the stamp and takes the slot back. */
void pl_arena_give(struct pl_object *object, enum pl_kind kind);

enum { PL_CHUNK = 64 << 10, PL_CHUNK_HEAD = 64 };

/* The range that holds all objects, in chunks of one kind each; what a pointer is compared with. */
extern struct pl_arena_range {
    _Atomic uintptr_t base; /* 0: nothing is reserved */
    _Atomic size_t grown;   /* chunks that are usable: each begins with its record */
    _Atomic uint64_t cookie;
} pl_arena_range;

/* The beginning of a chunk's record. */
struct pl_arena_chunk {
    _Atomic int kind; /* enum pl_kind, 0: spare */
    uint32_t stride;  /* bytes from one object to the next */
    uint32_t inverse; /* 2^32 / stride, rounded up: a multiplication is a tenth of a division */
};

/* The index of the object that begins, or would, `within` bytes from the chunk's start. Exact, because both are
 * small. */
static inline uint32_t pl_arena_index(const struct pl_arena_chunk *chunk, size_t within)
{
    return (uint32_t)((uint64_t)(within - PL_CHUNK_HEAD) * chunk->inverse >> 32);
}

/* The live object of this kind that starts at `pointer`, NULL when there is none. */
static inline struct pl_object *pl_arena_find(enum pl_kind kind, const void *pointer)
{
    uintptr_t base = atomic_load_explicit(&pl_arena_range.base, memory_order_acquire);
    size_t offset = (uintptr_t)pointer - base, within = offset % PL_CHUNK;
    if (!base || offset / PL_CHUNK >= atomic_load_explicit(&pl_arena_range.grown, memory_order_acquire))
        return NULL;
    const struct pl_arena_chunk *chunk = (const struct pl_arena_chunk *)((uintptr_t)pointer - within);
    if (atomic_load_explicit(&chunk->kind, memory_order_acquire) != (int)kind)
        return NULL;
    if (within < PL_CHUNK_HEAD || within + chunk->stride > PL_CHUNK ||
        pl_arena_index(chunk, within) * chunk->stride != within - PL_CHUNK_HEAD)
        return NULL;
    struct pl_object *object = (struct pl_object *)(uintptr_t)pointer;
    uint64_t stamp = atomic_load_explicit(&pl_arena_range.cookie, memory_order_relaxed) + (uint64_t)kind;
    return __atomic_load_n(&object->stamp, __ATOMIC_ACQUIRE) == stamp ? object : NULL;
}

/* Live objects of a kind. */
long pl_arena_count(enum pl_kind kind);

/* Gives everything back to the system when no object lives; what empty chunks hold in any case. */
void pl_arena_trim(void);

#endif
