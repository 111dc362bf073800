/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects: their counts, and the way from a handle to its object. arena.c allocates objects and recognizes pointers to
 * them.
 *
 * Locking: none. Counts are atomic. The stamp is written last when an object is made, and erased when it is freed.
 */
#include "core/object/object.h"

#include <assert.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/object/arena.h"
#include "core/object/clash.h"

static void *object_create(enum pl_kind kind, int32_t handles)
{
    struct pl_object *object = pl_arena_take(kind);
    if (!object) {
        pl_fail_memory(pl_kinds[kind].name);
        return NULL;
    }
    object->kind = (uint8_t)kind;
    object->predefined = false;
    object->abi = 0;
    atomic_init(&object->refs, 1);
    atomic_store_explicit(&object->handles, handles, memory_order_relaxed);
    pl_arena_stamp(object, kind);
    return object;
}

void *pl_object_create(enum pl_kind kind)
{
    return object_create(kind, 1);
}

void *pl_object_create_hidden(enum pl_kind kind)
{
    return object_create(kind, 0);
}

void *pl_object_retain(void *object)
{
    struct pl_object *o = object;
    if (!o->predefined)
        atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
    return object;
}

void pl_object_release(void *object)
{
    struct pl_object *o = object;
    if (!o || o->predefined)
        return;
    int32_t before = atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel);
    assert(before > 0 && "an object is released once for every reference");
    if (before != 1)
        return;
    if (pl_kinds[o->kind].destroy)
        pl_kinds[o->kind].destroy(object);
    pl_arena_give(object, o->kind);
}

void *pl_handle_share(void *object)
{
    struct pl_object *o = object;
    if (!o->predefined) {
        atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&o->handles, 1, memory_order_release);
    }
    return object;
}

/* A program that frees one handle in two threads is wrong, but the count never becomes negative. */
void pl_handle_drop(void *object)
{
    struct pl_object *o = object;
    if (o->predefined)
        return;
    int32_t handles = atomic_load_explicit(&o->handles, memory_order_relaxed);
    do {
        if (handles <= 0)
            return;
    } while (!atomic_compare_exchange_weak(&o->handles, &handles, handles - 1));
    pl_object_release(object);
}

void *pl_object_find(enum pl_kind kind, const void *handle)
{
    if ((uintptr_t)handle < PL_ABI_CONSTANTS)
        return pl_kinds[kind].predefined ? pl_kinds[kind].predefined((uintptr_t)handle) : NULL;
    struct pl_object *object = pl_arena_find(kind, handle);
    if (!object || atomic_load_explicit(&object->handles, memory_order_acquire) <= 0)
        return NULL;
    return object;
}

static PL_COLD void object_refuse(enum pl_kind kind, const void *handle, const char *argument)
{
    const struct pl_kind_ops *ops = &pl_kinds[kind];
    char hint[PL_CLASH_HINT];
    if (pl_handle_is_null(kind, handle))
        pl_fail(ops->error, "%s is %s", argument, ops->null_name);
    else
        pl_fail(ops->error, "%s is not a valid %s: %p was never one, or is freed%s", argument, ops->name, handle,
                pl_clash_hint(hint));
}

void *pl_object_get(enum pl_kind kind, const void *handle, const char *argument)
{
    void *object = pl_object_find(kind, handle);
    if (pl_likely(object != NULL))
        return object;
    object_refuse(kind, handle, argument);
    return NULL;
}

void *pl_object_handle(const void *object)
{
    const struct pl_object *o = object;
    return o->predefined ? (void *)(uintptr_t)o->abi : (void *)(uintptr_t)object;
}

long pl_object_count(enum pl_kind kind)
{
    return pl_arena_count(kind);
}

void pl_object_trim(void)
{
    pl_arena_trim();
}
