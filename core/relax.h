/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two looks at a line of memory that another processor is about to write: leaves it alone for some 30 ns. To
 * look all the time takes the line away while it is being written, and a message half as long again.
 */
#ifndef PLENUM_CORE_RELAX_H
#define PLENUM_CORE_RELAX_H

static inline void pl_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
