/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transports: they move messages from an engine to the engines of other processes.
 *
 * A message is a header and packed data. The transport chooses the protocol: short messages go eagerly, as a whole;
 * long ones by rendezvous, where the header goes ahead and the data follows once the receiver has matched it. Messages
 * over one endpoint arrive in the order in which they were sent.
 *
 * Unless a slot says otherwise, the ops are called with the engine's lock held, so that a transport needs no lock, must
 * not block, and must not call MPI or user code. A transport calls the library, its host, only through struct
 * pl_transport_host, so that it may be a shared object.
 *
 * Data from a peer is not trusted: lengths and offsets are checked before they are used.
 */
#ifndef PLENUM_CORE_ENGINE_TRANSPORT_H
#define PLENUM_CORE_ENGINE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/datatype/cursor.h"
#include "core/datatype/datatype.h"

struct pl_engine;
struct pl_peer;
struct pl_request;

enum { PL_TRANSPORT_ABI = 13 };

/* The header of every message. 40 bytes, in the machine's byte order. */
struct pl_header {
    uint64_t home;   /* communicator id: the process that chose it ... */
    uint32_t serial; /* ... and a number that is unique there */
    int32_t source;  /* sender's rank in the communicator */
    int32_t tag;
    uint8_t kind;   /* enum pl_message_kind */
    uint8_t flags;  /* enum pl_message_flag */
    uint16_t part;  /* the message type within its kind, where a kind has several */
    uint64_t size;  /* bytes of packed data */
    uint64_t token; /* names the send in replies, unique in its engine; 0: no reply is wanted */
};

enum pl_message_kind {
    PL_MSG_P2P,             /* matched with receives of the user */
    PL_MSG_COLL,            /* matched with receives of collectives, in separate queues */
    PL_MSG_PARTITIONED,     /* matched with receives of partitioned communication, in separate queues */
    PL_QUEUES,              /* the number of kinds that are matched */
    PL_MSG_ACK = PL_QUEUES, /* the receiver has matched an eager synchronous send: token */
    PL_MSG_CANCEL,          /* withdraw the unmatched message with this token */
    PL_MSG_CANCELLED,       /* the answer: it was withdrawn (tag 1) or had been matched (tag 0) */
    PL_MSG_LISTENER,        /* to the engine itself: between listeners */
    PL_MSG_RMA,             /* of a window (core/rma) */
    PL_MSG_BROKEN,          /* the communicator is broken: why (comm_break_notice.h) */
    PL_MSG_OWED,            /* will a message of a collective still come? (core/coll/owed.h) */
    PL_MSG_AGREEMENT,       /* of the members that live (core/comm/agreement.h) */
    PL_MSG_KINDS
};

enum pl_message_flag {
    PL_FLAG_SYNC = 1, /* an eager message is acknowledged when it is matched */
};

/* A message that is not matched, and has at most PL_CONTROL_BYTES, goes eagerly whatever the limit: no receive is
 * posted that would fetch it. */
enum { PL_CONTROL_BYTES = 64 };

static inline bool pl_message_is_eager(const struct pl_header *header, size_t limit)
{
    return header->size <= limit || (header->kind >= PL_QUEUES && header->size <= PL_CONTROL_BYTES);
}

/* The sender of a message: the engine at the other end of an incoming connection. The transport owns it. It stays where
 * it is while the connection lasts, and as long as `*held` is not 0; without `held` until the transport closes. */
struct pl_origin {
    uint64_t engine;  /* id of the sending engine */
    const void *card; /* its address card */
    size_t card_length;
    unsigned *held; /* by the library: messages that it keeps, which name it; NULL: they are not counted */
};

static inline void pl_origin_hold(const struct pl_origin *origin)
{
    if (origin->held)
        ++*origin->held;
}
static inline void pl_origin_release(const struct pl_origin *origin)
{
    if (origin->held)
        --*origin->held;
}

/* An outgoing connection. A transport's endpoint struct begins with this. */
struct pl_endpoint {
    const struct pl_transport_ops *ops;
    struct pl_peer *peer;
};

/* Memory that a transport shares. */
struct pl_shared {
    uint64_t place; /* by which others attach it */
    size_t bytes;
    size_t written; /* bytes at the front, beyond which all are zero when it is freed; share() says all */
    void *memory;
};

/* A copy between this process's memory and the peer's. Both lists have `bytes` in total, at most PL_CMA_BYTES. */
enum { PL_CMA_BYTES = 1 << 30 };
struct pl_cma {
    struct iovec *here, *there;
    int here_count, there_count; /* at most IOV_MAX */
    size_t bytes;
    bool write;   /* from here to there */
    size_t moved; /* out: bytes that were copied */
};

/* Memory that a transport has opened to one-sided transfers of peers, and the key by which they reach it. */
enum { PL_EXPOSED_KEY = 256 };
struct pl_exposed {
    void *handle;
    size_t key_length;
    unsigned char key[PL_EXPOSED_KEY];
};

/* A one-sided transfer between this process's memory and an exposed one. */
struct pl_move {
    void *here;
    uint64_t there; /* the address at its owner */
    size_t bytes;
    void *imported; /* the owner's key */
    bool write;     /* from here to there */
};

