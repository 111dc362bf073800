/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: making and queueing them, and describing them in words. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_EVENT_EVENT_H
#define PLENUM_WORLD_RUNTIME_EVENT_EVENT_H

#include "world/runtime/job.h"

struct pl_event {
    struct plenum_event public; /* first: the two are converted into each other */
    struct pl_list node;
};

/* Bits of plenum_event::flags that no embedder sees: what an agent tells of the events of its part. */
enum {
    PL_EVENT_FINALIZED = 1 << 16, /* EXITED, LOST: the World was finalized */
    PL_EVENT_SOME = 1 << 17,      /* ABORTED: only the ranks that are said to end are to end */
    PL_EVENT_ABORTED = 1 << 18,   /* EXITED, LOST: it ended itself in an abort */
    PL_EVENT_UNMET = 1 << 19, /* EXITED, LOST: it had not connected to its parents; ERROR: it will not, for `text` */
    PL_EVENT_CODE = 24,       /* UNSTARTED: the exit code of the job, from this bit on */
    PL_EVENT_OWN = ~0xffff,
};

/* Makes the space for the job's last event: an embedder that waits for PLENUM_EVENT_FINISHED gets it, however short
 * memory is at the end. False: out of memory. */
bool pl_event_prepare_last(struct plenum_job *job);

/* A new event of the job with space for `length` bytes of text; the caller fills in the rest and queues it. NULL: the
 * embedder is not told of this kind (for a spawned job), or memory is short: the event is lost, and the job goes on. */
struct pl_event *pl_event_new(struct plenum_job *job, enum plenum_event_kind kind, int rank, size_t length);

/* The same with what a process writes about one of its objects. The texts need not be printable. */
struct pl_event *pl_event_of_object(struct plenum_job *job, enum plenum_event_kind kind, int rank, int code,
                                    const char *object, const char *message);

/* Steals the event. NULL is ignored. */
void pl_event_queue(struct plenum_runtime *rt, struct pl_event *event);

/* The embedder has closed the job: queued events no longer refer to it. */
void pl_event_forget(struct plenum_runtime *rt, const struct plenum_job *job);

#endif
