/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: ordered key-value texts. Own lock each; may be used before initialization and after finalization. */
#ifndef PLENUM_CORE_INFO_H
#define PLENUM_CORE_INFO_H

#include "core/list.h"
#include "core/lock.h"
#include "core/object.h"
#include "mpi.h"

struct pl_info {
    struct pl_object obj;
    struct pl_lock lock;      /* the fields below */
    struct pl_list pairs;     /* info.c: keys and values, in the order in which the keys were first set */
    int count;
};

/* An empty info with one handle; a copy. NULL: out of memory. */
struct pl_info *pl_info_create(void);
struct pl_info *pl_info_dup(struct pl_info *info);

int pl_info_set(struct pl_info *info, const char *key, const char *value);

/* A malloc'ed copy of the value, NULL when the key is not there (or out of memory). */
char *pl_info_get(struct pl_info *info, const char *key);

/* From a handle that may be MPI_INFO_NULL: then NULL and *ok. */
void *pl_info_predefined(uintptr_t constant);
void pl_info_destroy(void *info);

#endif
