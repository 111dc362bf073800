/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See arena.h.
 *
 * The range is reserved without memory. Chunks become usable from its start on; spare chunks are reused first. A chunk
 * begins with its record, so that checking a pointer reads only the arena: below `grown` every record is readable, and
 * its kind is 0 while no pool owns the chunk.
 *
 * Slots come from pools. Each kind has several, chosen by thread, so that threads that start operations at the same
 * time rarely contend. A freed slot keeps a readable header; AddressSanitizer guards the rest.
 *
 * Locking: a pool's lock protects the slots of its chunks. The arena's lock protects the range and the spare chunks; it
 * is taken inside a pool's.
 */
#include "core/object/arena.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/memory.h"

#if PL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { CHUNK = PL_CHUNK, ALIGN = PL_CHUNK_HEAD, SHARDS = 8, CHUNKS_AT_ONCE = 16 };

static const size_t largest_range = (size_t)16 << 30, smallest_range = (size_t)64 << 20;

struct chunk {
    struct pl_arena_chunk head;
    int shard;
    int used;            /* slots that hold a live object */
    int slots;           /* slots that fit */
    int fresh;           /* slots from this one on were never used */
    int freed;           /* first freed slot, whose pl_object.abi is the next one; -1: none */
    struct pl_list link; /* in its pool's `open` while it has a free slot; in arena.spare while no pool owns it */
};
_Static_assert(sizeof(struct chunk) <= ALIGN, "the record of a chunk fits in front of its first slot");

struct pool {
    _Alignas(ALIGN) struct pl_lock lock;
    struct pl_list open; /* chunks with a free slot; all zero until first used */
    long live;
};

struct pl_arena_range pl_arena_range;

static struct pool pools[PL_KINDS][SHARDS] = {
    [0 ... PL_KINDS - 1] = { [0 ... SHARDS - 1] = { .lock = PL_LOCK_INIT(PL_RANK_ARENA) } },
};

static _Atomic unsigned used_shards; /* a bit for each shard that a thread has ever used */

static struct {
    struct pl_lock lock;
    size_t limit; /* reserved chunks: a multiple of CHUNKS_AT_ONCE */
    size_t taken; /* chunks that pools own */
    struct pl_list spare;
} arena = { .lock = PL_LOCK_INIT(PL_RANK_LEAF) };

