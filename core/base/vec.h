/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growable array of any type.
 *
 *     PL_VEC(struct run) runs = { 0 };
 *     struct run *run = PL_VEC_PUSH(&runs);
 *     if (!run)
 *         return pl_fail_memory("the runs of a file access");
 *     *run = (struct run){ at, bytes };
 *     ... runs.items[i], runs.count ...
 *     PL_VEC_FINI(&runs);
 *
 * A vector of zeros is empty. Its capacity doubles; it is checked for overflow and comes from pl_realloc(), so tests
 * can make it fail. A vector that could not grow is unchanged. Growth may move the items: pointers to them are valid
 * until then. A vector may begin in an array of the caller's (PL_VEC_USE) and allocates when that is full. No locking.
 *
 * PL_VEC() is a type of its own wherever it stands. As a member without a name it gives a struct the fields of a
 * vector, and the macros take the struct for one:
 *
 *     struct regions { PL_VEC(struct region); };
 *
 * The macros evaluate their arguments, of which `vec` is a pointer, several times.
 */
#ifndef PLENUM_CORE_BASE_VEC_H
#define PLENUM_CORE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/compiler.h"

/* What all vectors have in common. */
struct pl_vec {
    void *items;
    size_t count, capacity; /* items that there are, and that there is space for */
    bool caller_owned;      /* `items` is an array of the caller's, not to be freed here */
};

#define PL_VEC(type)                                                                                                   \
    union {                                                                                                            \
        struct pl_vec any;                                                                                             \
        struct {                                                                                                       \
            type *items;                                                                                               \
            size_t count, capacity;                                                                                    \
            bool caller_owned;                                                                                         \
        };                                                                                                             \
    }

/* Begins, empty, in an array of `size` items of the caller's, which must stay where it is while the vector uses it. */
#define PL_VEC_USE(vec, array, size)                                                                                   \
    ((vec)->any = (struct pl_vec){ .items = (array), .capacity = (size), .caller_owned = true })

/* Makes space for that many more items. False: out of memory. */
#define PL_VEC_RESERVE(vec, more)                                                                                      \
    ((more) <= (vec)->capacity - (vec)->count || pl_vec_grow(&(vec)->any, sizeof *(vec)->items, more))

/* A new last item, or a new one at index `at` <= count, not initialized. NULL: out of memory. */
#define PL_VEC_PUSH(vec)       (PL_VEC_RESERVE(vec, 1) ? &(vec)->items[(vec)->count++] : NULL)
#define PL_VEC_INSERT(vec, at) ((__typeof__((vec)->items))pl_vec_insert(&(vec)->any, sizeof *(vec)->items, at))

/* Takes out the item at index `at` < count; the order of the others stays. */
#define PL_VEC_REMOVE(vec, at) pl_vec_remove(&(vec)->any, sizeof *(vec)->items, at)

/* Hands over the items as memory of just their size, for free(), and leaves an empty vector. NULL: there are no items,
 * or out of memory for a copy of the caller's array; the vector is then as it was. */
#define PL_VEC_TAKE(vec) ((__typeof__((vec)->items))pl_vec_take(&(vec)->any, sizeof *(vec)->items))

/* Frees the array and leaves an empty vector. */
#define PL_VEC_FINI(vec) pl_vec_fini(&(vec)->any)

/* For the macros; `each` is the size of an item. */
PL_COLD bool pl_vec_grow(struct pl_vec *vec, size_t each, size_t more);
void *pl_vec_insert(struct pl_vec *vec, size_t each, size_t at);
void pl_vec_remove(struct pl_vec *vec, size_t each, size_t at);
void *pl_vec_take(struct pl_vec *vec, size_t each);
void pl_vec_fini(struct pl_vec *vec);

#endif
