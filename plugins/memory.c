/* SPDX-License-Identifier: BSD-3-Clause */
/* For plugins, in place of core/base/memory.c: asks the library whether an allocation fails, and for the thread's
 * reserve. See memory_plugin.h. */
#include "core/base/compiler.h"
#include "core/base/memory_plugin.h"

static bool question_unset(bool failed)
{
    (void)failed;
    return false;
}

_Atomic long pl_memory_countdown = 1; /* above 0: every allocation asks */

extern _Atomic(pl_memory_question *) plenum_memory_fails;
PL_EXPORT _Atomic(pl_memory_question *) plenum_memory_fails = question_unset;

bool pl_memory_count(void)
{
    return atomic_load_explicit(&plenum_memory_fails, memory_order_relaxed)(false);
}

bool pl_memory_free_reserve(void)
{
    return atomic_load_explicit(&plenum_memory_fails, memory_order_relaxed)(true);
}
