/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc and friends that a test can make fail: pl_memory_fail_at(n) lets the n-th allocation from now, of this
 * process, return NULL. Memory is freed with free().
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

static inline void *pl_malloc(size_t bytes)
{
    return pl_memory_fails() ? NULL : malloc(bytes);
}

static inline void *pl_calloc(size_t count, size_t bytes)
{
    return pl_memory_fails() ? NULL : calloc(count, bytes);
}

static inline void *pl_realloc(void *memory, size_t bytes)
{
    return pl_memory_fails() ? NULL : realloc(memory, bytes);
}

static inline char *pl_strdup(const char *text)
{
    return pl_memory_fails() ? NULL : strdup(text);
}

#endif
