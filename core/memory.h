/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc and friends that a test can make fail: pl_memory_fail_at(n) lets the n-th allocation from now, of this
 * process, return NULL. Freed with free(). Without debug checks (NDEBUG) these are the C library's functions and
 * nothing ever fails on purpose.
 */
#ifndef PLENUM_CORE_MEMORY_H
#define PLENUM_CORE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef NDEBUG
static inline bool pl_memory_fails(void)
{
    return false;
}
#else
/* Counts down; true for the allocation that is to fail. Called by whatever hands out memory. */
bool pl_memory_fails(void);

/* n = 1: the next one. 0: none any more. */
void pl_memory_fail_at(long n);

/* True when the failure that was asked for has happened (or none was asked for). */
bool pl_memory_failed(void);
#endif

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
