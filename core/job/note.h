/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes: what a process of a job tells the runtime while it runs. They are written whole, into a pipe of the runtime's
 * that the process opens by its name in /proc (struct pl_job_segment says which): no descriptor more in any process, and
 * nothing to do for jobs that have nothing to tell. A reader believes nothing.
 */
#ifndef PLENUM_CORE_JOB_NOTE_H
#define PLENUM_CORE_JOB_NOTE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct pl_job_segment;

#define PL_NOTE_MAGIC 0x31544f4eu /* "NOT1" */

enum pl_note_kind {
    PL_NOTE_SETS,  /* process sets were published, changed or withdrawn */
    PL_NOTE_ERROR, /* an error was handed to the engine: the rest of the note */
    PL_NOTE_SPAWN, /* more processes are wanted: `code` is a descriptor of the process's (core/job/spawn.h) */
};

struct pl_job_note {
    uint32_t magic;
    uint32_t kind;   /* enum pl_note_kind */
    uint64_t cookie; /* of the job */
    int32_t rank, code;
    char object[128];   /* the communicator, window, file or session by name; empty: none */
    char message[1024]; /* one line, no newline */
};
_Static_assert(sizeof(struct pl_job_note) <= PIPE_BUF, "a note is written in one piece or not at all");

/* Fills in what says whose note it is, and sends it. False: nobody listens, or has read what came before. */
bool pl_job_note_send(const struct pl_job_segment *job, struct pl_job_note *note);

#endif
