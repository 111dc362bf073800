/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of a machine of many cores, for code that is compiled with -fsanitize=thread. The compiler then calls a
 * function for each load and store. The functions here, in place of the thread sanitizer's, count how often a cache
 * line moves between cores, and how far.
 *
 * Ranks are fibers, one on each core. A rank runs until it waits, or until its clock is ahead of another's. An access
 * moves a line if the core does not hold it, or, for a store, if others hold it as well. It then counts once, at the
 * level that it has to reach: for a load the nearest holder, for a store the farthest. Loads take time, stores are on
 * their way while the core goes on. A line that follows one loaded before takes an eighth. Otherwise loads do not
 * overlap, and caches are never full. Any number of cores load a line at once, or with `queues` one after the other;
 * the truth lies between.
 */
#ifndef PLENUM_TESTS_LINES_H
#define PLENUM_TESTS_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define LINES_HOOK __attribute__((no_sanitize("thread")))

enum {
    LINES_CORES = 256,
    LINES_BYTES = 64,
    LINES_STACK = 64 << 10,
    LINES_APART = 8 << 20,
    LINES_AHEAD = 500,
    LINES_OVERLAP = 8,
    LINES_STREAMS = 4,
};

/* How far a line moves: to a core with the same last-level cache, of the same package, of another one. */
enum lines_level { LINES_CACHE, LINES_PACKAGE, LINES_MACHINE, LINES_LEVELS, LINES_NOT = LINES_LEVELS };
static const long lines_ns[LINES_LEVELS + 1] = { 25, 100, 200, 0 };

struct line {
    uint64_t holders[LINES_CORES / 64]; /* cores that have a copy */
    long there;                         /* when the last store reaches the others */
};

static struct lines_machine {
    int cores, packages, caches; /* caches of a package; cores fill one after the other */
    bool interleaved;            /* cores go round the caches */
    bool queues;                 /* cores that load the same line wait for each other */
    char *memory;
    size_t bytes;
    struct line *line;
    long moved[LINES_LEVELS], by[LINES_CORES]; /* in all; by the accesses of each core */
    int current;                               /* the rank that runs */
    bool running;
    int left; /* ranks that are not done */
    struct lines_rank {
        ucontext_t context;
        long clock;
        size_t streams[LINES_STREAMS]; /* the last line of each run of lines that it loads */
        int oldest;
        bool done;
        const _Atomic uint32_t *word; /* that it waits for; NULL: none */
        uint32_t value;
    } rank[LINES_CORES];
    ucontext_t scheduler;
    void (*run)(int rank);
    char *stacks;
} machine;

/* --- where cores are ---------------------------------------------------------------------------------------------- */

LINES_HOOK static int lines_cache_of(int core)
{
    int all = machine.packages * machine.caches;
    return machine.interleaved ? core % all : (int)((long)core * all / machine.cores);
}

