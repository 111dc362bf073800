/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc and friends that a test can make fail: pl_memory_fail_at(n) lets the n-th allocation from now, of this
 * process, return NULL. Memory is freed with free().
 *
 * A thread that is about to do what others depend on can set memory aside: the reserve. If an allocation of that thread
 * fails then, the reserve is freed, and the allocation is tried once more.
 */
#ifndef PLENUM_CORE_BASE_MEMORY_H
#define PLENUM_CORE_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

extern _Atomic long pl_memory_countdown; /* memory.c: 0: nothing fails */
bool pl_memory_count(void);

/* True for the allocation that is to fail. Asked by whatever hands out memory. */
static inline bool pl_memory_fails(void)
{
    return pl_unlikely(atomic_load_explicit(&pl_memory_countdown, memory_order_relaxed) > 0) && pl_memory_count();
}

/* n = 1: the next one. 0: none any more. */
void pl_memory_fail_at(long n);

/* True when the failure that was asked for has happened (or none was asked for). */
bool pl_memory_failed(void);

/* Sets `bytes` aside for this thread, instead of a reserve that it has. False: there is no memory for it. */
bool pl_memory_reserve(size_t bytes);

/* Frees what is left of the reserve. True: there was one. */
bool pl_memory_free_reserve(void);

static inline void *pl_malloc(size_t bytes)
{
    void *memory = pl_memory_fails() ? NULL : malloc(bytes);
    return pl_likely(memory != NULL) || !pl_memory_free_reserve() ? memory : malloc(bytes);
}

static inline void *pl_calloc(size_t count, size_t bytes)
{
    void *memory = pl_memory_fails() ? NULL : calloc(count, bytes);
    return pl_likely(memory != NULL) || !pl_memory_free_reserve() ? memory : calloc(count, bytes);
}

static inline void *pl_realloc(void *old, size_t bytes)
{
    void *memory = pl_memory_fails() ? NULL : realloc(old, bytes);
    return pl_likely(memory != NULL) || !pl_memory_free_reserve() ? memory : realloc(old, bytes);
}

static inline char *pl_strdup(const char *text)
{
    char *copy = pl_memory_fails() ? NULL : strdup(text);
    return pl_likely(copy != NULL) || !pl_memory_free_reserve() ? copy : strdup(text);
}

#endif
