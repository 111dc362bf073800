/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for things that this machine does not allow, and says what happens instead. Jobs run without all of them. */
#ifndef PLENUM_MPIEXEC_PREFLIGHT_H
#define PLENUM_MPIEXEC_PREFLIGHT_H

#include "api/mpiexec/run.h"

/* Prints one line for each restriction that it finds. */
void preflight_say(struct run *run);

#endif