static size_t arena_stride(enum pl_kind kind)
{
    return (pl_kinds[kind].size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static struct pl_object *arena_slot(struct chunk *chunk, enum pl_kind kind, int index)
{
    return (struct pl_object *)((char *)chunk + ALIGN + (size_t)index * arena_stride(kind));
}

static uint64_t stamp_of(enum pl_kind kind)
{
    return atomic_load_explicit(&pl_arena_range.cookie, memory_order_relaxed) + (uint64_t)kind;
}

/* --- the range and its chunks ------------------------------------------------------------------------------- */

static bool reserve_locked(void)
{
    for (size_t bytes = largest_range; bytes >= smallest_range; bytes /= 4) {
        void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED)
            continue;
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
            random = (uintptr_t)range * 0x9e3779b97f4a7c15u;
        pl_list_init(&arena.spare);
        arena.limit = bytes / CHUNK;
        atomic_store(&pl_arena_range.cookie, random | (uint64_t)1 << 63);
        atomic_store_explicit(&pl_arena_range.base, (uintptr_t)range, memory_order_release);
        return true;
    }
    return false;
}

static struct chunk *grow_locked(void)
{
    if (!pl_arena_range.base && !reserve_locked())
        return NULL;
    if (pl_arena_range.grown == arena.limit)
        return NULL;
    void *at = (void *)(pl_arena_range.base + pl_arena_range.grown * CHUNK);
    bool ready = pl_arena_range.grown % CHUNKS_AT_ONCE != 0;
    if (!ready && mprotect(at, (size_t)CHUNKS_AT_ONCE * CHUNK, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    atomic_fetch_add_explicit(&pl_arena_range.grown, 1, memory_order_release);
    return at;
}

static struct chunk *take_chunk(enum pl_kind kind, int shard)
{
    pl_lock_take(&arena.lock);
    struct pl_list *spare = pl_arena_range.base ? pl_list_pop(&arena.spare) : NULL;
    struct chunk *chunk = spare ? PL_CONTAINER(spare, struct chunk, link) : grow_locked();
    if (chunk)
        arena.taken++;
    pl_lock_drop(&arena.lock);
    if (!chunk)
        return NULL;
    chunk->shard = shard;
    chunk->used = chunk->fresh = 0;
    chunk->freed = -1;
    chunk->slots = (int)((CHUNK - ALIGN) / arena_stride(kind));
    chunk->head.stride = (uint32_t)arena_stride(kind);
    chunk->head.inverse = UINT32_MAX / chunk->head.stride + 1;
    pl_list_init(&chunk->link);
    atomic_store_explicit(&chunk->head.kind, kind, memory_order_release);
    return chunk;
}

/* Returns a chunk's memory to the system, except the first page, which has the record. Some machines have pages as long
 * as a chunk. */
static void give_chunk(struct chunk *chunk)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    atomic_store_explicit(&chunk->head.kind, 0, memory_order_release);
    ASAN_UNPOISON_MEMORY_REGION(chunk, CHUNK);
    if (page < CHUNK)
        madvise((char *)chunk + page, CHUNK - page, MADV_DONTNEED);
    pl_lock_take(&arena.lock);
    pl_list_append(&arena.spare, &chunk->link);
    arena.taken--;
    pl_lock_drop(&arena.lock);
}

/* --- slots -------------------------------------------------------------------------------------------------- */

/* Threads get shards in turn: each of the first ones has its own. */
static int shard_of_thread(void)
{
    static _Atomic unsigned threads;
    static _Thread_local int own = -1;
    if (own < 0) {
        own = (int)(atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % SHARDS);
        atomic_fetch_or_explicit(&used_shards, 1u << own, memory_order_relaxed);
    }
    return own;
}

static struct chunk *chunk_with_slot_locked(struct pool *pool, enum pl_kind kind, int shard)
{
    if (!pool->open.next)
        pl_list_init(&pool->open);
    if (!pl_list_empty(&pool->open))
        return PL_CONTAINER(pool->open.next, struct chunk, link);
    struct chunk *chunk = take_chunk(kind, shard);
    if (chunk)
        pl_list_append(&pool->open, &chunk->link);
    return chunk;
}

static struct pl_object *take_slot_locked(struct pool *pool, enum pl_kind kind, int shard)
{
    struct chunk *chunk = chunk_with_slot_locked(pool, kind, shard);
    if (!chunk)
        return NULL;
    struct pl_object *object;
    if (chunk->freed >= 0) {
        object = arena_slot(chunk, kind, chunk->freed);
        chunk->freed = object->abi;
    } else {
        object = arena_slot(chunk, kind, chunk->fresh++);
    }
    pool->live++;
    if (++chunk->used == chunk->slots)
        pl_list_remove(&chunk->link);
    return object;
}

static struct pl_object *take_slot(enum pl_kind kind)
{
    int shard = shard_of_thread();
    struct pool *pool = &pools[kind][shard];
    pl_lock_take(&pool->lock);
    struct pl_object *object = take_slot_locked(pool, kind, shard);
    pl_lock_drop(&pool->lock);
    return object;
}

struct pl_object *pl_arena_take(enum pl_kind kind)
{
    struct pl_object *object = pl_memory_fails() ? NULL : take_slot(kind);
    if (!object && pl_memory_free_reserve())
        object = take_slot(kind);
    if (!object)
        return NULL;
    size_t body = arena_stride(kind) - sizeof *object;
    ASAN_UNPOISON_MEMORY_REGION(object + 1, body);
    memset(object + 1, 0, body);
    return object;
}

void pl_arena_stamp(struct pl_object *object, enum pl_kind kind)
{
    __atomic_store_n(&object->stamp, stamp_of(kind), __ATOMIC_RELEASE);
}

void pl_arena_give(struct pl_object *object, enum pl_kind kind)
{
    uintptr_t offset = (uintptr_t)object - atomic_load_explicit(&pl_arena_range.base, memory_order_relaxed);
    struct chunk *chunk = (struct chunk *)((uintptr_t)object - offset % CHUNK);
    __atomic_store_n(&object->stamp, 0, __ATOMIC_RELEASE);
    ASAN_POISON_MEMORY_REGION(object + 1, arena_stride(kind) - sizeof *object);

    struct pool *pool = &pools[kind][chunk->shard];
    pl_lock_take(&pool->lock);
    object->abi = chunk->freed;
    chunk->freed = (int)pl_arena_index(&chunk->head, offset % CHUNK);
    if (chunk->used-- == chunk->slots)
        pl_list_append(&pool->open, &chunk->link);
    pool->live--;
    /* A pool keeps its last chunk with a free slot, so that an object that is made and freed repeatedly causes no
     * system calls. */
    bool empty = chunk->used == 0 && (pool->open.next != &chunk->link || pool->open.prev != &chunk->link);
    if (empty)
        pl_list_remove(&chunk->link);
    pl_lock_drop(&pool->lock);
    if (empty)
        give_chunk(chunk);
}

/* --- lookup ---------------------------------------------------------------------------------------------- */

long pl_arena_count(enum pl_kind kind)
{
    long live = 0;
    for (int shard = 0; shard < SHARDS; shard++) {
        struct pool *pool = &pools[kind][shard];
        pl_lock_take(&pool->lock);
        live += pool->live;
        pl_lock_drop(&pool->lock);
    }
    return live;
}

/* Moves the empty chunks that a pool keeps to `empty`; returns their number. */
static size_t trim_pool(struct pool *pool, struct pl_list *empty)
{
    size_t count = 0;
    pl_lock_take(&pool->lock);
    if (pool->open.next) {
        PL_LIST_EACH(chunk, &pool->open, struct chunk, link) {
            if (chunk->used > 0)
                continue;
            pl_list_remove(&chunk->link);
            pl_list_append(empty, &chunk->link);
            count++;
        }
    }
    pl_lock_drop(&pool->lock);
    return count;
}

/* Unmaps the range if no pool owns a chunk other than those that the caller has taken out. */
static bool unmap_all(size_t empty)
{
    pl_lock_take(&arena.lock);
    bool all = pl_arena_range.base && arena.taken == empty;
    if (all) {
        void *range = (void *)pl_arena_range.base;
        ASAN_UNPOISON_MEMORY_REGION(range, pl_arena_range.grown * CHUNK);
        arena.taken = 0;
        atomic_store(&pl_arena_range.grown, 0);
        atomic_store(&pl_arena_range.base, 0);
        munmap(range, arena.limit * CHUNK);
    }
    pl_lock_drop(&arena.lock);
    return all;
}

void pl_arena_trim(void)
{
    struct pl_list empty;
    size_t count = 0;
    unsigned shards = atomic_load_explicit(&used_shards, memory_order_relaxed);
    pl_list_init(&empty);
    for (int shard = 0; shard < SHARDS; shard++)
        for (int kind = 1; shards >> shard & 1 && kind < PL_KINDS; kind++)
            count += trim_pool(&pools[kind][shard], &empty);
    if (unmap_all(count))
        return;
    for (struct pl_list *node; (node = pl_list_pop(&empty));)
        give_chunk(PL_CONTAINER(node, struct chunk, link));
}
