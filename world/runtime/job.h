/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job, as the files of the runtime share it; job.c creates, finds and frees jobs.
 *
 * Life: DESCRIBED -> QUEUED (if the slots do not suffice) -> RUNNING -> ENDING (cancelled, failed, time limit) ->
 * FINISHED, or QUEUED or RUNNING -> FINISHED. A job is freed once the embedder has closed its handle and no process of
 * it runs. The runtime's lock guards all fields.
 */
#ifndef PLENUM_WORLD_RUNTIME_JOB_H
#define PLENUM_WORLD_RUNTIME_JOB_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/job/segment.h"
#include "world/runtime/event/output.h"
#include "world/runtime/job/blob.h"
#include "world/runtime/report/symbols.h"
#include "world/runtime/runtime.h"
#include "world/runtime/vars.h"

struct pl_program {
    char **argv; /* NULL-terminated */
    int first, ranks;
    struct pl_vars env; /* changes for this program */
    char *wdir, *path;
    char *hosts; /* of a spawned program: as in "a:2,b"; NULL: any */
};

struct pl_pset {
    char *name;
    uint32_t *ranges; /* [2 * count] */
    uint32_t count;
};

struct pl_redirect {
    int rank;   /* or PLENUM_ALL; the last redirect that matches counts */
    int number; /* of the descriptor: 0, 1 or 2 */
    int fd;
    char *file; /* absolute, with %r; NULL: use fd */
    bool null;  /* fd is /dev/null, opened for this redirect */
};

struct pl_rank {
    pid_t pid; /* 0: not started */
    bool ended;
    bool continued; /* PLENUM_JOB_STOPPED: it has got SIGCONT */
    struct pl_output out[2];
};

enum pl_job_phase { PL_JOB_DESCRIBED, PL_JOB_QUEUED, PL_JOB_RUNNING, PL_JOB_ENDING, PL_JOB_FINISHED };

enum { PL_JOB_OPTIONS = PLENUM_JOB_STOPPED + 1 }; /* the last option of enum plenum_job_option, plus 1 */

/* Of one resource. */
struct pl_request {
    char name[PL_RESOURCE_NAME];
    int each, shared; /* for each rank, and for all together */
    int kind;         /* from the launch on */
};

/* Texts that some of the ranks have. */
struct pl_rank_texts {
    char **text; /* [count]; NULL: the rank has none */
    int count;
};

/* The text of a rank; NULL: none. */
static inline const char *pl_rank_text(const struct pl_rank_texts *texts, int rank)
{
    return rank < texts->count ? texts->text[rank] : NULL;
}

/* What the embedder asks for (describe.c, json_keys.c). Constant from the launch on. */
struct pl_job_desc {
    int size; /* ranks */
    int program_count, pset_count, redirect_count;
    struct pl_program *programs;
    struct pl_pset *psets;
    struct pl_redirect *redirects;
    struct pl_request request[PL_KINDS];
    int request_count;
    struct pl_rank_texts cores; /* plenum_job_place() */
    char *cores_of_all;         /* ... for PLENUM_ALL: lists with blanks between them; NULL: none */
    struct pl_rank_texts host;  /* plenum_job_host() */
    struct pl_vars env;         /* changes for all programs */
    bool env_clear;
    long option[PL_JOB_OPTIONS];
};

/* A job whose processes are started by agents (hosts/host.h). The runtime that has the hosts describes and follows it,
 * and starts nothing; the runtime of each agent has the same job, starts the ranks of its host and decides nothing. */
struct pl_span {
    uint32_t id;                 /* of the job between the two */
    int hosts;                   /* that the job is on */
    int here;                    /* in an agent: the number of this host; -1: this runtime has the hosts */
    int ranks_here;              /* in an agent */
    uint32_t *host_of;           /* [desc.size] */
    struct pl_span_parts *parts; /* not in an agent: job/span_parts.h */
    struct pl_slots_seen *seen;  /* in an agent: job/span_slots.c */
};

/* How the job is started (launch.c). */
struct pl_job_launch {
    struct pl_blob plan;       /* until the start */
    struct pl_span *span;      /* NULL: the keeper of this runtime starts all processes */
    struct pl_host *placer;    /* a command that starts the agent of this host, not a job of the embedder; or NULL */
    int *numbers;              /* of its resources, from the start (job_resources.c); NULL: none */
    cpu_set_t *bound;          /* [desc.size], from the start; NULL: the ranks are not bound */
    bool pmix;                 /* with a PMIx server */
    bool pmi;                  /* with a PMI-1 server, */
    struct pl_pmi *pmi_server; /* ... this one (pmi_server.c), from the start on */
    bool registered;           /* at the PMIx server */
    int64_t started_us;        /* CLOCK_MONOTONIC; 0: not started */
    uint32_t keeper_id;        /* the job's number at the keeper: a new one for every attempt */
};

/* How the job ends (follow.c). */
struct pl_job_outcome {
    bool cancelled;
    bool aborted;          /* an abort was reported */
    bool failed;           /* a failure has decided `code` */
    int code;              /* the exit code so far */
    struct pl_usage usage; /* of all processes that have ended; of the root */
    struct pl_event *last; /* the space for the event that the job has finished (event.h); NULL: it was queued */
};

/* In milliseconds of CLOCK_MONOTONIC; 0: none. */
struct pl_job_deadline {
    int64_t limit, kill;
    int64_t abort;   /* an abort counts whose cause may be told until then: pl_job_hold_abort() */
    int64_t barrier; /* of PMI-1, to which a rank cannot come: it ends then */
    int64_t rouse;   /* while processes are started or ended: continue the keeper, which something may have stopped */
};

