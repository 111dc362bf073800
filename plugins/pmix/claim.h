/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who owns a rank that a PMIx server has launched.
 *
 * The environment that names the rank is inherited by every child, so a child that is an MPI program too would take
 * itself for its parent, and the server would believe it. A locked file in the server's own directory for the job
 * tells them apart: the lock goes with the process however it ends, the file with the job. The file also counts how
 * often the rank was claimed (`mpirun sh -c "./a; ./b"`): both programs of a pair see the same number on all ranks.
 */
#ifndef PLENUM_PLUGINS_PMIX_CLAIM_H
#define PLENUM_PLUGINS_PMIX_CLAIM_H

#include <stdint.h>
#include <sys/types.h>

/* Claims the rank in the directory (NULL: there is none, then the first claim is assumed). 0, and the number of the
 * claim, from 1; or the pid of the owner. */
pid_t claim_take(const char *directory, const char *nspace, unsigned rank, uint32_t *number);
void claim_release(void);

#endif
