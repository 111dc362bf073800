/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One private directory for the files that the PMIx server's shared-memory store keeps, so that they can be removed
 * whatever happens: by us, or by the keeper when this process is killed.
 */
#ifndef PLENUM_RUNTIME_LITTER_H
#define PLENUM_RUNTIME_LITTER_H

enum { PL_LITTER_MAX = 108 };

/* Makes the directory, or none ("") when the environment chooses the store that keeps no files. Returns an enum
 * plenum_error. */
int pl_litter_make(char directory[PL_LITTER_MAX]);

/* Removes it with its contents; it is "" afterwards. */
void pl_litter_remove(char directory[PL_LITTER_MAX]);

#endif
