/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that were built with another MPI library: each process that mpiexec starts would run as a singleton. */
#ifndef PLENUM_MPIEXEC_FOREIGN_H
#define PLENUM_MPIEXEC_FOREIGN_H

#include "api/mpiexec/run.h"

/* Prints one line for each program of the command line that is linked with another MPI library, if the job has several
 * processes. */
void foreign_say(struct run *run);

#endif
