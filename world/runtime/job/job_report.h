/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a job report is made. Of a job on hosts, each agent asks the processes of its host as the runtime does on one
 * machine, looks up the symbols there, and answers with what they said (report/report_pack.h). The report is made when
 * all agents have answered, or after 10 s; it then says of which hosts there is no answer. All jobs of a spawn tree are
 * asked at the same time, and one report has them all. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_JOB_REPORT_H
#define PLENUM_WORLD_RUNTIME_JOB_JOB_REPORT_H

#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"

/* Asks the processes, and ends the job when the report is complete. False: none can answer, or the embedder wants no
 * report. */
bool pl_job_report_before_end(struct plenum_job *job);

/* `reporting.check_at` has come. True: the report is complete, and the caller ends the job. */
bool pl_job_report_deadline(struct plenum_job *job, int64_t now);

/* In an agent: the runtime asks about a part; about one that has ended. */
void pl_job_report_question(struct plenum_job *part, uint32_t number);
void pl_job_report_of_ended(struct pl_wire *runtime, uint32_t part, uint32_t number);

/* The agent of a part has answered; the part has ended. */
void pl_job_report_answer(struct plenum_job *job, int part, const struct pl_frame *frame);
void pl_job_report_part_ended(struct plenum_job *job, int part);

#endif
