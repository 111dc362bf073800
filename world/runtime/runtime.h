/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime and its jobs, as the files of this directory share them.
 *
 * Locking: one mutex a runtime guards the runtime, its jobs, their streams and the queue of events. Public functions
 * take it; functions declared here want it held. The PMIx server's threads never take it: what they have to say waits
 * in pmix.c until they nudge the runtime.
 *
 * Life of a job: DESCRIBED -> QUEUED (if the slots do not suffice) -> RUNNING -> ENDING (cancelled, failed, out of
 * time) -> FINISHED, or QUEUED or RUNNING -> FINISHED. It is freed when the host has closed its handle and nothing of
 * it runs.
 */
#ifndef PLENUM_WORLD_RUNTIME_RUNTIME_H
#define PLENUM_WORLD_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/plenum.h"
#include "core/base/list.h"
#include "core/job/segment.h"
#include "world/runtime/event/lines.h"
#include "world/runtime/job/blob.h"
#include "world/runtime/job/vars.h"
#include "world/runtime/keeper/link.h"
#include "world/runtime/report/symbols.h"

/* Something that the runtime polls. */
struct pl_source {
    void (*ready)(struct pl_source *source);
};

struct plenum_runtime {
    pthread_mutex_t lock;
    pthread_cond_t turned; /* something was handled: waiters look again */
    int work;              /* epoll: what the runtime itself polls (keeper, streams, timer, nudge) */
    int outer;             /* epoll: what the host polls (work, bell) */
    int event_fd;          /* eventfd in outer: set while events are queued */
    int nudge;             /* eventfd in work: another thread has something for whoever polls */
    int timer;             /* timerfd in work: the earliest deadline of all jobs */
    bool driving;          /* a thread in plenum_job_wait() polls `work` */
    struct pl_link link;
    struct pl_source link_source, nudge_source, timer_source;
    int notes[2]; /* a pipe, its read end in work: what processes tell (core/job/note.h); -1: none so far */
    struct pl_source notes_source;
    struct pl_list jobs;   /* struct plenum_job.node */
    struct pl_list alive;  /* struct plenum_job.alive: those that run or are being ended */
    struct pl_list queue;  /* struct plenum_job.waiting, the next one first */
    struct pl_list events; /* queued struct pl_event.node */
    long slots, used;      /* slots: 0: no limit; used: by the jobs that run */
    int bound;             /* how many ranks were bound so far: the next takes the next place */
    char *scratch;         /* [PL_SCRATCH], for reading streams */
};

enum { PL_SCRATCH = 65536 };

/* --- jobs -------------------------------------------------------------------------------------------------- */

struct pl_program {
    char **argv; /* NULL-terminated */
    int first, ranks;
    struct pl_vars env; /* changes for this program */
    char *wdir, *path;
};

struct pl_pset {
    char *name;
    uint32_t *ranges; /* [2 * count] */
    uint32_t count;
};

struct pl_redirect {
    int rank, stream, fd; /* rank may be PLENUM_ALL; the last that fits counts */
    char *file;           /* absolute, with %r; NULL: fd it is */
};

/* The read end of a rank's standard output or standard error. */
struct pl_output {
    struct pl_source source;
    struct plenum_job *job;
    int rank, number, fd; /* fd -1: closed, or redirected */
    struct pl_lines lines;
};

struct pl_rank {
    pid_t pid; /* 0: not started */
    bool ended;
    struct pl_output out[2];
};

enum pl_job_phase { PL_JOB_DESCRIBED, PL_JOB_QUEUED, PL_JOB_RUNNING, PL_JOB_ENDING, PL_JOB_FINISHED };

enum { PL_JOB_OPTIONS = PLENUM_JOB_MAP + 1 };

struct plenum_job {
    struct plenum_runtime *runtime;
    struct pl_list node;
    uint64_t id;
    void *user;
    bool handle; /* the host has not closed it */
    enum pl_job_phase phase;

    /* the description; constant after the launch */
    int size, program_count, pset_count, redirect_count;
    struct pl_program *programs;
    struct pl_pset *psets;
    struct pl_redirect *redirects;
    struct pl_vars env;
    bool env_clear;
    long option[PL_JOB_OPTIONS];

    /* from the launch on */
    struct pl_list waiting; /* in the queue */
    struct pl_list alive;   /* in runtime->alive */
    struct pl_blob plan;    /* until the start */
    long takes;             /* slots */
    int first_place;        /* of rank 0, when ranks are bound */
    bool cancelled, pmix;   /* pmix: with a PMIx server */
    uint32_t kept_as;       /* its number at the keeper: a new one for every attempt */
    char nspace[256];       /* as long as PMIx wants it */
    uint64_t cookie;
    const struct pl_job_segment *segment;
    size_t segment_bytes;
    struct pl_rank *ranks; /* [size] */
    int started;
    bool registered;                 /* at the PMIx server */
    bool aborted;                    /* an abort was reported */
    bool failed;                     /* `code` is decided by a failure */
    int code;                        /* the exit code so far */
    int64_t limit_at, kill_at;       /* milliseconds of CLOCK_MONOTONIC; 0: none */
    int64_t report_at, report_until; /* the same: the next look at who has answered, and the last one */
    bool report_all;                 /* at the last look all had */
    bool report_ends;                /* the job is ended when the report is there */
    struct pl_symbols symbols;       /* of the files of its processes */
    uint64_t psets_told;             /* version of the published sets in the last event */

