/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of calls, as the runtime reads them from a record page (core/job/report.h). */
#ifndef PLENUM_CORE_JOB_TRACE_H
#define PLENUM_CORE_JOB_TRACE_H

#include "core/job/report.h"

/* Writes the calling thread's frames into `trace`, from the one at `from` outwards (NULL: from the caller's), and their
 * modules into the page. Safe in a signal handler. */
void pl_trace_take(struct pl_job_record *record, struct pl_job_trace *trace, const void *from);

#endif
