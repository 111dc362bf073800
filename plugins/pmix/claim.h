/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ownership of a rank that a PMIx server has launched.
 *
 * Every child inherits the environment that names the rank. A child that is an MPI program too would take itself for
 * its parent, and the server would believe it. A locked file in the server's directory for the job tells them apart.
 * The kernel releases the lock however the process ends, and the file is removed with the job. The file also counts
 * the claims of the rank (`mpirun sh -c "./a; ./b"`): each of the programs gets the same number on all ranks.
 *
 * A process has one claim at a time.
 */
#ifndef PLENUM_PLUGINS_PMIX_CLAIM_H
#define PLENUM_PLUGINS_PMIX_CLAIM_H

#include <stdint.h>
#include <sys/types.h>

/* Claims the rank. Without a `directory` (NULL) this is assumed to be the first claim. Returns 0 and the number of the
 * claim, from 1; or the pid of the owner. */
pid_t pl_pmix_claim_take(const char *directory, const char *nspace, unsigned rank, uint32_t *number);
void pl_pmix_claim_release(void);

#endif
