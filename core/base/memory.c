/* SPDX-License-Identifier: BSD-3-Clause */
/* The countdown behind allocation failures in tests, and the reserves of threads. */
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

static _Thread_local void *memory_reserve;

bool pl_memory_reserve(size_t bytes)
{
    pl_memory_free_reserve();
    memory_reserve = pl_malloc(bytes);
    return memory_reserve != NULL;
}

bool pl_memory_free_reserve(void)
{
    bool had = memory_reserve != NULL;
    free(memory_reserve);
    memory_reserve = NULL;
    return had;
}
