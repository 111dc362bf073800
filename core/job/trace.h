/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a thread, for the job report (core/job/report.h). */
#ifndef PLENUM_CORE_JOB_TRACE_H
#define PLENUM_CORE_JOB_TRACE_H

#include "core/job/report.h"

/* Writes the calling thread's frames into `trace`, and the modules that they are in into the page: from the frame at
 * `from` outwards, or from the caller's if that is NULL. Safe in a signal handler. */
void pl_trace_take(struct pl_job_page *page, struct pl_job_trace *trace, const void *from);

#endif
