/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport is: it moves messages from an engine to another process's engine.
 *
 * A message is a header and packed data. The transport decides how it travels: small ones eagerly, in one piece; large
 * ones as bulk, where the header goes ahead and the data follows once the receiver has matched it and asks. Messages
 * from one engine to another over one endpoint arrive in the order in which they were sent.
 *
 * Every function of the ops is called with the engine's lock held (so a transport needs no lock of its own), must not
 * block, and must not call MPI or user code, except where its line says otherwise. A transport reaches the library
 * only through struct pl_host, so that it may live in a shared object of its own.
 *
 * Whatever comes from a peer is not to be trusted: lengths and offsets are checked before they are used.
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

enum { PL_TRANSPORT_ABI = 6 };

/* Goes in front of every message. 40 bytes, in the byte order of the machine. */
struct pl_header {
    uint64_t home;   /* communicator id: who made it ... */
    uint32_t serial; /* ... and its how many-th */
    int32_t source;  /* sender's rank in the communicator */
    int32_t tag;
    uint8_t kind;   /* enum pl_message_kind */
    uint8_t flags;  /* enum pl_message_flag */
    uint16_t part;  /* of a kind that has several: which */
    uint64_t size;  /* bytes of packed data */
    uint64_t token; /* names the send in replies, among all of its engine's; 0: no reply wanted */
};

enum pl_message_kind {
    PL_MSG_P2P,             /* matched with receives of the user */
    PL_MSG_COLL,            /* matched with receives of collectives: the same queues apart */
    PL_MSG_PARTITIONED,     /* matched with those of partitioned communication: queues of their own, too */
    PL_QUEUES,              /* so many are matched */
    PL_MSG_ACK = PL_QUEUES, /* the receiver has matched an eager synchronous send: token */
    PL_MSG_CANCEL,          /* withdraw the unmatched message with this token */
    PL_MSG_CANCELLED,       /* answer: it was withdrawn (tag 1) or had been matched (tag 0) */
    PL_MSG_LISTENER,        /* between front doors */
    PL_MSG_RMA,             /* of a window (rma.h) */
    PL_MSG_KINDS
};

enum pl_message_flag {
    PL_FLAG_SYNC = 1, /* an eager message is acknowledged when it is matched */
};

/* Who sent a message: the engine at the other end of an incoming connection. Owned by the transport, and stays where it
 * is until the transport closes. */
struct pl_origin {
    uint64_t engine;  /* id of the sending engine */
    const void *card; /* how to reach it: its address card */
    size_t card_length;
};

/* An outgoing connection. A transport's own endpoint begins with this. */
struct pl_endpoint {
    const struct pl_transport_ops *ops;
    struct pl_peer *peer;
};

/* Memory that a transport shares. */
struct pl_shared {
    uint64_t place;
    size_t bytes;
    void *memory;
};

/* Memory here and in the peer, piece by piece; both have as many bytes, at most PL_CMA_BYTES. */
enum { PL_CMA_BYTES = 1 << 30 };
struct pl_cma {
    struct iovec *here, *there;
    int here_count, there_count; /* at most IOV_MAX */
    size_t bytes;
    bool write;   /* from here to there */
    size_t moved; /* out: bytes that were copied */
};

/* Bulk data that waits at the sender. A transport's own begins with this. Made by the transport, given to the engine
 * in host->arrived(), given back in fetch() or drop(). */
struct pl_rndv {
    const struct pl_transport_ops *ops;
};

/* A message on its way out, embedded in a request. Filled in by the engine; `header` and `data` stay valid until the
 * message is sent. */
struct pl_outgoing {
    struct pl_header header;
    struct pl_cursor data;
    bool rndv;             /* set by the transport: went as bulk, so that completion means that it was matched */
    uint64_t transport[6]; /* the transport's own notes while it is pending */
};

/* A matched bulk message on its way in, embedded in a request. */
struct pl_incoming {
    struct pl_cursor data; /* where it goes: data.total is the room; more than that is thrown away */
    uint64_t size;         /* what the sender has, bytes */
    uint64_t transport[6];
};

/* What the library offers to a transport. All of it is called with the engine's lock held. */
struct pl_host {
    uint32_t abi;

    /* A message has arrived. Either `bulk` is NULL and `data` are header->size bytes; or the data is waiting behind
     * `bulk`. Header and data are valid during the call only; the header is aligned, and nobody changes it. */
    void (*arrived)(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                    const void *data, struct pl_rndv *rndv);

    /* A message for which send() said PL_PENDING is done: the buffer may be reused. `error`: MPI error class. */
    void (*sent)(struct pl_engine *engine, struct pl_outgoing *message, int error);

    /* A message for which fetch() said PL_PENDING is in place. */
    void (*fetched)(struct pl_engine *engine, struct pl_incoming *message, int error);

    /* The peer behind an endpoint or an origin is gone; what was under way to or from it has been reported with an
     * error. Either may be NULL. */
    void (*failed)(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from);

    /* The peer has closed, as everybody may: what is sent to it vanishes. Either may be NULL. */
    void (*closed)(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from);

