/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading memory that other processes write.
 *
 * What another process writes may be wrong, and may change between two reads. So it is read once, into memory of
 * this process's own; the copy is checked, and only the copy is used. These functions keep the compiler from reading
 * the original a second time. They order nothing: an acquire load of the word that published the data comes before.
 */
#ifndef PLENUM_CORE_BASE_SHARED_H
#define PLENUM_CORE_BASE_SHARED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void pl_copy_shared(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline uint32_t pl_read_shared(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

#endif