/* One that is under way; embedded in what it belongs to. */
struct pl_moving {
    void (*done)(struct pl_moving *transfer, int error); /* lock held; may free the transfer */
};

/* Data that waits at the sender, of a rendezvous message. A transport's struct begins with this. The transport makes it
 * and hands it to host->arrived(); fetch() or drop() consume it. */
struct pl_rndv {
    const struct pl_transport_ops *ops;
};

/* A message to send, embedded in a request. The engine fills it in; `header` and `data` stay valid until the message is
 * sent. */
struct pl_outgoing {
    struct pl_header header;
    struct pl_cursor data;
    bool rndv;             /* set by the transport: sent by rendezvous, so that completion means that it was matched */
    uint64_t transport[6]; /* the transport's state while it is pending */
};

/* A matched rendezvous message to fetch, embedded in a request. */
struct pl_incoming {
    struct pl_cursor data; /* the destination, of data.total bytes; excess bytes are dropped */
    uint64_t size;         /* what the sender has, bytes */
    uint64_t transport[6];
};

/* What the library offers to the transports that it hosts. They call it with the engine's lock held. */
struct pl_transport_host {
    uint32_t abi;

    /* A message has arrived. Either `rndv` is NULL and `data` has header->size bytes, or the data waits at the sender.
     * Header and data are valid during the call only; the header is aligned and does not change meanwhile. Returns
     * whether the engine may wait for another message from there. If not, it is too early to poll for one. */
    bool (*arrived)(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                    const void *data, struct pl_rndv *rndv);

    /* A message for which send() returned PL_PENDING is sent: the buffer may be reused. `error`: MPI error class. */
    void (*sent)(struct pl_engine *engine, struct pl_outgoing *message, int error);

    /* A message for which fetch() returned PL_PENDING is in place. */
    void (*fetched)(struct pl_engine *engine, struct pl_incoming *message, int error);

    /* The link to the peer of an endpoint or an origin is lost. Messages under way to or from it have been reported
     * with an error. Either may be NULL; an origin needs the engine's id only. `error`: an MPI error class; `why`: the
     * cause, a few words; NULL: the peer's process has died. If the peer has closed before, nothing else is affected.
     * */
    void (*failed)(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from, int error,
                   const char *why);

    /* The peer has closed in good order: messages sent to it vanish. Either may be NULL. */
    void (*closed)(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from);

    /* To be called now and then while nothing arrives: the engine checks whether the job needs another transport. */
    void (*quiet)(struct pl_engine *engine);

    uint64_t (*engine_id)(const struct pl_engine *engine);
    /* The engine's whole card, for a connection request. Borrowed. */
    const void *(*engine_card)(const struct pl_engine *engine, size_t *length);
    /* May several threads call (MPI_THREAD_MULTIPLE)? The engine's lock protects the transport in any case. */
    bool (*threaded)(const struct pl_engine *engine);
    /* Does the engine talk to other hosts? If not, nothing may listen where other hosts can reach it. */
    bool (*far)(const struct pl_engine *engine);
    /* The pid of the runtime that has started this process, in the runtime's namespace; 0: none. */
    uint32_t (*runtime)(const struct pl_engine *engine);

    size_t (*pack)(struct pl_cursor *cursor, void *packed, size_t max);
    size_t (*unpack)(struct pl_cursor *cursor, const void *packed, size_t bytes);
    void (*seek)(struct pl_cursor *cursor, size_t offset);
    size_t (*run)(struct pl_cursor *cursor, size_t max, void **address);

    int (*fail)(int class, const char *format, ...); /* pl_fail() */
    long (*config_long)(const char *name);           /* a configuration variable, by its name */
    const char *(*config_text)(const char *name);
    void (*log)(const char *subsystem, int level, const char *format, ...);
};

struct pl_transport_ops {
    uint32_t abi;     /* PL_TRANSPORT_ABI */
    const char *name; /* "shm" */

    /* Opens the transport for an engine, before its card exists. MPI error class, or PL_UNREACHABLE: it cannot work
     * here (the reason is recorded). */
    int (*open)(struct pl_engine *engine, const struct pl_transport_host *host, void **self);

    /* Releases everything: connections, memory, descriptors, threads. Messages that are pending are given up. */
    void (*close)(void *self);

    /* Writes this transport's address, at most `capacity` bytes. */
    int (*address)(void *self, void *buffer, size_t capacity, size_t *length);

    /* Makes an endpoint to the engine with this address; the connection may complete later, in progress().
     * PL_UNREACHABLE: not with this transport (the reason is recorded). */
    int (*connect)(void *self, const void *address, size_t length, struct pl_peer *peer, struct pl_endpoint **endpoint);

    /* Frees an endpoint. Its pending messages are given up without a report. */
    void (*disconnect)(struct pl_endpoint *endpoint);

    /* Sends. MPI_SUCCESS: the data is copied, and no report follows. PL_PENDING: host->sent() will be called, not
     * before this returns. PL_AGAIN: there is no room; the engine tries again and keeps the order. Else an MPI error
     * class. */
    int (*send)(struct pl_endpoint *endpoint, struct pl_outgoing *message);

