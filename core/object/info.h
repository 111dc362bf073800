/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: ordered pairs of key and value, as texts. Each has a lock. They work before initialization and after
 * finalization. */
#ifndef PLENUM_CORE_OBJECT_INFO_H
#define PLENUM_CORE_OBJECT_INFO_H

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/object/object.h"
#include "mpi.h"

struct pl_table;

struct pl_info {
    struct pl_object obj;
    struct pl_lock lock;  /* the fields below */
    struct pl_list pairs; /* of the pairs in info.c, in the order in which keys were first set */
    int count;
    struct pl_table *by_key; /* of all pairs, once there were many; NULL: they are searched in order */
    struct pl_list *nth;     /* the pair that was last found by its number; NULL: none */
    int nth_number;
};

/* An empty info with one handle; a copy, in the same order. NULL: out of memory. */
struct pl_info *pl_info_create(void);
struct pl_info *pl_info_dup(struct pl_info *info);

/* MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE: it is too long, or the key is empty. */
int pl_info_set(struct pl_info *info, const char *key, const char *value);

/* MPI_ERR_INFO_NOKEY: there is no such key. */
int pl_info_delete(struct pl_info *info, const char *key);

/* A malloc'ed copy of the value; NULL: there is no such key, `info` is NULL, or MPI_ERR_NO_MEM. */
int pl_info_get(struct pl_info *info, const char *key, char **value);

/* Is there such a key? Writes at most `capacity` bytes of the value with its NUL, and the value's length without the
 * NUL. */
bool pl_info_read(struct pl_info *info, const char *key, char *value, size_t capacity, size_t *length);

/* Reads a number of seconds such as "0.5", with a point in every locale, as milliseconds, rounded up. Leaves
 * *milliseconds alone if there is no such key or `info` is NULL. MPI_ERR_INFO_VALUE: the value is not such a number, or
 * above 2^30. MPI_ERR_NO_MEM. */
int pl_info_seconds(struct pl_info *info, const char *key, long *milliseconds);

/* The value of "mpi_minimum_memory_alignment": a power of two, at most 2^30. False: it is something else. */
bool pl_info_alignment(const char *value, size_t *alignment);

int pl_info_count(struct pl_info *info);

/* The n-th key; false: there are fewer. */
bool pl_info_nth(struct pl_info *info, int n, char key[MPI_MAX_INFO_KEY]);

/* MPI_ERR_INFO_KEY, recorded: it cannot be a key. */
int pl_info_check_key(const char *key);

void pl_info_destroy(void *info);

#endif
