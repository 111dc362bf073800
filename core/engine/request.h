/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations under way.
 *
 * A request has one reference for the user's handle, and one for the engine while it is active. `done` goes from 0 to 1
 * once in each activation. It is stored with release order after the outcome is written: a thread that reads 1 with
 * acquire order may read the outcome.
 */
#ifndef PLENUM_CORE_ENGINE_REQUEST_H
#define PLENUM_CORE_ENGINE_REQUEST_H

#include <string.h>

#include "core/base/compiler.h"
#include "core/base/list.h"
#include "core/base/table.h"
#include "core/engine/transport.h"
#include "core/object/object.h"
#include "mpi.h"

struct pl_comm;
struct pl_engine;
struct pl_instance;
struct pl_peer;
struct pl_schedule;

enum pl_request_kind {
    PL_REQ_SEND,
    PL_REQ_RECV,
    PL_REQ_COLL, /* a schedule: core/coll/schedule.h */
    PL_REQ_GENERALIZED,
    PL_REQ_PARTITIONED, /* a partitioned message: core/engine/partitioned.h */
    PL_REQ_PAIR,        /* a send and a receive: MPI_Isendrecv */
    PL_REQ_AGREEMENT,   /* an agreement of the members that live: core/comm/agreement.h */
    PL_REQ_RMA,         /* a one-sided operation: core/rma/rma.h */
    PL_REQ_COMPLETE,    /* complete from the start: MPI_PROC_NULL, buffered sends */
    PL_REQ_KINDS
};

/* The progress of a send or receive: it says which list holds its `link`. */
enum pl_request_state {
    PL_STATE_IDLE,       /* none; not started, or done */
    PL_STATE_UNRESOLVED, /* sends.unresolved: the receiver's address is not known yet */
    PL_STATE_QUEUED,     /* peer->pending: the transport had no room */
    PL_STATE_MOVING,     /* the transport has it: a send is in sends.moving, or in sends.awaiting if synchronous */
    PL_STATE_AWAITING,   /* sends.awaiting: sent, not yet acknowledged */
    PL_STATE_POSTED,     /* match.queues[].posted of its communicator */
};

enum pl_send_mode { PL_SEND_STANDARD, PL_SEND_SYNC, PL_SEND_READY, PL_SEND_BUFFERED };

/* The outcome, as MPI_Status has it. */
struct pl_outcome {
    int source, tag, error;
    bool cancelled;
    MPI_Count bytes;
};
#define PL_OUTCOME_OF_NOBODY                                                                                           \
    {                                                                                                                  \
        .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG                                                                    \
    } /* of a send, or of a receive from MPI_PROC_NULL */

struct pl_request;

struct pl_request_flags {
    bool persistent;
    bool active;       /* a persistent request that was started and not yet waited for */
    _Atomic bool seen; /* the program knows that it is complete: MPI_Request_get_status told it so */
    bool cancelling;
    bool caller_owned; /* in the caller's memory: no object of the arena, never freed */
    bool detached;     /* the user freed it while it was active: completion frees it */
    bool shared;       /* the one of pl_request_sent(): many handles, of which the user frees none */
    bool by_token;     /* a send that is in its engine's sends.by_token */
    bool acked;        /* a synchronous send that was acknowledged before the transport was done with it */
};

/* The operation's arguments, which persistent requests keep. Those of a receive that took its message at once are not
 * set. */
struct pl_request_args {
    const void *buf;
    MPI_Count count;
    struct pl_type *datatype; /* borrowed: pl_request.type retains it unless it is predefined */
    int peer_rank, tag;
};

/* Of the library's own requests. */
struct pl_request_callbacks {
    /* Called instead of setting `done`, once the outcome is written; may free the request. NULL: `done` is set. Engine
     * lock held. */
    void (*completed)(struct pl_request *request);
    void (*destroyed)(struct pl_request *request); /* frees `owner` with the request; NULL: nothing */
    void *owner;                                   /* context of these two */
};

/* For finding it by what it is named with: a posted receive in the index of its queue, if there is one
 * (match_index.h), a send in sends.by_token. */
struct pl_request_index {
    struct pl_table_node node;
    uint64_t place; /* of a receive, among all that were in that index */
};

struct pl_request {
    struct pl_object obj;
    _Atomic int done;
    uint8_t kind; /* enum pl_request_kind */
    uint8_t mode; /* enum pl_send_mode */
    struct pl_request_flags is;
    uint8_t context;          /* enum pl_message_kind, below PL_QUEUES */
    uint8_t state;            /* enum pl_request_state */
    struct pl_engine *engine; /* its progress completes the request; NULL: a generalized request */
    struct pl_comm *comm;     /* retained */
    struct pl_type *type;     /* retained; NULL: the datatype is predefined */
    struct pl_outcome outcome;
    struct pl_list link; /* in the list that `state` says */
    struct pl_request_callbacks on;
    /* What is above, without on.owner, is two cache lines: a receive whose message is there needs no others. */
    struct pl_request_index index;
    struct pl_request_args args;