/* A job report in preparation (job/job_report.h). */
struct pl_job_reporting {
    int64_t check_at, until; /* the next check for answers and the last one, as in struct pl_job_deadline; 0: none */
    bool all_answered;       /* at the last check */
    bool complete;           /* of a spawned job: it waits for the others of its tree */
    bool ends_job;           /* of the root: end the job when the report is there */
    uint32_t number;         /* of the last question to the agents; in an agent: of the one to answer */
};

/* Where the answers to the question of a rank go (job/answers.h). */
struct pl_asker {
    uint64_t job; /* the id of its job; 0: there is no asker */
    int rank;
    struct pl_job_question *file; /* of a process of this machine, mapped; NULL: the agent of its host passes them on */
    size_t bytes;
    uint32_t number; /* ... to the question that it has sent with this number */
};

/* The job's part in a spawn tree (spawn_tree.c). */
struct pl_job_tree {
    struct plenum_job *root; /* of a spawned job: the job that the embedder has launched; NULL: this is that job */
    int first_rank;          /* of a spawned job: the number of its rank 0 in the events of the root */
    int spawned_ranks;       /* of the root: processes that its tree has spawned so far */
    bool lacking;            /* a process of the parents lacks shared memory: struct pl_job_shared.lacking */
    int pending;             /* of the root: spawned jobs that are about to be launched */
    bool outlived;     /* its own processes have ended, and spawned ones run; of a spawned job: its aborts are held */
    bool parents_told; /* of a spawned job: the parents know that it runs, */
    bool parents_refused;    /* ... or that it does not; if both, that it has missed them (pl_job_has_missed()) */
    struct pl_asker parents; /* of a spawned job: the rank that has asked for it */
    char *port;              /* of a spawned job: where it connects to its parents; NULL: it was not spawned */
};

/* What the embedder holds (guard.h). */
struct pl_job_handle {
    bool open;              /* the embedder has not closed it */
    _Atomic unsigned calls; /* public functions that are inside */
    void *user;
    bool holds_output; /* no output is read: plenum_job_hold_output() */
};

struct plenum_job {
    struct plenum_runtime *runtime;
    struct pl_list node;  /* in runtime->jobs */
    struct pl_task task;  /* in runtime->supply.dispatch */
    struct pl_list alive; /* in runtime->alive */
    uint64_t id;
    struct pl_job_handle handle;
    enum pl_job_phase phase;
    struct pl_job_desc desc;
    struct pl_job_launch launch;
    char nspace[256]; /* PMIx's maximum */
    uint64_t cookie;
    const struct pl_job_segment *segment; /* mapped, and no rank can change it; NULL: the job does not run */
    struct pl_job_shared *shared;         /* mapped; ranks write garbage there */
    struct pl_rank *ranks;                /* [desc.size] */
    int started;                          /* ranks that were started */
    uint64_t psets_version;               /* of the published sets in the last PSETS event */
    struct pl_job_outcome outcome;
    struct pl_job_deadline deadline;
    struct pl_job_reporting reporting;
    struct pl_symbols symbols; /* of the files of its processes */
    struct pl_job_tree tree;
};

static inline bool pl_job_alive(const struct plenum_job *job)
{
    return job->phase == PL_JOB_RUNNING || job->phase == PL_JOB_ENDING;
}

/* Does the keeper of this runtime start this rank? */
static inline bool pl_job_is_here(const struct plenum_job *job, int rank)
{
    const struct pl_span *span = job->launch.span;
    return !span || (int)span->host_of[rank] == span->here;
}

/* The number of ranks below `rank` that it starts: of such a rank, its number among them. */
static inline int pl_job_local_rank(const struct plenum_job *job, int rank)
{
    int below = job->launch.span ? 0 : rank;
    for (int r = 0; job->launch.span && r < rank; r++)
        below += pl_job_is_here(job, r);
    return below;
}

/* Do agents start all its ranks? Then this runtime has no segment of it. */
static inline bool pl_job_is_spread(const struct plenum_job *job)
{
    return job->launch.span && job->launch.span->here < 0;
}

/* Is this an agent's part of a job? Another runtime decides about it. */
static inline bool pl_job_is_part(const struct plenum_job *job)
{
    return job->launch.span && job->launch.span->here >= 0;
}

/* The job of the spawn tree that the embedder knows. */
static inline struct plenum_job *pl_job_root(struct plenum_job *job)
{
    return job->tree.root ? job->tree.root : job;
}

/* Is it a spawned job whose parents wait for its start? A failure is then reported to them alone. */
static inline bool pl_job_is_starting(const struct plenum_job *job)
{
    return job->tree.parents.job && !job->tree.parents_told;
}

/* Do the parents of a spawned job know that it will not connect to them, though it was started? What its processes do
 * concerns no others any more. */
static inline bool pl_job_has_missed(const struct plenum_job *job)
{
    return job->tree.parents_told && job->tree.parents_refused;
}

/* The value of an option of plenum_job_set() that is not set. */
long pl_job_option_default(long option);

void pl_program_fini(struct pl_program *program);

void pl_job_free(struct plenum_job *job);

/* Frees the job if the embedder has closed it, it neither waits nor runs, and no public function is inside. */
void pl_job_drop(struct plenum_job *job);

/* NULL: there is no job with this id. */
struct plenum_job *pl_job_find(struct plenum_runtime *rt, uint64_t id);

#endif
