/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a job say about themselves when the runtime asks: a page for each rank in the job segment,
 * whose memory is taken when it is first written.
 *
 * The runtime counts `report` of struct pl_job_segment up and wakes nobody. A thread that waits in MPI sees that when it is
 * about to yield or to sleep, writes what it waits for into the page of its rank, and stores the count in `answered`.
 * Who does not answer is not waiting in MPI. A process that crashes writes the same page, from its signal handler.
 *
 * Written by one process at a time, read by the runtime, which copies a page and believes nothing in it: counts are cut
 * to what there is room for, texts end where their room ends. Ranks are those in the job unless something else is said.
 */
#ifndef PLENUM_CORE_JOB_REPORT_H
#define PLENUM_CORE_JOB_REPORT_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/job/segment.h"

enum {
    PL_RECORD_ITEMS = 48,
    PL_RECORD_TRACES = 8, /* the last one is that of a crash */
    PL_RECORD_FRAMES = 24,
    PL_RECORD_MODULES = 12,
    PL_ITEM_AWAITED = 16,
    PL_ITEM_RANGES = 12,
    PL_ANY = -1,     /* peer, tag: any */
    PL_NO_PEER = -2, /* peer: none */
};

enum pl_item_kind {
    PL_ITEM_WAIT = 1, /* a thread waits for this */
    PL_ITEM_PENDING,  /* an operation under way */
    PL_ITEM_MESSAGE,  /* a message that came before its receive */
    PL_ITEM_KINDS
};

enum pl_item_what {
    PL_WHAT_OTHER,
    PL_WHAT_RECV,
    PL_WHAT_SEND,
    PL_WHAT_PROBE,
    PL_WHAT_COLLECTIVE,
    PL_WHAT_ANY,      /* some of several operations, which are pending */
    PL_WHAT_EXCHANGE, /* for processes that are to come together, by the tag in `object` */
    PL_WHAT_CLOSE,    /* for what was sent to be taken, at the end of a World or session */
    PL_WHAT_ADDRESS,  /* for another process to be initialized */
    PL_WHAT_ACCEPT,   /* for somebody to connect to a port */
    PL_WHAT_CONNECT,  /* for somebody to accept at a port */
    PL_WHAT_REQUEST,  /* a generalized request: the program itself completes it */
    PL_WHAT_KINDS
};

struct pl_job_item {
    uint32_t kind, what;
    int32_t thread;    /* WAIT: its id */
    int32_t peer, tag; /* peer: rank in the communicator, or PL_ANY, PL_NO_PEER; tag: or PL_ANY; of a blocking
                          COLLECTIVE: which one it is on the communicator */
    uint32_t serial;   /* of the communicator's id */
    uint64_t home;
    int64_t bytes;   /* of the message or the buffer; negative: not known */
    int64_t waited;  /* WAIT: nanoseconds */
    uint32_t trace;  /* WAIT: number of its trace, from 1; 0: none */
    uint32_t unsent; /* SEND: 1: not even on its way */
    uint32_t awaited_count, range_count;
    int32_t awaited[PL_ITEM_AWAITED];  /* ranks without which it does not go on; none: anybody may help, or nobody */
    uint32_t range[PL_ITEM_RANGES][2]; /* members of the communicator: first rank, last rank */
    uint32_t ranges_cut;               /* 1: there are more, or some of other jobs */
    int32_t far;                       /* of a peer in another job: its rank there; else PL_NO_PEER */
    char far_job[64];                  /* ... and the job's name */
    char object[64];                   /* the communicator by name */
    char session[32];                  /* "World", "session 2", "front door" */
};

struct pl_job_frame {
    uint64_t offset; /* the address as the module's file has it */
    uint32_t module;
    uint32_t reserved;
};

struct pl_job_trace {
    uint32_t count; /* innermost frame first */
    uint32_t exact; /* frame 0 is where it stands; all others are return addresses */
    struct pl_job_frame frame[PL_RECORD_FRAMES];
};

struct pl_job_record {
    _Atomic uint32_t answered; /* the last question that was answered */
    uint32_t items, traces, modules;
    uint32_t left_out[PL_ITEM_KINDS]; /* items for which there was no room */
    _Atomic uint32_t crashed;         /* the number of the signal; stored last */
    int32_t crash_code, crash_thread; /* si_code */
    int32_t crash_sender;             /* pid of who sent the signal; 0: itself, or the processor */
    uint64_t crash_address;
    struct pl_job_trace trace[PL_RECORD_TRACES];
    char module[PL_RECORD_MODULES][192];
    struct pl_job_item item[PL_RECORD_ITEMS];
};

/* Bytes from one page to the next. */
enum { PL_RECORD_BYTES = (sizeof(struct pl_job_record) + 4095) / 4096 * 4096 };

/* The page of a rank; NULL: this job has none. */
static inline struct pl_job_record *pl_job_record(const struct pl_job_segment *job, int rank)
{
    return job->records ? (struct pl_job_record *)((char *)job + job->records + (size_t)rank * PL_RECORD_BYTES) : NULL;
}

#endif
