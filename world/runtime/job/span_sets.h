/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets that a job on hosts publishes while it runs. The runtime that has the hosts has the table of them
 * (core/job/sets.h), and sends all sets to each agent of the job after every change (PL_FRAME_SETS). The agent writes
 * them into the segment of its host, where the ranks read them, and says so. A rank that asks for a change
 * (core/job/question.h) has its answer once all hosts know. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_SETS_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_SETS_H

#include "core/job/sets.h"
#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"

struct pl_asked;
struct pl_span_parts;

/* The table; its memory is NULL as long as nothing was published. */
struct pl_job_table pl_span_sets_table(const struct plenum_job *job);

/* Makes the table, if there is none. Its memory is NULL: out of memory. */
struct pl_job_table pl_span_sets_need_table(struct plenum_job *job);

/* Sets memory of this thread aside for pl_span_sets_send(), before a change: if that could not tell the agents, the
 * rank that asked for the change would wait for ever. False: out of memory. */
bool pl_span_sets_reserve(const struct plenum_job *job);

/* The table has changed: tells the agents. */
void pl_span_sets_send(struct plenum_job *job);

/* A rank asks to publish a set, or to withdraw it: does so, and answers now or later. Borrows the question. */
void pl_span_sets_answer(struct plenum_job *job, struct pl_asked *asked);

/* The body of a PL_FRAME_SETS of the agent of this part. */
void pl_span_sets_known(struct plenum_job *job, int part, struct pl_reader *from);

/* Nothing of the job is left on a host, so no rank waits for that. */
void pl_span_sets_check_waiting(struct plenum_job *job);

/* In an agent: writes the sets into the segment. */
void pl_span_sets_write(struct plenum_job *job, struct pl_reader *from);

/* With the parts of the job. */
void pl_span_sets_free(struct pl_span_parts *parts);

#endif
