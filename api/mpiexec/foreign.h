/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that were built with another MPI library. They are one job by the PMIx server (Open MPI) or by the PMI-1
 * server (MPICH and its kind). */
#ifndef PLENUM_MPIEXEC_FOREIGN_H
#define PLENUM_MPIEXEC_FOREIGN_H

#include "api/mpiexec/run.h"

/* Before the launch: a job of several processes of Open MPI does not start without a PMIx server. With --pmix off one
 * line for each program says what becomes of it. False: such programs cannot run on other machines, which is said. */
bool foreign_prepare(struct run *run);

#endif
