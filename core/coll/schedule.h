/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: a collective operation as a straight-line program for one rank.
 *
 * An algorithm appends steps; later they are executed (schedule_run.h) in the order in which they were appended:
 *   - send and recv start a message and go on at once; short receives are not posted before something waits, by when
 *     most messages have arrived and need no request;
 *   - copy and reduce move or combine data at once;
 *   - wait stops until all messages started so far (or up to a mark, or between two) are complete.
 * Steps between the start of a message and its wait overlap with it; nothing else is ordered. An algorithm must not
 * touch a buffer between a message's start and its wait. A schedule in which every rank waits only for messages that
 * another rank can start without waiting for this one does not deadlock. A send may need its receive to be posted: to
 * wait for a send, or for a mark behind it, is to wait for what the receiver does before it posts that receive.
 *
 * Appending never fails visibly: the schedule keeps the first failure (memory), and run or start returns it, so that
 * algorithms are straight lines, too. Memory from pl_schedule_temp() belongs to the schedule; small schedules need no
 * memory but the struct itself, which may be on the stack.
 */
#ifndef PLENUM_CORE_COLL_SCHEDULE_H
#define PLENUM_CORE_COLL_SCHEDULE_H

#include <stdalign.h>
#include <stdint.h>

#include "core/coll/persistent.h"
#include "core/datatype/cursor.h"
#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"

struct pl_coll;
struct pl_request;

/* Some elements in memory. */
struct pl_block {
    void *buf;
    MPI_Count count;
    const struct pl_type *type;
};

static inline struct pl_block pl_block(const void *buf, MPI_Count count, const struct pl_type *type)
{
    return (struct pl_block){ (void *)buf, count, type };
}

static inline struct pl_block pl_block_bytes(const void *buf, size_t bytes)
{
    return pl_block(buf, (MPI_Count)bytes, PL_TYPE_BYTE);
}

/* `count` elements of a block from element `first` on. */
static inline struct pl_block pl_block_slice(struct pl_block whole, MPI_Count first, MPI_Count count)
{
    return pl_block(pl_address(whole.buf, first * whole.type->extent), count, whole.type);
}

/* Bytes of data in a block. */
static inline size_t pl_block_size(struct pl_block block)
{
    return (size_t)block.count * (size_t)block.type->size;
}

enum pl_step_kind {
    PL_STEP_SEND,
    PL_STEP_RECV,
    PL_STEP_COPY,
    PL_STEP_REDUCE,
    PL_STEP_WAIT,
    PL_STEP_VERIFY,
    PL_STEP_SKIP, /* does nothing, but has a type */
};

struct pl_schedule;

struct pl_step {
    enum pl_step_kind kind;
    int peer;             /* send, recv: rank */
    struct pl_block data; /* sent, received, copied from, or reduced into */
    union {
        struct pl_request *request; /* send, recv: from its start to its wait */
        struct pl_block to;         /* copy */
        struct {
            const void *in;
            const struct pl_op *op;
        } reduce;
        struct {
            int first, end; /* the messages started by these steps */
        } wait;
        struct {
            int (*run)(struct pl_schedule *schedule, void *context);
            void *context;
        } verify;
    };
};

enum { PL_SCHEDULE_STEPS = 24, PL_SCHEDULE_SCRATCH = 512 };

struct pl_schedule {
    struct pl_comm *comm; /* borrowed; a request retains it */
    int tag;
    int broken;              /* first error in appending: it will not run */
    int error;               /* in running; any but MPI_ERR_TRUNCATE cancels what is under way, and ends it */
    int count, capacity;     /* steps */
    int next;                /* step to execute */
    int settled;             /* all messages before this step are complete and their requests released */
    int awaited;             /* step whose message it waits for; meaningful while it waits */
    int begun;               /* receives from here to `next` are deferred: not posted */
    struct pl_step *steps;   /* `few`, or from malloc */
    struct pl_chunk *chunks; /* temporary memory that did not fit into `scratch` */
    size_t scratch_used;
    bool retains; /* holds references to the types and operations of its steps */
    bool exact;   /* a message that is too short is as wrong as one that is too long */
    bool part;    /* this rank has other messages with this tag, in another schedule that comes later */
    /* The amount decides which messages there are. If one is wrong, and it or the right one has at least this many
     * bytes, some ranks wait in vain. SIZE_MAX: it does not decide. */
    size_t cut_from;
    size_t wrong; /* the larger one of the two */
    bool stands;  /* it is comm->coll.owed.stands: the thread that runs it must clear that before it goes on */

