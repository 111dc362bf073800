/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpiexec, translated for PRRTE and for the older mpirun of Open MPI. */
#ifndef PLENUM_MPIEXEC_HANDOVER_PRTE_H
#define PLENUM_MPIEXEC_HANDOVER_PRTE_H

#include "api/mpiexec/handover.h"

/* As handover_words_slurm(). */
const char *handover_words_prte(struct handover *h);

#endif
