/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Job reports: what every process of a job is doing, and the crash record of a process that crashed.
 *
 * Processes that wait in MPI answer through their pages (core/job/report.h); /proc describes the others. report.c asks
 * and collects the answers, read.c copies and checks them, find.c searches for likely causes, text.c and report_json.c
 * write the report. report_pack.c brings what an agent has read to the runtime that has the hosts; job/job_report.c
 * says when. The caller holds the runtime's lock.
 */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_REPORT_H
#define PLENUM_WORLD_RUNTIME_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/job/report.h"
#include "world/runtime/report/symbols.h"

struct plenum_job;

/* The state of a process, seen from outside. */
enum pl_report_life {
    PL_LIFE_BEFORE,    /* has not used MPI */
    PL_LIFE_WORLD,     /* between MPI_Init and MPI_Finalize */
    PL_LIFE_SESSION,   /* has only sessions */
    PL_LIFE_BETWEEN,   /* has no session any more */
    PL_LIFE_FINALIZED, /* after MPI_Finalize */
    PL_LIFE_ENDED,
    PL_LIFE_UNKNOWN, /* its host has given no answer */
    PL_LIFE_UNABLE,  /* MPI_Init has failed, and it has no session */
    PL_LIVES
};

struct pl_report_rank {
    enum pl_report_life life;
    pid_t pid;
    char state;                 /* of /proc/PID/stat; '?': not known */
    char sleeps[48];            /* the kernel function in which it sleeps; "": not known */
    struct pl_job_record *page; /* its answer, copied and checked; NULL: none */
    int waits;                  /* its threads that wait */
    const char *host;           /* borrowed; NULL: all ranks are on one that needs no name */
    struct pl_symbols *symbols; /* of its files, borrowed */
};

/* One frame of a trace. Its texts are borrowed from the page and the symbols. */
struct pl_report_frame {
    const char *module; /* the file that is loaded there; NULL: not known */
    uint64_t offset;    /* the address in the module's file; without a module, in the process */
    struct pl_symbol symbol;
};

/* Bytes for a frame as text: "main+0x1c in /tmp/a.out(+0x11c) at a.c:12". */
enum { PL_FRAME_TEXT = 512 };

struct pl_report_wait {
    int rank;
    const struct pl_job_item *item;
    char function[64]; /* "MPI_Recv"; "MPI": not known */
    bool called;       /* `caller` is the frame of the program that called it; false: not known */
    struct pl_report_frame caller;
    char caller_text[PL_FRAME_TEXT]; /* "": not known */
};

struct pl_report {
    const char *job; /* its name, borrowed, if it is one of several; else NULL */
    int first_rank;  /* of a spawned job: the number of its rank 0 in events */
    int size;
    struct pl_report_rank *rank; /* [size] */
    struct pl_report_wait *wait; /* [waits], by rank */
    int waits;
    const struct pl_report_wait **first; /* [size] the first wait of each rank; NULL: it does not wait */
    char **likely;                       /* [likelies] sentences */
    int likelies;
    struct pl_symbols *symbols; /* [hosts], its own, or borrowed from the job */
    int hosts;                  /* 0: it is about one, and `symbols` are the job's */
};

/* Has a process of this host used MPI? Otherwise none can answer. */
bool pl_report_used_mpi(const struct plenum_job *job);

/* Asks the processes of this host, unless they are being asked. */
void pl_report_ask(struct plenum_job *job);

/* Called when `reporting.check_at` has come. False: it is to be called again at the next one. */
bool pl_report_is_complete(struct plenum_job *job, int64_t now);

/* Queues an event with the reports of a job and of those that its tree has spawned, whose ranks are filled in. */
void pl_report_make(struct plenum_job *root, struct pl_report *report, int count);

/* Queues a report from the crash record of a process that was killed by a signal, if it left one. */
void pl_report_crash(struct plenum_job *job, int rank, int signo);

#endif
