/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpiexec in the words of other launchers. */
#ifndef PLENUM_MPIEXEC_HANDOVER_WORDS_H
#define PLENUM_MPIEXEC_HANDOVER_WORDS_H

#include "api/mpiexec/handover.h"

/* One more word, borrowed, or formatted and kept. */
void handover_add(struct handover *h, const char *word);
void handover_addf(struct handover *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The words behind the program's name; of PRRTE also for Open MPI's older mpirun. NULL, or the option that would
 * change what the job is and that the launcher has no word for. */
const char *handover_words_slurm(struct handover *h);
const char *handover_words_prte(struct handover *h);

#endif
