/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How plugins take part in allocation failures. The countdown of memory.h is the library's, and a plugin calls nothing
 * in the library by name.
 *
 * So plugins are linked with plugins/memory.c in place of memory.c. There the countdown is always above 0, and each
 * allocation asks the function that `plenum_memory_fails` points to. The plugin exports this pointer; the library sets
 * it when it loads the plugin. Allocations of the library itself do not pay for that.
 */
#ifndef PLENUM_CORE_BASE_MEMORY_PLUGIN_H
#define PLENUM_CORE_BASE_MEMORY_PLUGIN_H

#include "core/base/memory.h"

/* Does this allocation fail? `failed`: it has; was there a reserve, which has been freed for it? */
typedef bool pl_memory_question(bool failed);

/* The name of an _Atomic(pl_memory_question *) that a plugin may export. */
#define PL_MEMORY_SYMBOL "plenum_memory_fails"

static inline bool pl_memory_answer(bool failed)
{
    return failed ? pl_memory_free_reserve() : pl_memory_fails();
}

/* For the loader: `symbol` is the pointer's address in the plugin; NULL: the plugin has none. Any thread, also while
 * others use the plugin. */
static inline void pl_memory_share(void *symbol)
{
    _Atomic(pl_memory_question *) *question = symbol;
    if (question)
        atomic_store(question, pl_memory_answer);
}

#endif
