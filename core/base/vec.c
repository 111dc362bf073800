/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable arrays of items of any size. */
#include "core/base/vec.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/base/memory.h"

enum { CAPACITY_FIRST = 8 };

/* Twice as much as before, or what is needed if that is more. False: its bytes cannot be counted. */
static bool vec_next_capacity(const struct pl_vec *vec, size_t each, size_t more, size_t *capacity)
{
    size_t needed;
    if (__builtin_add_overflow(vec->count, more, &needed))
        return false;
    *capacity = vec->capacity <= SIZE_MAX / 2 / each ? 2 * vec->capacity : needed;
    *capacity = *capacity < CAPACITY_FIRST ? CAPACITY_FIRST : *capacity;
    *capacity = *capacity < needed ? needed : *capacity;
    return *capacity <= SIZE_MAX / each;
}

bool pl_vec_grow(struct pl_vec *vec, size_t each, size_t more)
{
    size_t capacity;
    if (!vec_next_capacity(vec, each, more, &capacity))
        return false;
    void *items = pl_realloc(vec->caller_owned ? NULL : vec->items, capacity * each);
    if (!items)
        return false;
    if (vec->caller_owned && vec->count)
        memcpy(items, vec->items, vec->count * each);
    vec->items = items;
    vec->capacity = capacity;
    vec->caller_owned = false;
    return true;
}

void *pl_vec_insert(struct pl_vec *vec, size_t each, size_t at)
{
    assert(at <= vec->count);
    if (vec->count == vec->capacity && !pl_vec_grow(vec, each, 1))
        return NULL;
    char *item = (char *)vec->items + at * each;
    memmove(item + each, item, (vec->count - at) * each);
    vec->count++;
    return item;
}

void pl_vec_remove(struct pl_vec *vec, size_t each, size_t at)
{
    assert(at < vec->count);
    char *item = (char *)vec->items + at * each;
    vec->count--;
    memmove(item, item + each, (vec->count - at) * each);
}

void *pl_vec_take(struct pl_vec *vec, size_t each)
{
    if (vec->count == 0)
        return NULL;
    void *items = vec->caller_owned ? pl_malloc(vec->count * each) : pl_realloc(vec->items, vec->count * each);
    if (vec->caller_owned && items)
        memcpy(items, vec->items, vec->count * each);
    else if (!vec->caller_owned && !items)
        items = vec->items; /* it could not shrink: longer than it had to be */
    if (items)
        *vec = (struct pl_vec){ 0 };
    return items;
}

void pl_vec_fini(struct pl_vec *vec)
{
    if (!vec->caller_owned)
        free(vec->items);
    *vec = (struct pl_vec){ 0 };
}
