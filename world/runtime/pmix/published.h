/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published data: what processes leave under a key for others to look up. The values are the owner's to interpret.
 * No locking: the PMIx server's registry lock guards it.
 */
#ifndef PLENUM_WORLD_RUNTIME_PMIX_PUBLISHED_H
#define PLENUM_WORLD_RUNTIME_PMIX_PUBLISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"

enum pl_name_scope { PL_NAME_EVERYBODY, PL_NAME_NSPACE, PL_NAME_PROCESS }; /* who sees it */
enum pl_name_life { PL_NAME_JOB, PL_NAME_ONCE, PL_NAME_SERVER };           /* until when */

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

/* Takes `value`, also when it fails. False: somebody who would be seen by the same processes has published the key, or
 * memory is short (*duplicate tells which). */
bool pl_names_publish(struct pl_names *names, const struct pl_name *like, bool *duplicate);

/* What the process may see under the key; NULL: nothing. Borrowed. */
struct pl_name *pl_names_find(struct pl_names *names, const char *key, const char *nspace, uint32_t rank);

/* Removes an entry, or all that a job published for its own life (NULL: all there are). */
void pl_names_remove(struct pl_names *names, struct pl_name *name);
void pl_names_end_job(struct pl_names *names, const char *nspace);

#endif
