/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpiexec, translated for other launchers: what all share, and Slurm. */
#ifndef PLENUM_MPIEXEC_HANDOVER_WORDS_H
#define PLENUM_MPIEXEC_HANDOVER_WORDS_H

#include "api/mpiexec/handover.h"
#include "core/base/compiler.h"

/* Appends a borrowed word. */
void handover_add(struct handover *h, const char *word);

/* Appends a formatted word, which the handover owns. */
PL_PRINTF(2, 3) void handover_addf(struct handover *h, const char *format, ...);

/* An option that no other launcher has; or NULL. */
const char *handover_words_common(struct handover *h);

/* Appends the words for srun after its name. NULL, or an option that the launcher does not have and without which the
 * job would be a different one. */
const char *handover_words_slurm(struct handover *h);

#endif
