/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of an instance: its lock, transports, peers, communicators by id, and progress.
 *
 * Locking: everything in here is protected by `lock`, but for `sleepers`, `activity`, `crowd`, `parted`. Lock order:
 * core/base/lock.h.
 */
#ifndef PLENUM_CORE_ENGINE_ENGINE_H
#define PLENUM_CORE_ENGINE_ENGINE_H

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/engine/client.h"
#include "core/engine/transport.h"
#include "core/job/segment.h"

struct pl_comm;
struct pl_instance;
struct pl_request;

enum {
    PL_TRANSPORTS_MAX = 4,
    PL_LISTENER_MAX = 1 << 28, /* bytes of the longest message between front doors that is believed */
    PL_AHEAD_MOST = 128, /* messages of collectives to one peer before it has asked for them, as many as on a board */
};

/* Another engine. Made when a communicator first sends to it or when it is first answered. */
struct pl_peer {
    uint64_t engine; /* its id */
    uint64_t proc;   /* whose it is, for messages; UINT64_MAX: not known */
    struct pl_endpoint *endpoint;
    struct pl_list pending;               /* of pl_request.link: sends that found no room, in order */
    struct pl_list link;                  /* in engine->busy while `pending` is not empty */
    int error;                            /* MPI error class once it has failed, for good */
    bool closed;                          /* it has closed its engine, as everybody may: what is sent to it vanishes */
    uint32_t settings[PL_ENGINE_CLIENTS]; /* what it has configured (client.h) */
    unsigned ahead;       /* messages of collectives since the last one that was awaited to be matched */
    struct pl_peer *next; /* in its bucket */
};

/* Something that progress calls: an active schedule, a rendezvous, a lookup. Lock held. */
struct pl_hook {
    int (*run)(struct pl_hook *hook); /* returns the number of events */
    struct pl_list link;
};

/* Something to do once the lock is dropped, by the thread that drops it: local steps of a collective, which may call
 * the user's operations. Appended to engine->chores under the lock; taken out before it runs. */
struct pl_deferred {
    void (*run)(struct pl_deferred *deferred);
    struct pl_list link;
};

/* A resource of a higher room that must go before the engine's transports close. Lock held. */
struct pl_closer {
    struct pl_list link;                     /* in engine->closers */
    void (*close)(struct pl_closer *closer); /* called when it is out of the list */
};

struct pl_engine_peers {
    struct pl_peer **table; /* hash by engine id */
    size_t buckets, count;
};

struct pl_engine_comms {
    struct pl_comm **table; /* hash by id */
    size_t buckets, count;
    struct pl_comm *last; /* the one found last */
};

/* Sends under way: lists of pl_request.link unless said. */
struct pl_engine_sends {
    uint64_t tokens;           /* given to messages so far: each names one send for ever */
    struct pl_list busy;       /* of pl_peer.link: peers with sends that found no room */
    struct pl_list awaiting;   /* synchronous or cancelled sends that expect an answer */
    struct pl_list moving;     /* other sends that a transport is not done with */
    struct pl_list unresolved; /* sends whose receiver has no card yet, in order */
};

/* What is left for when the lock is dropped. */
struct pl_engine_deferred {
    struct pl_list frees; /* of pl_request.link: detached requests to free */
    struct pl_list work;  /* of pl_deferred.link: run once */
};

/* What arrived for communicators that this process has not finished making. */
struct pl_engine_early {
    struct pl_list messages;  /* of pl_unexpected.link */
    struct pl_header starved; /* the envelope of one that found no memory; serial 0: none */
    bool all_starved;         /* several did: all communicators that are made from now on are broken */
};

/* Waiting and waking (wait.c). All atomics are used without the lock. */
struct pl_engine_wait {
    _Atomic int sleepers;      /* threads that sleep in wait.c: a completion for one of them wakes the engine */
    _Atomic unsigned activity; /* counts wake-ups: the futex word of sleepers beside the one in the transports */
    bool asleep;               /* a thread sleeps in the transports */
    bool oversubscribed;       /* more runnable ranks than cores: yield early */
    _Atomic int contention;    /* above 0: a peer, below 0: unrelated processes ran when a waiting thread yielded */
    _Atomic long moved_apart;  /* when a thread slept so as to be woken on another core: CLOCK_MONOTONIC, ns */
};