LINES_HOOK static enum lines_level lines_distance(int a, int b)
{
    int from = lines_cache_of(a), to = lines_cache_of(b);
    return from == to ? LINES_CACHE : from / machine.caches == to / machine.caches ? LINES_PACKAGE : LINES_MACHINE;
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

LINES_HOOK static void lines_switch(void)
{
    swapcontext(&machine.rank[machine.current].context, &machine.scheduler);
}

LINES_HOOK static bool lines_holds(const struct line *line, int core)
{
    return line->holders[core / 64] >> core % 64 & 1;
}

/* The level of the nearest or the farthest other core that holds a line; LINES_NOT: none does. */
LINES_HOOK static enum lines_level lines_level_to(const struct line *line, int core, bool farthest)
{
    enum lines_level found = LINES_NOT;
    for (int other = 0; other < machine.cores; other++) {
        if (other == core || !lines_holds(line, other))
            continue;
        enum lines_level level = lines_distance(core, other);
        if (found == LINES_NOT || (farthest ? level > found : level < found))
            found = level;
    }
    return found;
}

/* Does a core load lines in order, as far as this one? */
LINES_HOOK static bool lines_follows(struct lines_rank *rank, size_t number)
{
    for (int i = 0; i < LINES_STREAMS; i++)
        if (number - rank->streams[i] <= 1) {
            bool next = number != rank->streams[i];
            rank->streams[i] = number;
            return next;
        }
    rank->streams[rank->oldest++ % LINES_STREAMS] = number;
    return false;
}

LINES_HOOK static void lines_access(size_t number, bool store)
{
    struct line *line = &machine.line[number];
    int core = machine.current;
    struct lines_rank *rank = &machine.rank[core];
    bool held = lines_holds(line, core), follows = !store && lines_follows(rank, number);
    enum lines_level level = held && !store ? LINES_NOT : lines_level_to(line, core, store);
    if (level != LINES_NOT) {
        machine.moved[level]++;
        machine.by[core]++;
    }
    if (store) {
        memset(line->holders, 0, sizeof line->holders);
        line->there = rank->clock + lines_ns[level];
    } else if (!held) {
        long takes = follows ? lines_ns[level] / LINES_OVERLAP : lines_ns[level];
        rank->clock = (rank->clock > line->there ? rank->clock : line->there) + takes;
        if (machine.queues)
            line->there = rank->clock;
    }
    line->holders[core / 64] |= (uint64_t)1 << core % 64;
}

/* Lets others catch up: not in the middle of a store. */
LINES_HOOK static void lines_catch_up(void)
{
    long least = machine.rank[machine.current].clock - LINES_AHEAD;
    for (int i = 0; i < machine.cores; i++)
        if (!machine.rank[i].done && !machine.rank[i].word && machine.rank[i].clock < least) {
            lines_switch();
            return;
        }
}

LINES_HOOK static void lines_range(const volatile void *at, size_t bytes, bool store)
{
    uintptr_t from = (uintptr_t)at - (uintptr_t)machine.memory;
    if (!machine.running || from >= machine.bytes || bytes == 0)
        return;
    for (size_t number = from / LINES_BYTES; number <= (from + bytes - 1) / LINES_BYTES; number++)
        lines_access(number, store);
    if (!store)
        lines_catch_up();
}

/* In place of memcpy(), for which not every compiler calls a function. */
LINES_HOOK static inline void *lines_copy(void *to, const void *from, size_t bytes)
{
    lines_range(from, bytes, false);
    lines_range(to, bytes, true);
    return __builtin_memcpy(to, from, bytes);
}

/* --- what the compiler calls -------------------------------------------------------------------------------------- */

#define LINES_PLAIN(size)                                                                                              \
    void __tsan_read##size(void *at);                                                                                  \
    void __tsan_write##size(void *at);                                                                                 \
    LINES_HOOK void __tsan_read##size(void *at)                                                                        \
    {                                                                                                                  \
        if ((uintptr_t)at - (uintptr_t)machine.memory < machine.bytes)                                                 \
            lines_range(at, size, false);                                                                              \
    }                                                                                                                  \
    LINES_HOOK void __tsan_write##size(void *at)                                                                       \
    {                                                                                                                  \
        if ((uintptr_t)at - (uintptr_t)machine.memory < machine.bytes)                                                 \
            lines_range(at, size, true);                                                                               \
    }

#define LINES_ATOMIC(bits)                                                                                             \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order);                                     \
    void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t value, int order);                              \
    LINES_HOOK uint##bits##_t __tsan_atomic##bits##_load(const volatile void *at, int order)                           \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        lines_range(at, bits / 8, false);                                                                              \
        return *(const volatile uint##bits##_t *)at;                                                                   \
    }                                                                                                                  \
    LINES_HOOK void __tsan_atomic##bits##_store(volatile void *at, uint##bits##_t value, int order)                    \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        lines_range(at, bits / 8, true);                                                                               \
        *(volatile uint##bits##_t *)at = value;                                                                        \
    }

#define LINES_FETCH(bits, name, operator)                                                                              \
    uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile void *at, uint##bits##_t value, int order);             \
    LINES_HOOK uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile void *at, uint##bits##_t value, int order)   \
    {                                                                                                                  \
        uint##bits##_t before = *(volatile uint##bits##_t *)at;                                                        \
        (void)order;                                                                                                   \
        lines_range(at, bits / 8, true);                                                                               \
        *(volatile uint##bits##_t *)at = before operator value;                                                        \
        return before;                                                                                                 \
    }

#ifdef LINES_COUNTED
LINES_PLAIN(1)
LINES_PLAIN(2)
LINES_PLAIN(4)
LINES_PLAIN(8)
LINES_PLAIN(16)
LINES_ATOMIC(32)
LINES_ATOMIC(64)
LINES_FETCH(32, add, +)
LINES_FETCH(64, add, +)
LINES_FETCH(64, sub, -)
LINES_FETCH(64, or, |)
LINES_FETCH(64, and, &)

void __tsan_read_range(void *at, long bytes);
void __tsan_write_range(void *at, long bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void *caller);
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_thread_fence(int order);
LINES_HOOK void __tsan_read_range(void *at, long bytes)
{
    lines_range(at, (size_t)bytes, false);
}
LINES_HOOK void __tsan_write_range(void *at, long bytes)
{
    lines_range(at, (size_t)bytes, true);
}
LINES_HOOK void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    return lines_copy(to, from, bytes);
}
LINES_HOOK void *__tsan_memset(void *to, int byte, size_t bytes)
{
    lines_range(to, bytes, true);
    return __builtin_memset(to, byte, bytes);
}
LINES_HOOK void __tsan_init(void)
{
}
LINES_HOOK void __tsan_func_entry(void *caller)
{
    (void)caller;
}
LINES_HOOK void __tsan_func_exit(void *caller)
{
    (void)caller;
}
LINES_HOOK void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __asm__ volatile("" ::: "memory");
}
LINES_HOOK void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __asm__ volatile("" ::: "memory");
}
#endif

