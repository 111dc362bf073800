/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of an instance: its lock, transports, peers, communicators by id, sends, and progress.
 *
 * An engine has several headers: life.h opens and closes it, peer.h finds other engines, comm_table.h holds its
 * communicators, wait.h blocks threads. client.h has the tables through which it calls higher rooms.
 *
 * Locking: `lock` protects everything except what is atomic. Lock order: core/base/lock.h.
 */
#ifndef PLENUM_CORE_ENGINE_ENGINE_H
#define PLENUM_CORE_ENGINE_ENGINE_H

#include "core/base/compiler.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/table.h"
#include "core/engine/client.h"
#include "core/engine/transport.h"
#include "core/job/segment.h"

struct pl_comm;
struct pl_instance;
struct pl_progress;
struct pl_request;

enum {
    PL_TRANSPORTS_MAX = 4,
    PL_LISTENER_MAX = 1 << 28, /* bytes of the longest message to an engine itself that it accepts */
    PL_AHEAD_MOST = 128,       /* collective messages to one peer before one of them must be matched */
};

/* Another engine. Created when a communicator first sends to it, or when this engine first answers it. */
struct pl_peer {
    uint64_t engine; /* its id */
    uint64_t proc;   /* its process, for messages; UINT64_MAX: not known */
    struct pl_endpoint *endpoint;
    struct pl_list pending;               /* of pl_request.link: sends that the transport had no room for, in order */
    struct pl_list link;                  /* in engine->sends.busy while `pending` is not empty */
    int error;                            /* MPI error class once it has failed; for good */
    bool closed;                          /* it has closed its engine in good order: data sent to it vanishes */
    uint32_t settings[PL_ENGINE_CLIENTS]; /* what it has configured (client.h) */
    unsigned ahead;                       /* messages of collectives since the last one that had to be matched */
    unsigned uses;                        /* communicators that have it in their tables (comm_peers.h) */
    bool stays;                           /* ... or had no memory for that */
    struct pl_list gone;                  /* in engine->peers.gone once it has closed or is lost */
    struct pl_table_node by_id;           /* in engine->peers.by_id */
};

/* Something under way that is more than a message. Its callback runs in every round of progress. One without a callback
 * waits for a message, whose completion resumes it; these come last in the list. Lock held. */
struct pl_hook {
    int (*run)(struct pl_hook *hook); /* returns the number of events; NULL: it needs no rounds */
    struct pl_list link;
};

/* Work to do once the lock is dropped, by the thread that drops it: local steps of a collective, which may call the
 * user's operations. Appended to engine->deferred.work under the lock; taken out before it runs. */
struct pl_deferred;
struct pl_deferred_ops {
    void (*run)(struct pl_deferred *deferred);
    /* May it run functions of the program? Then a progress thread leaves it to the program's threads. NULL: it may. */
    bool (*calls_user)(const struct pl_deferred *deferred);
};
struct pl_deferred {
    const struct pl_deferred_ops *ops;
    struct pl_list link;
};

/* A resource of a higher room that must go before the engine's transports close. Lock held. */
struct pl_closer {
    struct pl_list link;                     /* in engine->closers */
    void (*close)(struct pl_closer *closer); /* called when it is out of the list */
};

/* A communicator that this process has freed: what still arrives for it will not be received. */
struct pl_comm_freed {
    uint64_t home; /* pl_comm_id */
    uint32_t serial;
    int rank;    /* this process's */
    bool failed; /* it was broken, and all ranks have been told */
};

enum { PL_COMMS_FREED = 64 }; /* as many as are remembered */

struct pl_engine_peers {
    struct pl_table by_id;                     /* of pl_peer.by_id; the key is the id of the peer's engine */
    struct pl_list gone;                       /* of pl_peer.gone: forgotten once nothing uses them */
    bool (*holds)(const struct pl_peer *peer); /* does the engine's owner use it, besides communicators? NULL: no */
};