struct pl_engine {
    struct pl_lock lock;
    uint64_t id;
    struct pl_instance *instance; /* NULL: the listener */
    _Atomic int transports;       /* those open: counted up when one is ready, since wake() takes no lock */
    struct {
        const struct pl_transport_ops *ops;
        void *self;
    } transport[PL_TRANSPORTS_MAX]; /* in order of preference */
    unsigned char card[PL_CARD_MAX];
    size_t card_length;

    struct pl_engine_peers peers;
    struct pl_engine_comms comms;
    struct pl_engine_sends sends;
    struct pl_engine_deferred deferred;
    struct pl_engine_early early;
    struct pl_list hooks;      /* of pl_hook.link */
    struct pl_list slow_hooks; /* of pl_hook.link: what may wait some microseconds, behind short receives */
    struct pl_list closers;    /* of pl_closer.link */
    /* Handles messages to the engine itself (PL_MSG_LISTENER), all of whose data is there; NULL: they are dropped. Set
     * by the engine's owner. */
    void (*arrived)(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                    const void *data);

    struct pl_list siblings; /* in the process's list of engines */
    _Atomic unsigned rounds; /* rounds of progress */
    unsigned rounds_seen;    /* `rounds` when another engine's thread last compared; with `siblings` */
    pthread_t thread;        /* the one that opened it: below MPI_THREAD_SERIALIZED the only one that may enter */
    struct pl_engine_wait wait;
    struct pl_failure *failure;     /* watches for failed peers (peer_failure.h); NULL: nothing does */
    unsigned long dropped_messages; /* out of memory, or of an unknown kind */
    bool closing;                   /* no communicator will be made any more */
    bool closed;                    /* nothing is left but the lock */
};

/* Opens the transports that PLENUM_TRANSPORT and the job ask for. Above MPI_THREAD_FUNNELED the lock is real. */
int pl_engine_open(struct pl_engine *engine, struct pl_instance *instance, int thread_level);

/* One that had no way out, being alone in its job, gets those that it would have in a larger one, and a card that says
 * so: before it is to meet processes of other jobs. Lock not held. */
int pl_engine_widen(struct pl_engine *engine);

/* The same with the transport between nodes, for one whose job is on a single node: before it is to meet processes of
 * other nodes. Fails where PLENUM_TRANSPORT leaves that out, or it does not work here. */
#define PL_NETWORK "ucx"
int pl_engine_add_network(struct pl_engine *engine);

/* Lock held. */
bool pl_engine_is_networked(const struct pl_engine *engine);

/* The card as it is now: another one when a transport is added. Returns its length. Lock not held. */
size_t pl_engine_card(struct pl_engine *engine, unsigned char card[PL_CARD_MAX]);

/* Takes and drops the lock; leaving also frees what could not be freed under it, and does the chores. */
static inline void pl_engine_enter(struct pl_engine *engine)
{
    pl_lock_take(&engine->lock);
}
void pl_engine_leave_busy(struct pl_engine *engine);

static inline void pl_engine_leave(struct pl_engine *engine)
{
    if (__builtin_expect(pl_list_empty(&engine->deferred.frees) && pl_list_empty(&engine->deferred.work), 1))
        pl_lock_drop(&engine->lock);
    else
        pl_engine_leave_busy(engine);
}

/* Does chores that were taken out of their engine's list. No lock held. */
void pl_engine_do(struct pl_list *deferred);

/* One round of progress in the process's other engines that nobody has moved since the last time: a thread that waits
 * in one instance must not stop the others' messages, and must not come between them and a thread that is at work. Lock
 * not held. */
int pl_engine_nudge_others(struct pl_engine *engine);
int pl_engine_nudge_all(void); /* the same in all engines */

/* Waits until all that was sent has been taken or its receivers are gone, then gives everything back but the lock,
 * which the owner gives back when nobody can come any more. */
void pl_engine_close(struct pl_engine *engine);

/* One round: transports, pending sends, hooks. Lock held. Returns the number of events. */
int pl_engine_progress(struct pl_engine *engine);

/* Makes progress until the request is done; spins, yields, then sleeps. Lock not held; releases it between rounds.
 * `engine` NULL: in all engines. */
