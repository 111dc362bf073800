/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published data: values that processes store under a key for others to look up. Only the processes interpret them.
 * No locking: the caller holds the registry of pmix/upcalls.h.
 */
#ifndef PLENUM_WORLD_RUNTIME_PMIX_PUBLISHED_H
#define PLENUM_WORLD_RUNTIME_PMIX_PUBLISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"

enum pl_name_scope { PL_NAME_ALL, PL_NAME_NSPACE, PL_NAME_PROCESS }; /* the processes that see the value */
enum pl_name_life { PL_NAME_JOB, PL_NAME_ONCE, PL_NAME_SERVER };     /* it lasts for the job, one lookup, the server */

struct pl_name {
    struct pl_list node;
    char *key;
    char nspace[256]; /* of the publisher */
    uint32_t rank;
    enum pl_name_scope scope;
    enum pl_name_life life;
    void *value;
};

struct pl_names {
    struct pl_list all;
    void (*discard)(void *value);
};

/* Adds an entry like this one: copies its key and steals its value, also when it fails. False: the key is already
 * published in the same scope (*duplicate), or memory is short. */
bool pl_names_publish(struct pl_names *names, const struct pl_name *like, bool *duplicate);

/* The value that the process may see under the key, borrowed; NULL: none. */
struct pl_name *pl_names_find(struct pl_names *names, const char *key, const char *nspace, uint32_t rank);

/* Removes one entry, or all that a job published for its lifetime (NULL: all entries). */
void pl_names_remove(struct pl_names *names, struct pl_name *name);
void pl_names_end_job(struct pl_names *names, const char *nspace);

#endif
