/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One private directory for the files that the PMIx server's shared-memory store keeps, so that they can be removed
 * whatever happens: by us, or by the keeper when this process is killed.
 */
#ifndef PLENUM_RUNTIME_LITTER_H
#define PLENUM_RUNTIME_LITTER_H

enum { PL_LITTER_MAX = 108 };

/* Thinks of a name, so that the keeper knows it before the directory exists; "" when the environment chooses the store
 * that keeps no files. */
void pl_litter_name(char directory[PL_LITTER_MAX]);

/* Makes the directory of that name, for this user only; does nothing for "". Returns an enum plenum_error. */
int pl_litter_make(const char *directory);

/* Removes it with its contents; it is "" afterwards. */
void pl_litter_remove(char directory[PL_LITTER_MAX]);

#endif
