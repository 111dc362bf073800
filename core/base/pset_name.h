/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of process sets: URIs, "scheme://authority/path". Scheme and authority are case-insensitive, the rest is
 * case-sensitive (RFC 3986): "MPI://world" is "mpi://WORLD", "app://mesh/A" is not "app://mesh/a". Part of both
 * libraries. Nothing here depends on the locale.
 */
#ifndef PLENUM_CORE_BASE_PSET_NAME_H
#define PLENUM_CORE_BASE_PSET_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_PSET_NAME_MAX = 1023 }; /* bytes without the NUL: MPI_MAX_PSET_NAME_LEN counts it */

/* NULL for a valid name; else the reason why it is not, as the end of "the name ... ". Reads at most
 * PL_PSET_NAME_MAX + 1 bytes. */
const char *pl_pset_name_check(const char *name);

/* Whether two names are the same; any texts. */
bool pl_pset_name_same(const char *a, const char *b);

/* Whether the name has this scheme. */
bool pl_pset_name_has_scheme(const char *name, const char *scheme);

/* The name for a message: at most `size` bytes with the NUL, without control characters. Returns `shown`. */
const char *pl_pset_name_show(const char *name, char *shown, size_t size);

#endif
