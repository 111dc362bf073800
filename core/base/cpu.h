/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints to a processor about cache lines that it shares with another. */
#ifndef PLENUM_CORE_BASE_CPU_H
#define PLENUM_CORE_BASE_CPU_H

#include <stddef.h>
#include <string.h>

#include "core/base/compiler.h"

/*
 * Between two polls of a cache line that another processor is about to write: leaves the line alone for some 30 ns.
 * Polling without a pause takes the line away while it is being written, and a message then takes half as long again.
 */
static inline void pl_relax(void)
{
#if PL_X86_64
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Fetches, in exclusive state, a line that will be written soon. The builtin function only fetches it for reading,
 * unless the compiler may assume a newer processor. Where the instruction does not exist it does nothing. */
static inline void pl_prefetch_to_write(const void *line)
{
#if PL_X86_64
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* memcpy() of a kilobyte or less, through registers. Where the compiler knows a bound of the length it would copy by an
 * instruction (`rep movsq`) that takes as long to begin as all the rest, and so is kept from knowing it. */
static inline void pl_copy_short(void *to, const void *from, size_t bytes)
{
    __asm__("" : "+r"(bytes));
    memcpy(to, from, bytes);
}

#endif
