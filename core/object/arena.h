/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of objects with handles: one reserved range of addresses, divided into chunks, each for one kind.
 *
 * Any pointer can be checked: is it in the range, in a chunk of its kind, at the start of a slot, and is there the
 * stamp of a live object? The checks follow no pointer that does not belong to the arena.
 *
 * Any thread may call all functions. pl_arena_trim() unmaps the range if no object lives: no thread may check a freed
 * handle at that moment.
 */
#ifndef PLENUM_CORE_OBJECT_ARENA_H
#define PLENUM_CORE_OBJECT_ARENA_H

#include "core/object/object.h"

/* Takes a slot for an object of this kind, zeroed except its header, which the caller fills in. NULL: out of memory. */
struct pl_object *pl_arena_take(enum pl_kind kind);

/* Marks the object as live, so that pl_arena_find() finds it. Its creator does that last. */
void pl_arena_stamp(struct pl_object *object, enum pl_kind kind);

/* Erases the stamp and frees the slot. */
void pl_arena_give(struct pl_object *object, enum pl_kind kind);

enum { PL_CHUNK = 64 << 10, PL_CHUNK_HEAD = 64 };

/* The range of all objects, with which a pointer is compared. */
extern struct pl_arena_range {
    _Atomic uintptr_t base; /* 0: no range is reserved */
    _Atomic size_t grown;   /* usable chunks: each begins with its record */
    _Atomic uint64_t cookie;
} pl_arena_range;

/* The beginning of a chunk's record. */
struct pl_arena_chunk {
    _Atomic int kind; /* enum pl_kind, 0: spare */
    uint32_t stride;  /* bytes from one object to the next */
    uint32_t inverse; /* 2^32 / stride, rounded up: a multiplication is a tenth of a division */
};

/* The index of the object whose slot begins `within` bytes behind the chunk's first slot. Exact, because both numbers
 * are small. */
static inline uint32_t pl_arena_index(const struct pl_arena_chunk *chunk, size_t within)
{
    return (uint32_t)((uint64_t)(within - PL_CHUNK_HEAD) * chunk->inverse >> 32);
}

/* The live object of this kind that starts at `pointer`; NULL: there is none. */
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

/* The number of live objects of a kind. */
long pl_arena_count(enum pl_kind kind);

/* Returns the memory of empty chunks to the system, and the whole range if no object lives. */
void pl_arena_trim(void);

#endif
