/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots of a job over several hosts (struct pl_job_rank), in an agent. The segment of each host has a slot for each
 * rank of the job. A rank writes its own, and sends a note. The agent sends what has changed to the runtime, which
 * passes it on to the agents of the other hosts of the job, and these write it into their segments. So a rank finds the
 * address of another as it does on one host, without asking for it. A tenant (core/job/tenant.h) is known by its key,
 * since it has another place on each host. An agent enters those that it hears of.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_SLOTS_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_SLOTS_H

#include "core/base/bytes.h"
#include "world/runtime/job.h"

/* Sends what has changed in the slots of this host's ranks, and which ranks of other hosts an abort ends. Does nothing
 * for other jobs. */
void pl_slots_check(struct plenum_job *job);

/* Before the segment goes. */
void pl_slots_forget(struct plenum_job *job);

/* Writes the body of a PL_FRAME_SLOT into the segment. */
void pl_slots_write(struct plenum_job *job, struct pl_reader *from);

/* Writes the body of a PL_FRAME_GONE: a rank of another host has ended. */
void pl_slots_gone(struct plenum_job *job, struct pl_reader *from);

#endif
