/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table by which algorithms of collectives are chosen: the built-in one (select.c), of which a JSON file
 * (configuration variable "coll_table") replaces the part of each collective that it names.
 *
 *     { "allreduce": [ { "ranks": 8, "bytes": "16K", "algorithm": "recursive_doubling" }, { "algorithm": "ring" } ] }
 *
 * It is there while the process is open. All ranks must choose alike: what each has configured goes as a number into
 * the address card of its engines, and a collective between two that differ is an error.
 */
#ifndef PLENUM_CORE_COLL_TABLE_H
#define PLENUM_CORE_COLL_TABLE_H

#include "core/coll/algorithm.h"

/* For up to so many ranks and so many bytes. */
struct pl_coll_rule {
    int ranks;
    size_t bytes;
    const struct pl_algorithm *algorithm;
};

/* The rules of the file for a kind, in order; *count is 0 where it says nothing. */
const struct pl_coll_rule *pl_coll_table(enum pl_coll_kind kind, int *count);

/* The name of a kind in the file: "allreduce"; and of its variable: "coll_allreduce". */
const char *pl_coll_name(enum pl_coll_kind kind);
const char *pl_coll_variable(enum pl_coll_kind kind);

/* Reads the file that is configured, if one is: MPI_ERR_ARG with FILE:LINE for a mistake in it, and then there is none.
 * The process's lock is held. */
int pl_coll_table_open(void);
void pl_coll_table_close(void);

/* What is configured, as a number that others can compare; 0: nothing but what is built in. */
uint32_t pl_coll_settings(void);

#endif
