/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that were built with another MPI: started here, each process would take itself for the only one. */
#ifndef PLENUM_MPIEXEC_FOREIGN_H
#define PLENUM_MPIEXEC_FOREIGN_H

#include "api/mpiexec/run.h"

/* One line for each program of the command line that is linked with another MPI, where there are several processes. */
void foreign_say(struct run *run);

#endif
