/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callback for errors has a reference count: a thread may replace it while others execute it, and the last one
 * calls the destructor. Locking: `lock` protects `current` and the counts. No lock is held while user code runs.
 */
#include "core/object/errhandler_callback.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory.h"

struct callback {
    int refs;
    MPIX_Error_callback *function;
    MPIX_Destructor_function *destructor;
    void *context;
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static struct callback *current;

static void errhandler_callback_release(struct callback *callback)
{
    if (!callback)
        return;
    pl_lock_take(&lock);
    bool last = --callback->refs == 0;
    pl_lock_drop(&lock);
    if (!last)
        return;
    if (callback->destructor)
        callback->destructor(callback->context);
    free(callback);
}

int pl_error_callback_set(MPIX_Error_callback *function, MPIX_Destructor_function *destructor, void *context)
{
    struct callback *made = function ? pl_malloc(sizeof *made) : NULL, *old;
    if (function && !made)
        return pl_fail_memory("a callback");
    if (made)
        *made = (struct callback){ .refs = 1, .function = function, .destructor = destructor, .context = context };
    pl_lock_take(&lock);
    old = current;
    current = made;
    pl_lock_drop(&lock);
    errhandler_callback_release(old);
    return MPI_SUCCESS;
}

bool pl_error_callback_call(const struct plenum_error_report *error)
{
    pl_lock_take(&lock);
    struct callback *callback = current;
    if (callback)
        callback->refs++;
    pl_lock_drop(&lock);
    if (!callback)
        return false;
    callback->function(error, callback->context);
    errhandler_callback_release(callback);
    return true;
}
