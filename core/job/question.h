/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a process asks its launcher: a sealed memory file with the question, which a note (PL_NOTE_QUESTION) names by its
 * descriptor in the asking process. The launcher writes the answer into it. On hosts the agent passes the question on
 * to the runtime that has the hosts, and the answer back (world/runtime/job/answers.h).
 *
 * The launcher trusts nothing in the file: it copies the question once, and bounds it. Nor does the process trust the
 * answer.
 */
#ifndef PLENUM_CORE_JOB_QUESTION_H
#define PLENUM_CORE_JOB_QUESTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_QUESTION_MAGIC 0x31545351u /* "QST1" */
#define PL_QUESTION_NAME  "plenum-question"

/* What is asked for, and the data of the question (core/base/bytes.h). */
enum pl_question_kind {
    PL_QUESTION_SPAWN,     /* more processes. text: a port of the parents; text: a job in JSON; count of programs, for
                              each text: its hosts as in "a:2,b"; empty: any */
    PL_QUESTION_PUBLISH,   /* a name for a port. i32: pid; text: the name; text: the port's name */
    PL_QUESTION_UNPUBLISH, /* the same data */
    PL_QUESTION_LOOKUP,    /* text: the name. The answer is the port's name */
    PL_QUESTION_SET,       /* publish a process set. text: its name; count of ranges, each u32: first, u32: last rank */
    PL_QUESTION_NO_SET,    /* withdraw it. text: its name */
    PL_QUESTION_KINDS
};

enum pl_question_state {
    PL_QUESTION_OPEN,
    PL_QUESTION_DONE,    /* what was asked for is there; spawned processes are running */
    PL_QUESTION_REFUSED, /* for the reason in `answer` */
    PL_QUESTION_ENDED,   /* the spawned processes were running, and have ended, or one will not connect: `answer` */
    PL_QUESTION_MET,     /* they have connected: the asking process writes it */
};

enum { PL_QUESTION_MAX = 16 << 20 /* bytes of data */, PL_ANSWER_MAX = 1024 };

struct pl_job_question {
    uint32_t magic;
    uint32_t kind;              /* enum pl_question_kind */
    _Atomic uint32_t state;     /* enum pl_question_state; written last */
    uint32_t length;            /* of `data` */
    char answer[PL_ANSWER_MAX]; /* a text */
    unsigned char data[];
};

/* --- the asking process ------------------------------------------------------------------------------------------ */

struct pl_writer;

/* A question of this process. */
struct pl_question {
    struct pl_job_question *file; /* mapped; NULL: none */
    size_t bytes;
    int fd;
    int class;       /* of errors */
    uint32_t unread; /* as many questions of this process had the launcher not read before this one */
};

/* Do agents start the processes of this job? Then what the hosts share is asked for. */
bool pl_question_is_for_hosts(void);

/* Asks. Errors have the given class: no memory, or the launcher cannot be reached. Must be closed in any case. */
int pl_question_ask(struct pl_question *question, enum pl_question_kind kind, const struct pl_writer *data, int class);

/* PL_AGAIN: there is no answer yet. Else MPI_SUCCESS, or an error of the class, with the launcher's reason. */
int pl_question_check(struct pl_question *question);

/* Waits for the answer. `progress`: makes progress meanwhile; no lock is held then. */
int pl_question_await(struct pl_question *question, bool progress);

enum pl_question_state pl_question_state(const struct pl_question *question);

/* Copies the text of the answer. */
void pl_question_answer(const struct pl_question *question, char answer[PL_ANSWER_MAX]);

/* The spawned processes have connected to this one: the launcher need not tell it of their failures any more. */
void pl_question_settle(const struct pl_question *question);

void pl_question_close(struct pl_question *question);

#endif
