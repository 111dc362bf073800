/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine does not allow, and what happens instead. Nothing of it keeps a job from running. */
#ifndef PLENUM_MPIEXEC_PREFLIGHT_H
#define PLENUM_MPIEXEC_PREFLIGHT_H

#include "api/mpiexec/run.h"

/* One line for each thing that is not as it could be. */
void preflight_say(struct run *run);

#endif