struct pl_waiting;
void pl_engine_wait(struct pl_engine *engine, struct pl_request *request);
/* The same for one of several requests, which reports name. */
void pl_engine_wait_among(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *all);

/* A wait under way. */
struct pl_wait {
    unsigned rounds;               /* without success; whoever has some begins again at 0 */
    bool yielded;                  /* just now, to somebody who computes */
    long spinning;                 /* nanoseconds of CLOCK_MONOTONIC, some rounds after it began to spin */
    long since;                    /* nanoseconds of CLOCK_MONOTONIC when it began to yield; 0: not yet */
    const struct pl_waiting *what; /* what it is for, in reports (core/engine/wait_record.h); NULL: not said */
};

/* For waiting on anything: call between unsuccessful rounds with the same record, from 0; it spins, yields, sleeps.
 * `engine` NULL: for something that no engine brings. */
void pl_engine_idle(struct pl_engine *engine, struct pl_wait *wait);

/* Lets others run who share this core. False: for so long that it was somebody who computes; then it is better to
 * sleep, and be woken. */
bool pl_engine_yield(struct pl_engine *engine);

/* Is there somebody who may need the processor? Then there is little sense in spinning. */
static inline bool pl_engine_should_yield(const struct pl_engine *engine)
{
    return engine->wait.oversubscribed || atomic_load_explicit(&engine->wait.contention, memory_order_relaxed) > 0;
}

/* After a test or probe in vain. A program that polls in a loop waits too: now and then it lets others run. */
void pl_engine_polled(struct pl_engine *engine);

/* A counter that others advance, and how far it must have come (as a difference: it may wrap around). */
struct pl_awaited {
    const _Atomic uint32_t *word;
    uint32_t value;
};
static inline bool pl_awaited_is_there(const struct pl_awaited *awaited)
{
    return (int32_t)(atomic_load_explicit(awaited->word, memory_order_acquire) - awaited->value) >= 0;
}

/* The same for what comes by shared memory: nobody falls asleep when it is there. */
void pl_engine_idle_for(struct pl_engine *engine, const struct pl_awaited *awaited, struct pl_wait *wait);

/* Wakes the threads that sleep in this engine. Any thread, any locks. */
void pl_engine_wake(struct pl_engine *engine);

/* The peer with this card; makes and connects it when it is new. Lock held. `proc` is for messages. */
int pl_engine_peer(struct pl_engine *engine, const void *card, size_t length, uint64_t proc, struct pl_peer **peer);

/* Has this card the address of a transport of that name? */
bool pl_engine_card_has(const void *card, size_t length, const char *transport);

/* Lets go of a peer to which nothing more is to be said: what was sent to it and not taken may get lost. No
 * communicator may hold it. Lock held. */
void pl_engine_forget(struct pl_engine *engine, struct pl_peer *peer);

/* Sends a control message (no data, or `bytes` of it, copied). Lock held. */
int pl_engine_control(struct pl_engine *engine, struct pl_peer *peer, const struct pl_header *header, const void *data,
                      size_t bytes);

/* Starts a send; the request is completed by the engine. Lock held. */
int pl_engine_send(struct pl_engine *engine, struct pl_peer *peer, struct pl_request *request);

/* Starts a send to a rank of a communicator, which may not be known yet. Lock held. */
int pl_engine_send_to(struct pl_comm *comm, int rank, struct pl_request *request);

/* The peer of a rank of a communicator; PL_AGAIN: its address is not known yet. Lock held. */
int pl_engine_resolve(struct pl_comm *comm, int rank, struct pl_peer **peer);

/* The same, and waits until the address is known. Lock not held. */
int pl_engine_find(struct pl_comm *comm, int rank, struct pl_peer **peer);

/* Communicators by id. Lock held. Registering delivers what has arrived early. */
void pl_engine_add_comm(struct pl_engine *engine, struct pl_comm *comm);
void pl_engine_remove_comm(struct pl_engine *engine, struct pl_comm *comm);

/* Everything that waits for this peer's answer, or waits to be sent to it, ends with an error. Lock held. */
void pl_engine_peer_failed(struct pl_engine *engine, struct pl_peer *peer);

extern const struct pl_host pl_engine_host;

#endif
