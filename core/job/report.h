/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record pages: what the processes of a job tell the runtime for a job report. The job segment has a page for each
 * rank, whose memory is allocated when it is first written.
 *
 * The runtime increments `report` of struct pl_job_segment and wakes no process. A thread that waits in MPI notices
 * when it is about to yield or to sleep, writes its wait record into the page of its rank, and stores the count in
 * `answered`. A process that does not answer is not waiting in MPI. A process that crashes writes its crash record
 * into the same page, from the signal handler.
 *
 * One process at a time writes a page. The runtime copies it and trusts nothing: it cuts counts to the capacity, and
 * texts at the end of their arrays. Ranks are those in the job unless stated otherwise.
 */
#ifndef PLENUM_CORE_JOB_REPORT_H
#define PLENUM_CORE_JOB_REPORT_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/job/segment.h"

enum {
    PL_RECORD_ITEMS = 48,
    PL_RECORD_TRACES = 8, /* the last one is that of the crash record */
    PL_RECORD_FRAMES = 24,
    PL_RECORD_MODULES = 12,
    PL_ITEM_AWAITED = 16,
    PL_ITEM_RANGES = 12,
    PL_ANY = -1,     /* peer, tag: any */
    PL_NO_PEER = -2, /* peer: none */
    PL_NO_ROOT = INT32_MIN,
};

enum pl_item_kind {
    PL_ITEM_WAIT = 1, /* a thread waits for this */
    PL_ITEM_PENDING,  /* an operation under way */
    PL_ITEM_MESSAGE,  /* a message that arrived before its receive */
    PL_ITEM_KINDS
};

enum pl_item_what {
    PL_WHAT_OTHER,
    PL_WHAT_RECV,
    PL_WHAT_SEND,
    PL_WHAT_PROBE,
    PL_WHAT_COLLECTIVE,
    PL_WHAT_ANY,      /* some of several operations, which are pending items */
    PL_WHAT_EXCHANGE, /* for the members of an exchange, by the tag in `object` */
    PL_WHAT_CLOSE,    /* for sent messages to be taken, at the end of a World or session */
    PL_WHAT_ADDRESS,  /* for another process to be initialized */
    PL_WHAT_ACCEPT,   /* for a process to connect to a port */
    PL_WHAT_CONNECT,  /* for a process to accept at a port */
    PL_WHAT_REQUEST,  /* a generalized request: the program itself completes it */
    PL_WHAT_LOCK,     /* for the window lock of `peer`: any rank may hold it, so that none is awaited */
    PL_WHAT_KINDS
};

enum pl_item_object { PL_OBJECT_COMM, PL_OBJECT_WINDOW, PL_OBJECT_FILE, PL_OBJECT_KINDS };

struct pl_job_item {
    uint32_t kind, what;
    int32_t thread;    /* WAIT: its id */
    int32_t peer, tag; /* peer: rank in the communicator, or PL_ANY, PL_NO_PEER; tag: or PL_ANY; of a blocking
                          COLLECTIVE: its number on the communicator */
    uint32_t serial;   /* of the communicator's id */
    uint64_t home;
    int64_t bytes;   /* of the message or the buffer; negative: unknown */
    int64_t waited;  /* WAIT: nanoseconds */
    uint32_t trace;  /* WAIT: number of its trace, from 1; 0: none */
    uint32_t unsent; /* SEND: 1: nothing has been sent yet */
    uint32_t awaited_count, range_count;
    int32_t awaited[PL_ITEM_AWAITED]; /* the ranks that it waits for; none: any rank may end the wait, or no rank can */
    uint32_t range[PL_ITEM_RANGES][2]; /* members of the communicator: first rank, last rank */
    uint32_t ranges_cut;               /* 1: there are more members, or members of other jobs */
    int32_t far;                       /* of a peer in another job: its rank there; else PL_NO_PEER */
    char far_job[64];                  /* ... and the job's name */
    char object[64];                   /* the name of the communicator, or of the window or file that it belongs to */
    char session[32];                  /* "World", "session 2", "listener" */
    uint32_t object_kind;              /* enum pl_item_object; COMM also if it has no name */
    /* COLLECTIVE: what the rank called, as far as it is known. `bytes`: of what all ranks must have alike. */
    int32_t root;                    /* MPI_ROOT and MPI_PROC_NULL, too; PL_NO_ROOT: it has none, or it is not known */
    char call[48], op[24], data[48]; /* "MPI_Ibcast" unless a thread is in that very function; "8 x MPI_INT" */
};

struct pl_job_frame {
    uint64_t offset; /* the address as the module's file has it */
    uint32_t module;
    uint32_t reserved;
};

struct pl_job_trace {
    uint32_t count; /* innermost frame first */
    uint32_t exact; /* frame 0 is the current address; all others are return addresses */
    struct pl_job_frame frame[PL_RECORD_FRAMES];
};

struct pl_job_record {
    _Atomic uint32_t answered; /* the last `report` that was answered */
    uint32_t items, traces, modules;
    uint32_t left_out[PL_ITEM_KINDS]; /* items that did not fit */
    _Atomic uint32_t crashed;         /* the number of the signal; stored last */
    int32_t crash_code, crash_thread; /* si_code */
    int32_t crash_sender;             /* pid of the sender of the signal; 0: the process itself, or a fault */
    uint64_t crash_address;
    struct pl_job_trace trace[PL_RECORD_TRACES];
    char module[PL_RECORD_MODULES][192];
    struct pl_job_item item[PL_RECORD_ITEMS];
};

/* Bytes from one page to the next. */
enum { PL_RECORD_BYTES = (sizeof(struct pl_job_record) + 4095) / 4096 * 4096 };

/* The page of a rank; NULL: the job has no pages. */
static inline struct pl_job_record *pl_job_record(const struct pl_job_segment *job, struct pl_job_shared *shared,
                                                  int rank)
{
    char *pages = (char *)shared + job->records;
    return job->records ? (struct pl_job_record *)(pages + (size_t)rank * PL_RECORD_BYTES) : NULL;
}

#endif
