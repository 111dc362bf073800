/* SPDX-License-Identifier: BSD-3-Clause */
/* The expressions of a file's process sets: checking them, and finding the members. */
#ifndef PLENUM_PLUGINS_PSETS_JSON_SETS_H
#define PLENUM_PLUGINS_PSETS_JSON_SETS_H

#include "plugins/psets/json_file.h"

/* Checks that a set and those that it refers to are well-formed, without a cycle. MPI_ERR_ARG with the place. */
int pl_psets_file_check(const struct pl_psets_file *file, struct pl_psets_json_set *set);

/* Passes a set's members to `range`; some may come twice. */
int pl_psets_file_members(const struct pl_psets_file *file, struct pl_psets_json_set *set,
                          plenum_pset_range_function *range, void *to);

#endif
