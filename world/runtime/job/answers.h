/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to the questions of ranks (core/job/question.h). A runtime without hosts reads a question from the memory of
 * the process that asks, and writes the answer there. An agent passes it on with a number (PL_FRAME_QUESTION), and the
 * runtime that has the hosts answers to that (PL_FRAME_ANSWER). What a rank has written is copied once, and bounded.
 *
 * Questions for processes are answered by pl_answers_advance(), since that gives up the lock; all others at once. The
 * caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_ANSWERS_H
#define PLENUM_WORLD_RUNTIME_JOB_ANSWERS_H

#include "core/job/note.h"
#include "core/job/question.h"
#include "world/runtime/hosts/host_wire.h"
#include "world/runtime/job.h"

/* A question that was taken and is not answered yet. */
struct pl_asked {
    struct pl_list node; /* in runtime->answers.asked */
    struct pl_asker from;
    enum pl_question_kind kind;
    size_t length;
    unsigned char data[];
};

/* A rank asks by a note. `ended`: its job's processes have all ended; then it gets nothing. */
void pl_answers_take(struct plenum_job *job, const struct pl_job_note *note, bool ended);

/* The body of a PL_FRAME_QUESTION of the agent of a host that has this part of the job. */
void pl_answers_hear(struct plenum_job *job, int part, struct pl_reader *from);

/* In an agent: the body of a PL_FRAME_ANSWER. */
void pl_answers_pass(struct plenum_job *job, struct pl_reader *from);

/* Tells the asking process; `text` may be NULL. No effect where its host, or its job, is gone. */
void pl_answers_give(struct plenum_runtime *rt, const struct pl_asker *to, enum pl_question_state state,
                     const char *text);

/* There will be no further answer. */
void pl_answers_close(struct pl_asker *to);

/* Starts the processes that were asked for. Gives up the lock meanwhile. */
void pl_answers_advance(struct plenum_runtime *rt);

/* The job has ended: in an agent, its questions have no answer any more. */
void pl_answers_forget(struct plenum_job *job);

/* The runtime is about to be freed. */
void pl_answers_free(struct plenum_runtime *rt);

#endif