    uint64_t (*engine_id)(const struct pl_engine *engine);
    /* The engine's whole card, for a connection request. Borrowed. */
    const void *(*engine_card)(const struct pl_engine *engine, size_t *length);
    /* May several threads call (MPI_THREAD_MULTIPLE)? The engine's lock protects the transport in any case. */
    bool (*threaded)(const struct pl_engine *engine);

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

    /* Open for an engine, before its card exists. MPI error class, or PL_UNREACHABLE: cannot work here (recorded
     * why). */
    int (*open)(struct pl_engine *engine, const struct pl_host *host, void **self);

    /* Ends everything: connections, memory, descriptors, threads. No message is pending any more, or is given up. */
    void (*close)(void *self);

    /* Writes this transport's address, at most `room` bytes. */
    int (*address)(void *self, void *buffer, size_t room, size_t *length);

    /* Makes an endpoint to the engine with this address; it may complete later, in progress(). PL_UNREACHABLE: not
     * with this transport (recorded why). */
    int (*connect)(void *self, const void *address, size_t length, struct pl_peer *peer, struct pl_endpoint **endpoint);

    /* Frees an endpoint; messages that are pending on it are given up without a report. */
    void (*disconnect)(struct pl_endpoint *endpoint);

    /* Sends. MPI_SUCCESS: the data is copied, nothing more will be said. PL_PENDING: host->sent() will be called
     * (not before this returns). PL_AGAIN: no room now; the engine tries again, keeping the order. Else: error. */
    int (*send)(struct pl_endpoint *endpoint, struct pl_outgoing *message);

    /* The short ways, for data that is one run; NULL where there is none.
     * send_now() sends what can be sent at once and needs no answer. False: nothing has happened, send() it. The
     * header's tag and size come apart, so that the rest can be kept: one that was just put together is slow to copy.
     * take_next() receives what comes next from that peer, if it is a message with this header up to its flags, but for
     * source and tag, which come apart, of at most `room` bytes, and returns how many it has. PL_AGAIN: so many looks,
     * and nothing has come. PL_PENDING: something else has, or has to be done: progress(). */
    bool (*send_now)(struct pl_endpoint *endpoint, const struct pl_header *header, int tag, size_t size,
                     const void *data);
    ptrdiff_t (*take_next)(struct pl_endpoint *endpoint, const struct pl_header *wanted, int source, int tag, int polls,
                           void *buffer, size_t room);

    /* Gets the data of a matched bulk message. MPI_SUCCESS: all there. PL_PENDING: host->fetched() will be called.
     * Consumes `bulk`. */
    int (*fetch)(void *self, struct pl_rndv *rndv, struct pl_incoming *message);

    /* Throws a bulk message away: for a send that is cancelled (`cancelled`: the sender gets no completion from the
     * transport for it) or a communicator that is gone (the sender's send completes). Consumes `bulk`. */
    void (*drop)(void *self, struct pl_rndv *rndv, bool cancelled);

    /* Withdraws a pending send: true: given up, host->sent() will not be called. */
    bool (*withdraw)(struct pl_endpoint *endpoint, struct pl_outgoing *message);

    /* Moves things on; returns the number of events. */
    int (*progress)(void *self);

    /* Memory that others map too. share(): own and zeroed, at a place by which owner and size others attach() to it;
     * unshare() with `reuse` when nobody else uses it any more. ring() wakes a peer that may sleep while what it waits
     * for has been put into such memory. All five may be NULL together: the transport has none. */
    int (*share)(void *self, size_t bytes, struct pl_shared *shared);
    void (*unshare)(void *self, struct pl_shared *shared, bool reuse);
    int (*attach)(struct pl_endpoint *owner, uint64_t place, size_t bytes, void **memory);
    void (*detach)(void *memory, size_t bytes);
    void (*ring)(struct pl_endpoint *peer);

    /* Copies from or to any memory of the peer, which does nothing for it. Called by any thread, WITHOUT the lock.
     * MPI_ERR_PROC_ABORTED: the peer is gone. MPI_ERR_RMA_RANGE: behind `moved` bytes there is no memory, here or
     * there. MPI_ERR_NO_MEM. PL_UNREACHABLE: it is not allowed. None of them is recorded. NULL: the transport
     * cannot. */
    int (*cma)(struct pl_endpoint *peer, struct pl_cma *cma);

    /* True when all that was sent has been taken by its receivers, or they are gone: nothing is lost by close(). */
    bool (*flushed)(void *self);

    /* Sleeping. arm() announces it: false means that there is something to do. sleep() is called WITHOUT the lock and
     * returns at an event, at wake(), or after `microseconds`. disarm() follows in any case. wake() may be called by
     * any thread, without the lock. All four may be NULL together: the transport cannot sleep. */
    bool (*arm)(void *self);
    void (*sleep)(void *self, long microseconds);
    void (*disarm)(void *self);
    void (*wake)(void *self);

    /* The process behind an endpoint has died, others say: what is pending is reported with an error in progress(), and
     * nothing is waited for any more. NULL: the transport sees that by itself. */
    void (*lose)(struct pl_endpoint *endpoint);
};

/* The symbol that a transport in a shared object exports: a struct pl_transport_ops. */
#define PL_TRANSPORT_SYMBOL "plenum_transport"

#endif
