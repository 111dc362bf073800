/* SPDX-License-Identifier: BSD-3-Clause */
/* See far_copy.h. */
#include "core/base/far_copy.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

/* The sanitizers do not see what an instruction of our own accesses. */
#if PL_X86_64 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <cpuid.h>

/* Does `rep movsb` move whole lines? The processor says so (ERMS). Two threads may ask at once, and learn the same. */
static bool far_copy_has_strings(void)
{
    enum { UNKNOWN, NO, YES, LEAF = 7, ERMS = 1 << 9 };
    static atomic_int known = UNKNOWN;
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (pl_unlikely(now == UNKNOWN)) {
        unsigned a, b = 0, c, d;
        now = __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) && b & ERMS ? YES : NO;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == YES;
}

void pl_far_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    size_t head = -(uintptr_t)to % PL_CACHE_LINE;
    if (bytes < PL_FAR_COPY_FROM || !far_copy_has_strings()) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    char *target = (char *)to + head;
    const char *source = (const char *)from + head;
    bytes -= head;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

#else

void pl_far_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
