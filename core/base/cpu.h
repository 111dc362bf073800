/* SPDX-License-Identifier: BSD-3-Clause */
/* What a processor is told about lines of memory that it shares with another. */
#ifndef PLENUM_CORE_BASE_CPU_H
#define PLENUM_CORE_BASE_CPU_H

/*
 * Between two looks at a line of memory that another processor is about to write: leaves it alone for some 30 ns. To
 * look all the time takes the line away while it is being written, and a message half as long again.
 */
static inline void pl_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A line will be written soon: takes it away from the other. The builtin function would only read it, unless the
 * compiler is told of a newer processor; where the instruction does not exist it does nothing. */
static inline void pl_prefetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

#endif
