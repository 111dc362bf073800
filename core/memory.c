/* SPDX-License-Identifier: BSD-3-Clause */
/* The countdown behind allocation failures in tests. */
#include "core/memory.h"

#ifndef NDEBUG
#include <stdatomic.h>

static _Atomic long countdown;

bool pl_memory_fails(void)
{
    return atomic_load_explicit(&countdown, memory_order_relaxed) > 0 && atomic_fetch_sub(&countdown, 1) == 1;
}

void pl_memory_fail_at(long n)
{
    atomic_store(&countdown, n);
}

bool pl_memory_failed(void)
{
    return atomic_load(&countdown) <= 0;
}
#endif
