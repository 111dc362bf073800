/* SPDX-License-Identifier: BSD-3-Clause */
/* What agents tell of the ranks of their hosts becomes events, and failures end the job. The caller holds the runtime's
 * lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_FOLLOW_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_FOLLOW_H

#include "world/runtime/hosts/host.h"
#include "world/runtime/job.h"

/* The agent of a host tells something of a job. */
void pl_span_frame(struct pl_host *host, struct pl_frame *frame);

/* A job that is ending, on a host whose agent has not answered yet: nothing of it was started there, or will be. */
void pl_span_withdraw(struct plenum_job *job, struct pl_host *host);

/* For pl_job_settle_aborts(). */
void pl_span_settle_aborts(struct plenum_job *job);

/* A host is lost, with all ranks of the job that it had. */
void pl_span_lose(struct plenum_job *job, const struct pl_host *host);

#endif