    /* of a request */
    int kind; /* enum pl_coll_kind */
    int root;

    /* while it is started */
    struct pl_request *request;  /* completed at the end; owns the schedule */
    bool busy;                   /* a thread executes it, or is about to: engine's lock */
    struct pl_hook hook;         /* in engine->hooks; without a callback while it waits for a message */
    struct pl_deferred deferred; /* in engine->deferred.work */

    struct pl_persistent persistent; /* of a persistent collective only */

    struct pl_step few[PL_SCHEDULE_STEPS];
    alignas(16) unsigned char scratch[PL_SCHEDULE_SCRATCH];
};

/* An empty schedule for a collective of the communicator, whose messages have this tag: the same on all its ranks. */
void pl_schedule_init(struct pl_schedule *schedule, struct pl_comm *comm, int tag);

/* Empties it and frees its memory. It must not be under way. */
void pl_schedule_fini(struct pl_schedule *schedule);

/* For the engine (core/engine/client.h): empties the schedule of a request that is kept. */
void pl_schedule_recycle(struct pl_request *request);

/* Messages, to and from ranks (of the remote group of an intercommunicator). */
void pl_schedule_send(struct pl_schedule *schedule, struct pl_block data, int dest);
void pl_schedule_recv(struct pl_schedule *schedule, struct pl_block data, int source);

/* Copies; the types may differ when they have the same signature. Not overlapping. */
void pl_schedule_copy(struct pl_schedule *schedule, struct pl_block from, struct pl_block to);

/* inout = in op inout, for as many elements as `inout` has. */
void pl_schedule_reduce(struct pl_schedule *schedule, const struct pl_op *op, const void *in, struct pl_block inout);

/* The position after the last step. */
static inline int pl_schedule_mark(const struct pl_schedule *schedule)
{
    return schedule->count;
}

/* Wait for the messages started before the mark, or before this step, or between two marks. */
void pl_schedule_wait_until(struct pl_schedule *schedule, int mark);
void pl_schedule_wait(struct pl_schedule *schedule);
void pl_schedule_wait_for(struct pl_schedule *schedule, int first, int end);

/* Calls a function of the library, whose error ends the schedule, except that after MPI_ERR_TRUNCATE it goes on if
 * `wrong`, which the function sets, is below `cut_from`. PL_PENDING: the function is called again when the nodes of the
 * communicator are known (pl_comm_coll.hierarchy.search). */
void pl_schedule_verify(struct pl_schedule *schedule, int (*run)(struct pl_schedule *schedule, void *context),
                        void *context);

/*
 * For such a function: a later step is this message, or PL_STEP_SKIP. What a message has depends on what has arrived
 * before. It keeps the type with which it was appended, which is retained. Until then it is the message that it was, so
 * that a rank that asks for it (owed.h) is not told that there will be none.
 */
void pl_schedule_change(struct pl_schedule *schedule, int step, enum pl_step_kind kind, void *buf, MPI_Count count);

/* An earlier receive, for which nothing waits yet, will get no message. */
void pl_schedule_drop(struct pl_schedule *schedule, int step);

/* A step that does nothing: its type is retained with those of the others. */
void pl_schedule_hold(struct pl_schedule *schedule, const struct pl_type *type);

/* Calls a function, too, but once: it appends the steps of the collective. Its types and its operation, NULL where it
 * has none, are retained with those of the schedule. */
void pl_schedule_later(struct pl_schedule *schedule, int (*run)(struct pl_schedule *schedule, void *context),
                       void *context, const struct pl_coll *coll);

/* For that function, after it has appended them; `mark` is where they begin. */
int pl_schedule_came(struct pl_schedule *schedule, int mark);

/* For a function that is the last step, after it has appended steps: the next start finds them there. */
int pl_schedule_grown(struct pl_schedule *schedule, int mark);

/* Memory that lives as long as the schedule, aligned for any element. NULL: the schedule is broken. Further steps may
 * be appended and will not run; only the memory must not be written. */
void *pl_schedule_temp(struct pl_schedule *schedule, size_t bytes);

/* The same as a block of `count` elements, wherever the type's bytes lie relative to its address. */
struct pl_block pl_schedule_temp_block(struct pl_schedule *schedule, MPI_Count count, const struct pl_type *type);

/* Retains what the steps use, for a schedule that outlives the call that made it. Released by fini. */
void pl_schedule_retain(struct pl_schedule *schedule);

#endif