    /* families (family.h) */
    struct plenum_job *tree_head; /* of a spawned job: the one that the host has launched; NULL: it was */
    int offset;                   /* of a spawned job: its rank 0 in events */
    int spawned_size;             /* processes that were spawned in its family so far */
    int spawns_pending;           /* jobs that are about to be launched for it */
    bool outlived;                /* nothing of it runs any more, but of its family */
    bool spawned;                 /* the parents know that it runs */
    struct pl_job_spawn *spawn;   /* where they are told; NULL: nobody is */
    size_t spawn_bytes;
};

static inline bool pl_job_alive(const struct plenum_job *job)
{
    return job->phase == PL_JOB_RUNNING || job->phase == PL_JOB_ENDING;
}

/* describe.c */
void pl_job_free(struct plenum_job *job);
/* Frees it if the host has closed it and it does not run. */
void pl_job_drop(struct plenum_job *job);
struct plenum_job *pl_job_find(struct plenum_runtime *rt, uint64_t id);

/* launch.c: the start of a launched job. After an error, which errno tells too, the job is as it was launched. */
int pl_job_start(struct plenum_job *job);

/* queue.c: who runs when. */
bool pl_queue_must_wait(const struct plenum_job *job);
void pl_queue_append(struct plenum_job *job);
/* Starts what fits. Jobs that cannot be started finish, and may be freed. */
void pl_queue_advance(struct plenum_runtime *rt);

/* follow.c: what the keeper tells, and how jobs end. */
void pl_follow_notice(struct plenum_runtime *rt, const struct pl_keeper_notice *report);
void pl_follow_keeper_lost(struct plenum_runtime *rt);
void pl_follow_deadlines(struct plenum_job *job, int64_t now);
void pl_job_end(struct plenum_job *job);
/* Nothing of it runs (any more): the last event. The job may be freed. */
void pl_job_finish(struct plenum_job *job);
/* The last process of a job has ended. If others of its family live, its end is theirs. */
void pl_job_wind_up(struct plenum_job *job);
/* It cannot be started: `number` is an errno. Ends it if it runs. */
void pl_job_unstarted(struct plenum_job *job, int rank, int number, const char *reason);
int pl_job_send_signal(struct plenum_job *job, int rank, int signal);
/* Somebody has ended the job: reports it, once, and ends the rest. `object` and `message` may be empty. */
void pl_job_abort(struct plenum_job *job, int rank, int code, const char *object, const char *message);

/* report.c: what the processes are in. Asks, and has the job ended with the report; false: nobody can answer. */
bool pl_report_before_end(struct plenum_job *job);
/* `report_at` has come. */
void pl_report_deadline(struct plenum_job *job, int64_t now);
/* What a process left that was killed by a signal. */
void pl_report_crash(struct plenum_job *job, int rank, int signo);

/* psets.c: process sets that come and go while the job runs. */
void pl_job_notes_watch(struct plenum_job *job);
/* A name that no set may have in a job: an error. Also those of sets that are there anyway. */
int pl_pset_name_refuse(const char *name);
/* Tells the host if they have changed. */
void pl_job_psets_check(struct plenum_job *job);

/* stream.c */
int pl_output_open(struct pl_output *stream, struct plenum_job *job, int rank, int number, int *write_end);
/* Reads what is there, as far as a writer cannot keep us here for ever. */
void pl_output_drain(struct pl_output *stream);
/* Gives out the rest and closes it. */
void pl_output_close(struct pl_output *stream);

/* runtime.c */
int64_t pl_runtime_now(void);
int pl_runtime_need_keeper(struct plenum_runtime *rt);
int pl_runtime_watch(struct plenum_runtime *rt, int fd, struct pl_source *source);
/* Before the descriptor is closed: a child that somebody is just forking has it, too, and keeps it in the epoll set. */
void pl_runtime_unwatch(struct plenum_runtime *rt, int fd);
/* Something has happened outside runtime_turn(): those who wait look again. */
void pl_runtime_turned(struct plenum_runtime *rt);
void pl_runtime_set_timer(struct plenum_runtime *rt);

/* --- events ------------------------------------------------------------------------------------------------ */

struct pl_event {
    struct plenum_event public; /* first: the two are converted into each other */
    struct pl_list node;
};

/* A new event of the job with room for `length` bytes of text; the caller fills in the rest and queues it. NULL: out of
 * memory; the event is lost, and the job goes on. */
struct pl_event *pl_event_new(struct plenum_job *job, enum plenum_event_kind kind, int rank, size_t length);
/* The same with what a process says about an object of its own; the texts may be anything. */
struct pl_event *pl_event_of_object(struct plenum_job *job, enum plenum_event_kind kind, int rank, int code,
                                    const char *object, const char *message);
void pl_event_queue(struct plenum_runtime *rt, struct pl_event *event);
/* The host has closed the job: its events no longer refer to it. */
void pl_event_forget(struct plenum_runtime *rt, const struct plenum_job *job);

#endif