struct pl_engine_comms {
    bool go_on;            /* without failed members: the variable error_range is local (comm_failures.h) */
    struct pl_table by_id; /* of pl_comm.by_id; the key is pl_comm_key() */
    struct pl_comm *last;  /* the last one found */
    struct pl_comm_freed freed[PL_COMMS_FREED];
    unsigned next_freed;
    unsigned news; /* counts failures that were dealt with: they end requests, and take messages before */
};

/* Sends under way: lists of pl_request.link unless said. */
struct pl_engine_sends {
    uint64_t tokens;           /* given to messages so far: each names one send for ever */
    struct pl_list busy;       /* of pl_peer.link: peers with pending sends */
    struct pl_list awaiting;   /* synchronous or cancelled sends that expect an answer (p2p.h) */
    struct pl_table by_token;  /* the same: of pl_request.index.node */
    struct pl_list moving;     /* other sends that a transport is not done with */
    struct pl_list unresolved; /* sends whose receiver's address is not known yet, in order */
    void *spare;               /* the memory of a control message, for one that finds no other; NULL: none yet */
};

/* Work for the thread that drops the lock next. */
struct pl_engine_deferred {
    struct pl_list frees; /* of pl_request.link: detached requests to free */
    struct pl_list work;  /* of pl_deferred.link: run once */
};

/* Messages for communicators that this process has not finished making. */
struct pl_engine_early {
    struct pl_list messages;  /* of pl_unexpected.link */
    struct pl_header starved; /* the envelope of one that found no memory; serial 0: none */
    bool all_starved;         /* several did: every communicator that is made from now on is broken */
};

/* Where others find the engine, and from where. */
struct pl_engine_outside {
    bool far;       /* it talks to other hosts, or may: what it opens can be reached from there */
    bool netless;   /* a process of the job lacks shared memory, and this engine cannot have a network */
    bool published; /* its card is in this slot of the job */
    enum pl_card_slot slot;
};

/* Waiting and waking (wait.h). All atomics are used without the lock. */
struct pl_engine_wait {
    _Atomic int sleepers;         /* threads that sleep in wait.c: a completion for one of them wakes the engine */
    _Atomic unsigned activity;    /* counts wake-ups: the futex word of threads that do not sleep in a transport */
    bool asleep;                  /* a thread sleeps in the transports */
    bool inside;                  /* of a transport's progress() or arm(): they are not called again */
    bool oversubscribed;          /* more runnable ranks than cores: yield early */
    _Atomic int contention;       /* above 0: a peer, below 0: unrelated processes ran when a waiting thread yielded */
    uint32_t described;           /* the job report in which the engine's queues are; engine lock (wait_record.c) */
    _Atomic long moved_apart;     /* when a thread last tried to leave its core to a peer: CLOCK_MONOTONIC, ns */
    _Atomic unsigned apart_tries; /* such tries since contention began */
    _Atomic int slow_spins;       /* in succession, in which rounds of progress called the kernel (wait.c) */
    _Atomic long contended;       /* when a yield last let another process run: CLOCK_MONOTONIC, ns */
    _Atomic unsigned polls;       /* unsuccessful tests and probes */
    _Atomic long polled;          /* when a polling thread last searched for what cannot come: the same clock */
};

/* Which threads may enter. */
struct pl_engine_threads {
    pthread_t opener;             /* the only one of the program below MPI_THREAD_SERIALIZED */
    bool several;                 /* several of the program may: above MPI_THREAD_FUNNELED */
    struct pl_progress *progress; /* its progress thread (progress.h); NULL: none */
};

struct pl_engine {
    struct pl_lock lock; /* real if `threads.several`, or if it has a progress thread */
    uint64_t id;
    struct pl_instance *instance; /* NULL: the listener */
    _Atomic int transports;       /* open ones; raised when one is ready, since pl_engine_wake() takes no lock */
    struct {
        const struct pl_transport_ops *ops;
        void *self;
    } transport[PL_TRANSPORTS_MAX]; /* in order of preference */
    unsigned char card[PL_CARD_MAX];
    size_t card_length;
    struct pl_engine_outside outside;

