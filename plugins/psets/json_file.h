/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's file of process sets: json_file.c reads it and is its provider. */
#ifndef PLENUM_PLUGINS_PSETS_JSON_FILE_H
#define PLENUM_PLUGINS_PSETS_JSON_FILE_H

#include <stddef.h>

#include "core/base/json.h"
#include "sessions/psets/providers.h"

enum { PL_PSETS_WHERE = 1400 }; /* bytes of a place in the file, as a JSON pointer */

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

/* The set of this name; NULL: none. */
struct pl_psets_json_set *pl_psets_file_find(const struct pl_psets_file *file, const char *name);

#endif
