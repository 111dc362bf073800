/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libraries print in this process. The PMIx library, and hwloc and libevent below it, write lines of their own to
 * standard error, from any thread. The user of mpiexec gets messages of mpiexec only, and with --verbose those lines
 * as mpiexec's.
 */
#ifndef PLENUM_MPIEXEC_CHATTER_H
#define PLENUM_MPIEXEC_CHATTER_H

#include "api/mpiexec/run.h"

/* From here on descriptor 2 is a pipe, and mpiexec prints to a duplicate of what it was. Nothing changes if the job
 * gets no PMIx server. */
void chatter_catch(struct run *run);

/* Takes what the pipe holds. Does not block. */
void chatter_tell(struct run *run);

/* Standard error is as it was. */
void chatter_release(struct run *run);

#endif