    struct pl_engine_peers peers;
    struct pl_engine_comms comms;
    struct pl_engine_sends sends;
    struct pl_engine_deferred deferred;
    struct pl_engine_early early;
    struct pl_list hooks;      /* of pl_hook.link: those with a callback first */
    struct pl_list slow_hooks; /* of pl_hook.link: low priority; short receives may keep them waiting some
                                  microseconds */
    struct pl_list closers;    /* of pl_closer.link */
    /* Handles messages to the engine itself (PL_MSG_LISTENER), all of whose data is there; NULL: they are dropped. Set
     * by the engine's owner. Without communicators the engine also gets PL_MSG_BROKEN, from itself: a message to it was
     * lost for lack of memory; the data says why, as text. */
    void (*arrived)(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                    const void *data);

    struct pl_list siblings; /* in the process's list of engines */
    _Atomic unsigned rounds; /* rounds of progress */
    unsigned rounds_seen;    /* `rounds` when another engine's thread last compared; with `siblings` */
    struct pl_engine_threads threads;
    struct pl_engine_wait wait;
    struct pl_failure *failure;     /* watches for failed processes (peer_failure.h); NULL: none is watched */
    unsigned long dropped_messages; /* for lack of memory, or of an unknown kind */
    enum {
        PL_ENGINE_OPEN,
        PL_ENGINE_CLOSING, /* no communicator will be made any more */
        PL_ENGINE_CLOSED,  /* only the lock is left */
    } state;
};

/* Takes and drops the lock. Leaving also frees detached requests and runs deferred work. */
static inline void pl_engine_enter(struct pl_engine *engine)
{
    pl_lock_take(&engine->lock);
}
void pl_engine_leave_busy(struct pl_engine *engine);

static inline void pl_engine_leave(struct pl_engine *engine)
{
    if (pl_likely(pl_list_empty(&engine->deferred.frees) && pl_list_empty(&engine->deferred.work)))
        pl_lock_drop(&engine->lock);
    else
        pl_engine_leave_busy(engine);
}

/* Runs deferred work that was taken out of its engine's list. No lock held. */
void pl_engine_run_deferred(struct pl_list *deferred);

/* One round: transports, pending sends, hooks. Lock held. Returns the number of events. */
int pl_engine_progress(struct pl_engine *engine);

/* The transports' part of it. */
int pl_engine_progress_transports(struct pl_engine *engine);

/* The transport that shares memory with other processes, and its state; NULL: none is open. */
const struct pl_transport_ops *pl_engine_find_sharing(struct pl_engine *engine, void **self);

/* Sends a control message with `bytes` of data, which are copied. Lock held. MPI_ERR_NO_MEM. */
int pl_engine_control(struct pl_engine *engine, struct pl_peer *peer, const struct pl_header *header, const void *data,
                      size_t bytes);

/* The same without data, for a message that the peer may wait for: if it cannot be sent, the link is lost. */
void pl_engine_answer(struct pl_engine *engine, struct pl_peer *peer, const struct pl_header *header);

/* Starts a send, which the engine completes, with an error if there is one. Lock held. */
void pl_engine_send(struct pl_engine *engine, struct pl_peer *peer, struct pl_request *request);

/* The same to a rank of a communicator, whose address need not be known yet. */
void pl_engine_send_to(struct pl_comm *comm, int rank, struct pl_request *request);

/* The peer has failed: completes all sends that expect its answer or are pending for it with an error. Lock held. */
void pl_engine_peer_failed(struct pl_engine *engine, struct pl_peer *peer, int error);
/* The link of the peer at this origin is lost, known or not, for this reason. */
void pl_engine_origin_failed(struct pl_engine *engine, const struct pl_origin *from, int error, const char *why);

/* What the engine offers to transports. */
extern const struct pl_transport_host pl_engine_host;

#endif
