/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpiexec, translated for other launchers. */
#ifndef PLENUM_MPIEXEC_HANDOVER_WORDS_H
#define PLENUM_MPIEXEC_HANDOVER_WORDS_H

#include "api/mpiexec/handover.h"

/* Appends a borrowed word. */
void handover_add(struct handover *h, const char *word);

/* Append the words after the program's name; those of PRRTE also serve Open MPI's older mpirun. NULL, or an option that
 * the launcher does not have and without which the job would be a different one. */
const char *handover_words_slurm(struct handover *h);
const char *handover_words_prte(struct handover *h);

#endif
