/* SPDX-License-Identifier: BSD-3-Clause */
/* What parallel debuggers read in a launcher: the MPIR process acquisition interface, version 1.0. */
#ifndef PLENUM_MPIEXEC_DEBUGGER_H
#define PLENUM_MPIEXEC_DEBUGGER_H

#include "api/mpiexec/run.h"

/* Before the launch: has the job stop its processes, if a debugger or --stop-on-exec wants that. Returns an enum
 * plenum_error. */
int debugger_prepare(struct run *run);

/* When all processes were started: shows them to a debugger, and continues them if it has had them stopped. If the user
 * has, says how they are continued. */
void debugger_show(struct run *run);

/* A debugger stops here when a process aborts the job; `line` says why. */
void debugger_show_abort(const char *line);

/* No process is there any more. */
void debugger_forget(void);

#endif
