/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash record of this process, which the job report shows. */
#ifndef PLENUM_CORE_JOB_CRASH_H
#define PLENUM_CORE_JOB_CRASH_H

/* From here to pl_crash_ignore(), a signal that ends the process leaves a trace in the process's page, and ends the
 * process as before. Signals that the program handles are left alone. Called by one thread. */
void pl_crash_watch(void);
void pl_crash_ignore(void);

#endif
