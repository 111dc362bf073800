/* SPDX-License-Identifier: BSD-3-Clause */
/* The countdown behind allocation failures in tests. */
#include "core/base/memory.h"

_Atomic long pl_memory_countdown;

bool pl_memory_count(void)
{
    return atomic_fetch_sub(&pl_memory_countdown, 1) == 1;
}

void pl_memory_fail_at(long n)
{
    atomic_store(&pl_memory_countdown, n);
}

bool pl_memory_failed(void)
{
    return atomic_load(&pl_memory_countdown) <= 0;
}
