/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of process sets: URIs, "scheme://authority/path". As RFC 3986 has it, scheme and authority are the same in
 * upper and lower case, the rest is not: "MPI://world" is "mpi://WORLD", "app://mesh/A" is not "app://mesh/a". Part of
 * both libraries.
 */
#ifndef PLENUM_CORE_BASE_PSET_NAME_H
#define PLENUM_CORE_BASE_PSET_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_PSET_NAME_MAX = 1023 }; /* bytes without the NUL: MPI_MAX_PSET_NAME_LEN counts it */

/* Is it a name? NULL, or what is wrong with it, as the end of "the name ... ". Reads at most PL_PSET_NAME_MAX + 1
 * bytes. */
const char *pl_pset_name_check(const char *name);

/* Are two names the same? Any texts. */
bool pl_pset_name_same(const char *a, const char *b);

/* Is this its scheme? */
bool pl_pset_name_has_scheme(const char *name, const char *scheme);

/* The name as a message may show it: at most `size` bytes with the NUL, nothing in it moves the cursor. Returns
 * `shown`. */
const char *pl_pset_name_show(const char *name, char *shown, size_t size);

#endif
