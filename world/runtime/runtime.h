/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime, as the files of this directory share it. Jobs are in job.h, events in event/event.h.
 *
 * Locking: one mutex per runtime guards the runtime, its jobs, their outputs and the queue of events. Public functions
 * take it; internal functions expect the caller to hold it unless their header says otherwise. The PMIx server's
 * threads never take it: they leave their messages in pmix/upcalls.c and wake the runtime through `poll.wake`.
 */
#ifndef PLENUM_WORLD_RUNTIME_RUNTIME_H
#define PLENUM_WORLD_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/plenum.h"
#include "core/base/list.h"
#include "world/runtime/dispatch/dispatch.h"
#include "world/runtime/dispatch/resource.h"
#include "world/runtime/keeper/keeper_link.h"

struct pl_wire;

/* A descriptor that the runtime polls. `ready` may close its own source and others. */
struct pl_source {
    void (*ready)(struct pl_source *source);
};

struct pl_runtime_poll {
    int inner;   /* epoll: what the runtime polls: keeper, outputs, notes, `timer`, `wake` */
    int outer;   /* epoll: what the embedder polls: `inner` and `events` */
    int events;  /* eventfd in `outer`: set while events are queued */
    int wake;    /* eventfd in `inner`: another thread has work for the thread that polls */
    int timer;   /* timerfd in `inner`: the earliest deadline of all jobs */
    bool driven; /* a thread in plenum_job_wait() polls `inner` */
    bool taking; /* the last call took an event: the next one handles nothing, so that taking all of them ends */
    struct pl_source wake_source, timer_source;
};

struct pl_runtime_keeper {
    struct pl_link link;
    struct pl_source source;
};

/* The pipe for notes of processes (core/job/note.h); its read end is in `poll.inner`. */
struct pl_runtime_notes {
    int pipe[2]; /* -1: not open yet */
    struct pl_source source;
};

/* Outputs that are read at intervals (event/output.c). */
struct pl_runtime_rest {
    int timer; /* timerfd in `poll.inner`: it runs while there are such outputs */
    struct pl_source source;
    struct pl_list outputs; /* struct pl_output.resting */
};

/* What jobs take (job/queue.h, job/job_resources.h). */
struct pl_runtime_supply {
    struct pl_dispatch dispatch;
    struct pl_resource resource[PL_KINDS]; /* by the kinds of the dispatch; kind 0, slots, has no entry */
    int kinds;                             /* with slots */
    bool slots_given;                      /* by the embedder; otherwise those of the hosts count */
    int next_place; /* the number of the next bound rank: among places that are used alike, jobs take turns */
};

/* Beats of hosts (job/host_beat.h). */
struct pl_runtime_beat {
    int limit;  /* milliseconds; 0: there are none */
    int64_t at; /* when (pl_clock_ms()) the next is due; 0: there is none */
};

/* What ranks ask (job/answers.h). */
struct pl_runtime_answers {
    struct pl_list asked;  /* struct pl_asked.node: they wait for pl_answers_advance() */
    struct pl_list passed; /* in an agent: what it has passed on */
    struct pl_list names;  /* job/published_names.c */
    uint32_t last;         /* number of the last question that was passed on */
};

enum { PL_SCRATCH = 65536 }; /* bytes of one read of an output: the capacity of a pipe, so that one read empties it */

/* The process that may use the runtime, and the calls under way (guard.h). */
struct pl_runtime_use {
    pid_t owner;            /* the process that opened it */
    _Atomic unsigned calls; /* public functions that are inside */
    bool stopped;           /* by plenum_runtime_stop() or plenum_runtime_close(): public functions are refused */
    bool closing;           /* plenum_runtime_close() has begun */
};

struct plenum_runtime {
    pthread_mutex_t lock;
    struct pl_runtime_use use;
    pthread_cond_t changed; /* a source was handled: waiting threads check their condition again */
    struct pl_runtime_poll poll;
    struct pl_runtime_keeper keeper;
    struct pl_runtime_notes notes;
    struct pl_runtime_rest rest;
    struct pl_runtime_supply supply;
    struct pl_runtime_beat beat;
    struct pl_runtime_answers answers;
    struct pl_list jobs;   /* struct plenum_job.node */
    struct pl_list alive;  /* struct plenum_job.alive: jobs that run or are being ended */
    struct pl_list events; /* queued struct pl_event.node */
    struct pl_list hosts;  /* struct pl_host.node (hosts/host.h) */
    struct pl_wire *agent; /* this is the runtime of an agent: its connection to the one that has the hosts; or NULL */
    char *scratch;         /* [PL_SCRATCH], for reading outputs */
};

/* Starts a keeper if there is none, also after the last one has died. Returns an enum plenum_error. */
int pl_runtime_need_keeper(struct plenum_runtime *rt);

/* Polls a descriptor for reading. Returns an enum plenum_error. */
int pl_runtime_watch(struct plenum_runtime *rt, int fd, struct pl_source *source);

/* The same; false for a descriptor that cannot be polled, such as that of a file. */
bool pl_runtime_try_watch(struct plenum_runtime *rt, int fd, struct pl_source *source);

/* Must be called before the descriptor is closed: a child that another thread has just forked holds a copy, which would
 * keep the descriptor in the epoll set. */
void pl_runtime_unwatch(struct plenum_runtime *rt, int fd);

/* Wakes the threads in plenum_job_wait() after a change outside runtime_progress(). */
void pl_runtime_wake_waiters(struct plenum_runtime *rt);

/* Continues the keeper, in case that it is stopped. */
void pl_runtime_rouse_keeper(struct plenum_runtime *rt);

/* Polls it for writing, too, or no more. */
void pl_runtime_watch_writing(struct plenum_runtime *rt, int fd, struct pl_source *source, bool writing);

/* Sets the timer to the earliest deadline of all jobs, or to the next beat. */
void pl_runtime_set_timer(struct plenum_runtime *rt);

#endif
