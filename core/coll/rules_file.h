/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's rules for the choice of algorithms: a JSON file (configuration variable "coll_table") replaces the
 * built-in rules (select.c) of each collective that it names.
 *
 *     { "allreduce": [ { "ranks": 8, "bytes": "16K", "algorithm": "recursive_doubling" }, { "algorithm": "ring" } ] }
 *
 * The table exists while the process is open. All ranks must choose alike: the address card of each engine has a number
 * for what its process has configured, and a collective between two that differ is an error.
 */
#ifndef PLENUM_CORE_COLL_RULES_FILE_H
#define PLENUM_CORE_COLL_RULES_FILE_H

#include "core/coll/algorithm.h"

/* For up to `ranks` ranks and `bytes` bytes. */
struct pl_coll_rule {
    int ranks;
    size_t bytes;
    const struct pl_algorithm *algorithm;
};

/* The file's rules for a kind, [*count] in order; borrowed while the process is open. */
const struct pl_coll_rule *pl_coll_rules(enum pl_coll_kind kind, int *count);
bool pl_coll_has_rules(enum pl_coll_kind kind);

/* Reads the configured file, if there is one. MPI_ERR_ARG with FILE:LINE for a mistake in it: then there are no rules.
 * The process's lock is held. */
int pl_coll_rules_open(void);
void pl_coll_rules_close(void);

/* What is configured, as a number for comparison with other processes; 0: only what is built in. */
uint32_t pl_coll_settings(void);

#endif
