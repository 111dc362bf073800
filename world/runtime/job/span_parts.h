/* SPDX-License-Identifier: BSD-3-Clause */
/* What the runtime keeps of a job that agents start, for span.c and span_follow.c. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_SPAN_PARTS_H
#define PLENUM_WORLD_RUNTIME_JOB_SPAN_PARTS_H

#include "world/runtime/job.h"
#include "world/runtime/job/span_input.h"

/* What one host has of the job. */
struct pl_span_part {
    struct pl_host *host;  /* NULL: nothing runs there any more */
    int ranks;             /* that are counted there */
    bool started;          /* all of them were started */
    bool asked;            /* for a job report, and has not answered */
    unsigned char *answer; /* ... which it has said (job/job_report.c); NULL: nothing */
    size_t answer_bytes;
    uint64_t sets_known; /* the version of the published sets that it has last said to know */
};

struct pl_job_table_memory;

struct pl_span_rank {
    bool doomed;  /* an abort of some of the ranks ends it, or its host is lost */
    bool aborted; /* it has told so itself */
};

/* An event ABORTED. */
struct pl_span_abort {
    struct pl_list node;
    struct plenum_event event; /* without texts */
    char *object, *text;       /* NULL: out of memory */
};

/* A frame that tells of an end too early. */
struct pl_span_early {
    struct pl_list node;
    int part;
    size_t length;
    unsigned char body[];
};

struct pl_span_parts {
    struct pl_vars env;        /* that all programs share */
    struct pl_span_part *part; /* [span->hosts] */
    int running;               /* parts with a host */
    struct pl_list early;      /* struct pl_span_early.node */
    struct pl_span_rank *rank; /* [desc.size] */
    struct pl_list aborts;     /* struct pl_span_abort.node: held, pl_job_hold_abort() */
    bool consequence;          /* an abort has decided the exit code that tells only that another process was lost */
    struct pl_span_inputs inputs;
    struct pl_job_table_memory *sets; /* job/span_sets.h; NULL: nothing was published */
    struct pl_list set_changes;       /* ranks that wait until all hosts know */
};

/* The host of a part, if it is still there. */
static inline struct pl_host *pl_span_host_of(const struct plenum_job *job, int part)
{
    return job->launch.span->parts->part[part].host;
}

#endif
