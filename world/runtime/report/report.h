/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: what every process of a job is in, and what a process that crashed left behind.
 *
 * The processes that wait in MPI answer through their pages (core/job/report.h); about the others /proc tells. report.c
 * asks and collects, read.c copies and judges what is there, find.c looks for what it may mean,
 * text.c and json.c write it down.
 */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_REPORT_H
#define PLENUM_WORLD_RUNTIME_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/job/report.h"
#include "world/runtime/report/symbols.h"

struct plenum_job;

/* Where a process is as seen from outside. */
enum pl_report_life {
    PL_LIFE_BEFORE,    /* it has not used MPI */
    PL_LIFE_WORLD,     /* between MPI_Init and MPI_Finalize */
    PL_LIFE_SESSION,   /* it has sessions only */
    PL_LIFE_BETWEEN,   /* it has none any more */
    PL_LIFE_FINALIZED, /* behind MPI_Finalize */
    PL_LIFE_ENDED,
};

struct pl_report_rank {
    enum pl_report_life life;
    pid_t pid;
    char state;                 /* of /proc/PID/stat; '?': not known */
    char sleeps[48];            /* in which function of the kernel; "": not known */
    struct pl_job_record *page; /* what it answered, made safe; NULL: nothing */
    int waits;                  /* its threads that wait */
};

struct pl_report_wait {
    int rank;
    const struct pl_job_item *item;
    char function[64]; /* "MPI_Recv"; "MPI": not known */
    char caller[320];  /* "main+0x1c in /tmp/a.out(+0x11c)"; "": not known */
};

struct pl_report {
    int size;
    struct pl_report_rank *rank; /* [size] */
    struct pl_report_wait *wait; /* [waits], by rank */
    int waits;
    const struct pl_report_wait **first; /* [size] of a rank; NULL: it does not wait */
    char **likely;                       /* [likelies] sentences */
    int likelies;
    struct pl_symbols symbols;
};

/* read.c. False: no memory. To be freed either way. */
bool pl_report_read(const struct plenum_job *job, struct pl_report *report);
void pl_report_fini(struct pl_report *report);
/* A copy of a page in which all counts and texts are good; NULL: no memory. */
struct pl_job_record *pl_report_copy_page(const struct pl_job_record *page, int size);
/* The MPI function of a trace (the outermost), and who called it. */
void pl_report_place(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     char function[64], char caller[320]);
/* One frame: "main+0x1c in /tmp/a.out(+0x11c)". */
void pl_report_frame(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     uint32_t i, char text[320]);

/* find.c: fills in `likely`. */
void pl_report_find(struct pl_report *report);

/* text.c */
void pl_report_write(const struct pl_report *report, FILE *out);
/* "a message from rank 1 with tag 7 on ocean" */
void pl_report_write_item(const struct pl_job_item *item, FILE *out);
enum { PL_EACH = -3 }; /* a peer: "another rank each" */
/* "MPI_Recv: waits for a message ..." */
void pl_report_write_wait(const struct pl_report_wait *wait, FILE *out);
/* "rank 3", "ranks 0-2, 7" of those that are marked. */
void pl_report_write_ranks(const bool *marked, int size, FILE *out);
/* "has ended", "are not waiting in MPI" */
const char *pl_report_outside(const struct pl_report_rank *rank, bool several);
void pl_report_write_crash(struct pl_symbols *symbols, const struct pl_job_record *page, int rank, FILE *out);

/* json.c: to be freed with free(); NULL: no memory. */
char *pl_report_json(struct pl_report *report);
char *pl_report_json_crash(struct pl_symbols *symbols, const struct pl_job_record *page, int rank);

#endif
