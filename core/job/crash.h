/* SPDX-License-Identifier: BSD-3-Clause */
/* Crash records: the signal and a trace, in the record page of the rank (core/job/report.h). */
#ifndef PLENUM_CORE_JOB_CRASH_H
#define PLENUM_CORE_JOB_CRASH_H

/* From now until pl_crash_ignore(), a signal that ends the process first writes a crash record; the process then ends
 * as it would have. A signal that already has a handler keeps it. By one thread; the process is open. */
void pl_crash_watch(void);
void pl_crash_ignore(void);

#endif
