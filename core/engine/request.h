/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations that are under way.
 *
 * A request is made with one reference for the user's handle and one for the engine while it is active. `done` goes
 * from 0 to 1 once for each activation, stored with release order after the outcome (status fields) is written; whoever
 * reads 1 with acquire order may read the outcome.
 */
#ifndef PLENUM_CORE_ENGINE_REQUEST_H
#define PLENUM_CORE_ENGINE_REQUEST_H

#include "core/base/list.h"
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
    PL_REQ_PARTITIONED, /* a message in parts: core/engine/partitioned.h */
    PL_REQ_PAIR,        /* a send and a receive at once: MPI_Isendrecv */
    PL_REQ_COMM,        /* creation of a communicator: MPI_Comm_idup */
    PL_REQ_RMA,         /* a one-sided operation: core/rma/rma.h */
    PL_REQ_COMPLETE,    /* never does anything: PROC_NULL, buffered sends */
    PL_REQ_KINDS
};

/* Where a send or receive stands: which list holds its `link`, and who will complete it. */
enum pl_request_state {
    PL_STATE_IDLE,       /* none; not started, or done */
    PL_STATE_UNRESOLVED, /* engine->unresolved: the receiver's address is not known yet */
    PL_STATE_QUEUED,     /* peer->pending: the transport had no room */
    PL_STATE_MOVING,     /* the transport has it: a send is in engine->moving, or engine->awaiting if synchronous */
    PL_STATE_AWAITING,   /* engine->awaiting: sent, not yet acknowledged */
    PL_STATE_POSTED,     /* comm->queues[].posted */
};

enum pl_send_mode { PL_SEND_STANDARD, PL_SEND_SYNC, PL_SEND_READY, PL_SEND_BUFFERED };

/* The outcome, as MPI_Status wants it. */
struct pl_outcome {
    int source, tag, error;
    bool cancelled;
    MPI_Count bytes;
};
#define PL_OUTCOME_OF_NOBODY                                                                                           \
    {                                                                                                                  \
        .source = MPI_PROC_NULL, .tag = MPI_ANY_TAG                                                                    \
    } /* of a send, or of a receive from there */

struct pl_request;

/* What a request is, and what has become of it. */
struct pl_request_flags {
    bool persistent;
    bool active; /* a persistent one: started and not yet waited for */
    bool cancelling;
    bool caller_owned; /* embedded in a caller's memory: not an object of the arena, never freed */
    bool detached;     /* the user freed it while it was active: completion frees it */
    bool shared;       /* the one of pl_request_sent(): many handles, none of them the user's to free */
    bool acked;        /* a synchronous send whose acknowledgement came before its completion */
};

/* The arguments, kept for persistent requests. */
struct pl_request_args {
    const void *buf;
    MPI_Count count;
    struct pl_type *datatype; /* borrowed: retained by `type` unless predefined */
    int peer_rank, tag;
};

/* Of the library's own requests. */
struct pl_request_callbacks {
    /* Called with the engine's lock held in place of setting `done`, when the outcome is there; may free the request.
     * NULL: `done` is set. */
    void (*completed)(struct pl_request *request);
    void (*destroyed)(struct pl_request *request); /* frees what `owner` names, with the request; NULL: nothing */
    void *owner;                                   /* for these two */
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
    struct pl_type *type;     /* retained, NULL for predefined */
    struct pl_outcome outcome;
    struct pl_list link;  /* in the list of its state */
    struct pl_list index; /* of a posted receive: in its communicator's index, if there is one (match_index.h) */
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
    struct pl_request_callbacks on;
};

/* Completes a request: sets the outcome's error, wakes sleepers. Engine lock held (if it has an engine). */
void pl_request_complete(struct pl_request *request, int error);

/* A request of this kind with one handle (or hidden: one reference). Retains comm and type. NULL: out of memory. */
struct pl_request *pl_request_create(enum pl_request_kind kind, struct pl_comm *comm, const struct pl_type *type,
                                     bool hidden);

/* A send or receive that is described and not started: one handle, or hidden. */
int pl_p2p_prepare(enum pl_request_kind kind, bool hidden, struct pl_comm *comm, const void *buf, MPI_Count count,
                   const struct pl_type *type, int rank, int tag, struct pl_request **request);

/* One of the communicator's used ones, with a handle and no type of its own, described anew but for what is asked for.
 * NULL: it has none. Engine lock held. */
struct pl_request *pl_request_again(struct pl_comm *comm, enum pl_request_kind kind);

/* The one for all sends that were done at once, since nothing is known of them but that they are done: complete, for as
 * long as the process has an instance. NULL: out of memory. */
extern _Atomic(struct pl_request *) pl_request_the_sent;
struct pl_request *pl_request_sent_make(void);
static inline struct pl_request *pl_request_sent(void)
{
    struct pl_request *sent = atomic_load_explicit(&pl_request_the_sent, memory_order_acquire);
    return __builtin_expect(sent != NULL, 1) ? sent : pl_request_sent_make();
}
static inline bool pl_request_is_sent(const void *handle)
{
    return handle && handle == atomic_load_explicit(&pl_request_the_sent, memory_order_acquire);
}
void pl_request_sent_forget(void); /* the last instance closes */

/* The user has waited for it: takes the handle back, and keeps a send or receive for the communicator's next one. No
 * lock held. */
void pl_request_retire(struct pl_request *request);

/* The same for one of the library's own, that has no handle and is complete. */
void pl_request_recycle(struct pl_request *request);

/* Frees what retire() kept for a communicator that the user has freed or whose instance closes. No lock held. */
void pl_request_free_spares(struct pl_comm *comm);

/* The user lets go of it (MPI_Request_free): frees it now, or once it completes. No lock held. */
void pl_request_let_go(struct pl_request *request);

/* Waits until the request is done, by progress of its engine; returns its error class, with the detail recorded. */
int pl_request_wait(struct pl_request *request);

/* The same for one of the library's own, which it releases. */
int pl_request_finish(struct pl_request *request);

/* Records the detail of a failed request in this thread and returns its class. */
int pl_request_report(const struct pl_request *request);

/* True when done; makes progress once when not. */
bool pl_request_test(struct pl_request *request);

/* Nothing has been done yet. */
static inline void pl_request_begin(struct pl_request *request, enum pl_request_kind kind)
{
    atomic_store_explicit(&request->done, 0, memory_order_relaxed);
    request->kind = (uint8_t)kind;
    request->mode = PL_SEND_STANDARD;
    request->is.persistent = request->is.active = request->is.cancelling = request->is.detached = false;
    request->context = PL_MSG_P2P;
    request->state = PL_STATE_IDLE;
    request->on.completed = NULL;
}

/* What is to be done. The type is borrowed. */
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
