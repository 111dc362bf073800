/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes: what a process of a job tells the runtime while it runs. A note is written in one piece into a pipe of the
 * runtime, which the process opens by its name in /proc (struct pl_job_segment says which). A process in a user
 * namespace of its own may not do so: in a job of several hosts it uses the descriptor that it inherits. Jobs without
 * notes do nothing. The reader trusts nothing.
 */
#ifndef PLENUM_CORE_JOB_NOTE_H
#define PLENUM_CORE_JOB_NOTE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct pl_job_segment;

#define PL_NOTE_MAGIC 0x31544f4eu /* "NOT1" */

enum pl_note_kind {
    PL_NOTE_SETS,     /* process sets were published, changed or withdrawn */
    PL_NOTE_ERROR,    /* an error was handed to the launcher: the rest of the note */
    PL_NOTE_QUESTION, /* a question: `code` is a descriptor of the process (core/job/question.h) */
    PL_NOTE_UNABLE,   /* MPI_Init has failed in a spawned process: its slot says why (core/job/unable.h) */
    PL_NOTE_SLOT,     /* of a job over several hosts: the rank's slot has changed; the agent checks all of its host */
};

struct pl_job_note {
    uint32_t magic;
    uint32_t kind;   /* enum pl_note_kind */
    uint64_t cookie; /* of the job */
    int32_t rank, code;
    char object[128];   /* the name of the communicator, window, file or session; empty: none */
    char message[1024]; /* one line, no newline */
};
_Static_assert(sizeof(struct pl_job_note) <= PIPE_BUF, "a note is written in one piece or not at all");

/* Fills in magic and cookie, and sends the note. False: the runtime is gone, or its pipe is full (errno is EAGAIN), so
 * that it will soon read other notes. */
bool pl_job_note_send(const struct pl_job_segment *job, struct pl_job_note *note);

#endif
