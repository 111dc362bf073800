/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives the notes (core/job/note.h) of the processes of all jobs through one pipe per runtime. The caller holds the
 * runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_NOTES_H
#define PLENUM_WORLD_RUNTIME_JOB_NOTES_H

struct plenum_job;

/* Writes the name of the pipe into the job's segment, and opens the pipe for the first job. Without a pipe the job runs
 * without notes. */
void pl_notes_watch(struct plenum_job *job);

/* Takes what the job's processes wrote before the last one ended. Their questions get no answers. */
void pl_notes_drain(struct plenum_job *job);

#endif
