/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: ordered key-value texts. Own lock each; may be used before initialization and after finalization. */
#ifndef PLENUM_CORE_OBJECT_INFO_H
#define PLENUM_CORE_OBJECT_INFO_H

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/object/object.h"
#include "mpi.h"

struct pl_info {
    struct pl_object obj;
    struct pl_lock lock;  /* the fields below */
    struct pl_list pairs; /* info.c: keys and values, in the order in which the keys were first set */
    int count;
};

/* An empty info with one handle; a copy, in the same order. NULL: out of memory. */
struct pl_info *pl_info_create(void);
struct pl_info *pl_info_dup(struct pl_info *info);

/* MPI_ERR_INFO_KEY and MPI_ERR_INFO_VALUE: too long, or an empty key. */
int pl_info_set(struct pl_info *info, const char *key, const char *value);

/* MPI_ERR_INFO_NOKEY when the key is not there. */
int pl_info_delete(struct pl_info *info, const char *key);

/* A malloc'ed copy of the value; NULL when the key is not there, or `info` is NULL, and with MPI_ERR_NO_MEM. */
int pl_info_get(struct pl_info *info, const char *key, char **value);

/* Is the key there? Writes at most `room` bytes of the value, with its NUL (nothing when room is 0), and its length
 * without the NUL. */
bool pl_info_read(struct pl_info *info, const char *key, char *value, size_t room, size_t *length);

/* A number of seconds such as "0.5", with a point whatever the locale says: as milliseconds, rounded up. They stay as
 * they are when the key is not there, or `info` is NULL. MPI_ERR_INFO_VALUE: it is no such number, or above 2^30.
 * MPI_ERR_NO_MEM. */
int pl_info_seconds(struct pl_info *info, const char *key, long *milliseconds);

int pl_info_count(struct pl_info *info);

/* The n-th key; false: there are not so many. */
bool pl_info_nth(struct pl_info *info, int n, char key[MPI_MAX_INFO_KEY]);

/* Is it a key at all? Else MPI_ERR_INFO_KEY, recorded. */
int pl_info_check_key(const char *key);

void pl_info_destroy(void *info);

#endif
