/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection between a runtime and the agent of a host: frames over two descriptors, which are the standard streams
 * of the agent. Each side buffers what the other does not take yet, so that neither waits for the other.
 *
 *     greeting, frame, frame, ...        frame: length of the body, kind, job (0: none), body, \n
 *
 * The newline is for commands that pass on whole lines only, as srun does without -u.
 *
 * A login shell may print something before the agent runs. So a reader discards everything before the greeting. The
 * first frame is PL_FRAME_HELLO; both sides refuse another version. The bodies are read with bounds
 * (core/base/bytes.h).
 */
#ifndef PLENUM_WORLD_RUNTIME_HOSTS_HOST_WIRE_H
#define PLENUM_WORLD_RUNTIME_HOSTS_HOST_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/bytes.h"

enum { PL_WIRE_VERSION_HOSTS = 9 };

enum pl_frame_kind {
    PL_FRAME_HELLO = 1, /* text: the version of the library; u32: PL_WIRE_VERSION_HOSTS */
    /* to the agent */
    PL_FRAME_JOB,    /* start this host's part of a job: job/span_pack.h */
    PL_FRAME_FORGO,  /* start no further ranks: the job is being ended */
    PL_FRAME_SIGNAL, /* i32: rank or -1; i32: signal */
    PL_FRAME_HOLD,   /* u8: read no output, or go on */
    PL_FRAME_GONE,   /* u32: a rank of another host that has ended; u8: enum pl_gone */
    PL_FRAME_INPUT,  /* u32: rank; blob: for its standard input; empty: the end */
    /* to the runtime */
    PL_FRAME_PLACES,  /* u32 for each enum plenum_bind from CORE on: plenum_place_count() */
    PL_FRAME_REFUSED, /* the part was not started. u8: enum plenum_error; text: why */
    PL_FRAME_EVENT,   /* event/event_pack.h; FINISHED is the last one of the part */
    PL_FRAME_DOOMED,  /* u32: a rank of another host that an abort of some of the ranks ends, too */
    PL_FRAME_TAKEN,   /* u32: rank; u32: bytes of PL_FRAME_INPUT that it has taken */
    /* both */
    PL_FRAME_SLOT, /* the slot of a rank has changed: job/span_slots.h */
    PL_FRAME_BEAT, /* to the agent: u32: after how many ms of silence it ends, 0: never; its answer is empty */
    /* To the agent: u32: number of the question. Its answer: that number, and job/job_report.c. */
    PL_FRAME_REPORT,
    /* To the agent: text: name of a resource; folded: how many the host has, PLENUM_COUNT: the agent counts, and
     * answers with the same. */
    PL_FRAME_RESOURCE,
    PL_FRAME_BOUND, /* to the runtime: for each bound rank u32: its number; blob: its processors, a bit for each */
    /* To the runtime: a rank asks (core/job/question.h). u32: a number of the agent; u32: rank; u8: kind; blob: data */
    PL_FRAME_QUESTION,
    PL_FRAME_ANSWER, /* to the agent: u32: that number; u8: enum pl_question_state; text */
    /* To the agent: the process sets that the job has published (job/span_sets.c). Its answer: u64: their version. */
    PL_FRAME_SETS,
};

struct pl_wire {
    int in, out;
    struct pl_writer unsent;
    size_t sent;  /* bytes of `unsent` that were written */
    size_t begun; /* where the frame begins in `unsent` that is being written */
    unsigned char *buffer;
    size_t begin, end, capacity; /* of `buffer`: the bytes that were read and not used */
    bool greeted;                /* the other side's greeting has come */
    const char *broken;          /* one line; NULL: it works */
};

struct pl_frame {
    enum pl_frame_kind kind;
    uint32_t job;
    struct pl_reader body;
};

/* Makes the descriptors nonblocking, and owns them. The greeting and PL_FRAME_HELLO are the first to be sent. */
void pl_wire_open(struct pl_wire *wire, int in, int out);
void pl_wire_close(struct pl_wire *wire);

/* Begins a frame; the caller writes the body, and nothing else until pl_wire_end(). */
struct pl_writer *pl_wire_begin(struct pl_wire *wire, enum pl_frame_kind kind, uint32_t job);
void pl_wire_end(struct pl_wire *wire);

/* Drops the frames of a job of which nothing was written. */
void pl_wire_drop(struct pl_wire *wire, uint32_t job);

/* Writes what the other side takes now. */
void pl_wire_flush(struct pl_wire *wire);
static inline size_t pl_wire_waiting(const struct pl_wire *wire)
{
    return wire->broken ? 0 : wire->unsent.length - wire->sent;
}

/* Reads what has come. Returns the bytes, 0: nothing now, -1: the other side has closed the connection, or it is
 * broken.
 */
int pl_wire_fill(struct pl_wire *wire);

/* The next whole frame, borrowed until pl_wire_fill(). False: there is none yet. */
bool pl_wire_next(struct pl_wire *wire, struct pl_frame *frame);

/* Is the body of PL_FRAME_HELLO that of this version? Otherwise writes the other's version as text. */
bool pl_wire_same_version(struct pl_frame *hello, char *version, size_t size);

#endif
