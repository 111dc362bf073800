/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets from a file: json.c reads it and answers for it, json_sets.c says who is in a set. */
#ifndef PLENUM_PLUGINS_PSETS_JSON_H
#define PLENUM_PLUGINS_PSETS_JSON_H

#include <stddef.h>

#include "core/base/json.h"
#include "sessions/psets/providers.h"

enum { PL_PSETS_WHERE = 1400 };

/* One set of the file. */
struct pl_psets_json_set {
    const char *name;
    json_t *expression;
    enum { PL_PSETS_NEW, PL_PSETS_BEING_CHECKED, PL_PSETS_CHECKED } state;
};

struct pl_psets_file {
    const struct plenum_pset_host *host;
    struct pl_json json;
    struct pl_psets_json_set *set; /* [count] */
    size_t count;
};

/* The set of this name; NULL: the file has none. */
struct pl_psets_json_set *pl_psets_file_find(const struct pl_psets_file *file, const char *name);

/* Is a set well-formed, and those that it needs, without a cycle? MPI_ERR_ARG with the place. */
int pl_psets_file_check(const struct pl_psets_file *file, struct pl_psets_json_set *set);

/* Says its members; some of them may come twice. */
int pl_psets_file_members(const struct pl_psets_file *file, struct pl_psets_json_set *set,
                          plenum_pset_range_function *range, void *to);

#endif