    union {
        struct {
            struct pl_outgoing out;
            struct pl_peer *peer;
        };
        struct pl_incoming in;
        struct {
            struct pl_schedule *schedule;
            int (*restart)(struct pl_request *request); /* persistent collectives, partitioned operations */
        } coll;
        struct {
            MPI_Grequest_query_function *query;
            MPI_Grequest_free_function *free;
            MPI_Grequest_cancel_function *cancel;
            void *state;
        } grequest;
    };
};

/* Completes a request: sets the outcome's error and wakes sleepers. The lock of its engine, if it has one, is held. */
void pl_request_complete(struct pl_request *request, int error);

/* Makes a request with one handle; hidden: with one reference and no handle. Retains comm and type. NULL: out of
 * memory. */
struct pl_request *pl_request_create(enum pl_request_kind kind, struct pl_comm *comm, const struct pl_type *type,
                                     bool hidden);

/* The same for a send or receive with these arguments, not started. */
int pl_p2p_prepare(enum pl_request_kind kind, bool hidden, struct pl_comm *comm, const void *buf, MPI_Count count,
                   const struct pl_type *type, int rank, int tag, struct pl_request **request);

/* Takes a spare request of the communicator: one handle, no type; the caller sets its arguments. NULL: there is no
 * spare. Engine lock held. */
struct pl_request *pl_request_again(struct pl_comm *comm, enum pl_request_kind kind);

/* The shared, already completed request that is returned for every send that completed immediately. It lives as long
 * as the process has an instance. NULL: out of memory. */
extern _Atomic(struct pl_request *) pl_request_the_sent;
struct pl_request *pl_request_sent_make(void);
static inline struct pl_request *pl_request_sent(void)
{
    struct pl_request *sent = atomic_load_explicit(&pl_request_the_sent, memory_order_acquire);
    return pl_likely(sent != NULL) ? sent : pl_request_sent_make();
}
static inline bool pl_request_is_sent(const void *handle)
{
    return handle && handle == atomic_load_explicit(&pl_request_the_sent, memory_order_acquire);
}
void pl_request_sent_forget(void); /* the last instance has closed */

/* The user has waited for it: drops the handle, and keeps the request for the communicator's next operation of its
 * kind if it can be reused. No lock held. */
void pl_request_retire(struct pl_request *request);

/* The same for the first of several requests, which are live, and those behind it that are like it: completed sends and
 * receives without an error, of predefined datatypes and one communicator. Sets their statuses, without MPI_ERROR, and
 * their handles. Returns their number. */
int pl_request_finish_plain(int count, MPI_Request requests[], MPI_Status statuses[]);

/* The same for a completed request of the library, which has no handle. */
void pl_request_recycle(struct pl_request *request);

/* Frees the spare requests of a communicator that the user has freed or whose instance closes. No lock held. */
void pl_request_free_spares(struct pl_comm *comm);

/* MPI_Request_free: frees it now, or once it completes. No lock held. */
void pl_request_let_go(struct pl_request *request);

/* Blocks until the request is done, making progress in its engine. Returns its error class and records the detail. */
int pl_request_wait(struct pl_request *request);

/* The same for a request of the library, which it releases. */
int pl_request_finish(struct pl_request *request);

/* Records the detail of a failed request for this thread; returns its error class. */
int pl_request_report(const struct pl_request *request);

/* Is it done? Makes one round of progress if not. */
bool pl_request_test(struct pl_request *request);

/* Initializes a request whose operation has not begun. */
static inline void pl_request_begin(struct pl_request *request, enum pl_request_kind kind)
{
    atomic_store_explicit(&request->done, 0, memory_order_relaxed);
    request->kind = (uint8_t)kind;
    request->mode = PL_SEND_STANDARD;
    memset(&request->is, 0, sizeof request->is);
    request->context = PL_MSG_P2P;
    request->state = PL_STATE_IDLE;
    request->on.completed = NULL;
}

/* Sets the arguments. The type is borrowed. */
static inline void pl_request_ask(struct pl_request *request, const void *buf, MPI_Count count,
                                  const struct pl_type *type, int rank, int tag)
{
    request->args.buf = buf;
    request->args.count = count;
    request->args.datatype = (struct pl_type *)type;
    request->args.peer_rank = rank;
    request->args.tag = tag;
}

static inline bool pl_request_done(const struct pl_request *request)
{
    return atomic_load_explicit(&request->done, memory_order_acquire);
}

void pl_request_destroy(void *request);

#endif