    /* Fast paths, for data that is one run; NULL: there are none.
     *
     * send_now() sends a message that can be sent at once and needs no answer. False: nothing has happened; the engine
     * calls send(). Tag and size are arguments, so that the header can be constant: a header that was just assembled is
     * slow to copy.
     *
     * take_next() receives the next message from that peer if its header, up to the flags, equals `wanted` with this
     * source and tag, and it has at most `capacity` bytes; returns their number. PL_AGAIN: nothing has come within
     * `polls` polls. PL_PENDING: something else has come, or progress() is needed. With 0 polls the transport chooses:
     * PL_PENDING unless the last messages suggest that the next one is there, or about to come. */
    bool (*send_now)(struct pl_endpoint *endpoint, const struct pl_header *header, int tag, size_t size,
                     const void *data);
    ptrdiff_t (*take_next)(struct pl_endpoint *endpoint, const struct pl_header *wanted, int source, int tag, int polls,
                           void *buffer, size_t capacity);

    /* Fetches the data of a matched rendezvous message. MPI_SUCCESS: it is in place. PL_PENDING: host->fetched() will
     * be called. Consumes `rndv`. */
    int (*fetch)(void *self, struct pl_rndv *rndv, struct pl_incoming *message);

    /* Drops a rendezvous message: of a cancelled send (`cancelled`: the sender's transport reports no completion), or
     * of a communicator that is gone (the sender's send completes). Consumes `rndv`. */
    void (*drop)(void *self, struct pl_rndv *rndv, bool cancelled);

    /* Withdraws a pending send. True: it is given up, and host->sent() will not be called. */
    bool (*withdraw)(struct pl_endpoint *endpoint, struct pl_outgoing *message);

    /* Makes progress; returns the number of events. */
    int (*progress)(void *self);

    /* Memory that processes share. share() allocates it, zeroed; other processes attach() it by owner, place and size,
     * and detach() it. It may stay mapped for the next attach(). unshare() frees it, for reuse if `reuse` says that no
     * other process uses it any more. ring() wakes a peer that may sleep while it waits for data in such memory. All
     * five may be NULL together: the transport cannot share. */
    int (*share)(void *self, size_t bytes, struct pl_shared *shared);
    void (*unshare)(void *self, struct pl_shared *shared, bool reuse);
    int (*attach)(struct pl_endpoint *owner, uint64_t place, size_t bytes, void **memory);
    void (*detach)(struct pl_endpoint *owner, void *memory, size_t bytes);
    void (*ring)(struct pl_endpoint *peer);

    /* Copies from or to any memory of the peer, which takes no part. Called by any thread, WITHOUT the lock.
     * MPI_ERR_PROC_ABORTED: the peer is gone. MPI_ERR_RMA_RANGE: behind `moved` bytes there is no memory, here or
     * there. MPI_ERR_NO_MEM. PL_UNREACHABLE: the kernel does not permit it. None of these is recorded. NULL: the
     * transport cannot. */
    int (*cma)(struct pl_endpoint *peer, struct pl_cma *cma);

    /* One-sided transfers. expose() opens memory to them, and conceal() ends that. A peer import()s the key; PL_AGAIN:
     * it is not connected yet; PL_UNREACHABLE: it cannot use the key. forget() ends that.
     * move() transfers. complete() comes to its end when all earlier transfers to the owner are complete there. Both
     * return MPI_SUCCESS: it is done, and the buffer may be reused. PL_PENDING: moving->done() will be called, not
     * before this returns. PL_AGAIN: the owner is not connected. All six may be NULL together. */
    int (*expose)(void *self, void *memory, size_t bytes, struct pl_exposed *exposed);
    void (*conceal)(void *self, struct pl_exposed *exposed);
    int (*import)(struct pl_endpoint *owner, const void *key, size_t length, void **imported);
    void (*forget)(void *imported);
    int (*move)(struct pl_endpoint *owner, const struct pl_move *move, struct pl_moving *moving);
    int (*complete)(struct pl_endpoint *owner, struct pl_moving *moving);

    /* Have the receivers taken all that was sent, or are they gone? Then close() loses nothing. */
    bool (*flushed)(void *self);

    /* Sleeping. arm() announces it; false: there is something to do. sleep() is called WITHOUT the lock and returns at
     * an event, at wake(), or after `microseconds`. disarm() follows in any case. Any thread may call wake(), without
     * the lock. All four may be NULL together: the transport cannot sleep. */
    bool (*arm)(void *self);
    void (*sleep)(void *self, long microseconds);
    void (*disarm)(void *self);
    void (*wake)(void *self);

    /* The engine knows that the process of an endpoint has died: progress() reports pending messages with an error, and
     * the transport waits for nothing from it. NULL: the transport notices that itself. */
    void (*lose)(struct pl_endpoint *endpoint);
};

/* The symbol of type struct pl_transport_ops that a transport in a shared object exports. */
#define PL_TRANSPORT_SYMBOL "plenum_transport"

#endif