/* --- ranks -------------------------------------------------------------------------------------------------------- */

/* Waits until another rank has advanced a word. */
static inline void lines_await(const _Atomic uint32_t *word, uint32_t value)
{
    struct lines_rank *rank = &machine.rank[machine.current];
    rank->word = word;
    rank->value = value;
    lines_switch();
}

LINES_HOOK static bool lines_may_run(struct lines_rank *rank)
{
    if (rank->done)
        return false;
    if (!rank->word)
        return true;
    if ((int32_t)(*(const volatile uint32_t *)rank->word - rank->value) < 0)
        return false;
    const struct line *line = &machine.line[(size_t)((const char *)rank->word - machine.memory) / LINES_BYTES];
    rank->clock = rank->clock > line->there ? rank->clock : line->there;
    rank->word = NULL;
    return true;
}

/* The one that is least far; -1: all are done, or wait. */
LINES_HOOK static int lines_next(void)
{
    int next = -1;
    for (int i = 0; i < machine.cores; i++)
        if (lines_may_run(&machine.rank[i]) && (next < 0 || machine.rank[i].clock < machine.rank[next].clock))
            next = i;
    return next;
}

static void lines_begin_rank(void)
{
    machine.run(machine.current);
    machine.rank[machine.current].done = true;
    lines_switch();
}

/* Runs a function on all ranks from time 0 on. Returns the number of ranks that wait for ever. */
static inline int lines_run(void (*run)(int rank))
{
    machine.left = machine.cores;
    machine.run = run;
    memset(machine.moved, 0, sizeof machine.moved);
    memset(machine.by, 0, sizeof machine.by);
    for (size_t i = 0; i < machine.bytes / LINES_BYTES; i++)
        machine.line[i].there = 0;
    for (int i = 0; i < machine.cores; i++) {
        struct lines_rank *rank = &machine.rank[i];
        *rank = (struct lines_rank){ .word = NULL };
        getcontext(&rank->context);
        rank->context.uc_stack.ss_sp = machine.stacks + (size_t)i * LINES_APART;
        rank->context.uc_stack.ss_size = LINES_STACK;
        makecontext(&rank->context, lines_begin_rank, 0);
    }
    machine.running = true;
    while ((machine.current = lines_next()) >= 0) {
        swapcontext(&machine.scheduler, &machine.rank[machine.current].context);
        machine.left -= machine.rank[machine.current].done;
    }
    machine.running = false;
    return machine.left;
}

/* The line of the core that moves most of them, and the time of the last rank. */
static inline long lines_most(void)
{
    long most = 0;
    for (int i = 0; i < machine.cores; i++)
        most = machine.by[i] > most ? machine.by[i] : most;
    return most;
}

static inline long lines_end(void)
{
    long end = 0;
    for (int i = 0; i < machine.cores; i++)
        end = machine.rank[i].clock > end ? machine.rank[i].clock : end;
    return end;
}

/* A machine, and zeroed memory that its cores share. Stacks are far from each other, since valgrind takes a small step
 * for a call. */
static inline void lines_open(int cores, int packages, int caches, size_t bytes)
{
    machine = (struct lines_machine){ .cores = cores, .packages = packages, .caches = caches };
    machine.bytes = (bytes + LINES_BYTES - 1) / LINES_BYTES * LINES_BYTES;
    machine.memory =
        mmap(NULL, machine.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    machine.line = calloc(machine.bytes / LINES_BYTES, sizeof *machine.line);
    machine.stacks = mmap(NULL, (size_t)cores * LINES_APART, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (machine.memory == MAP_FAILED || machine.stacks == MAP_FAILED || !machine.line)
        abort();
}

static inline void lines_close(void)
{
    munmap(machine.memory, machine.bytes);
    munmap(machine.stacks, (size_t)machine.cores * LINES_APART);
    free(machine.line);
    machine.memory = NULL;
    machine.bytes = 0;
}

#endif
