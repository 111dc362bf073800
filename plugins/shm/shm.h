/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node transport: the structs that its files share. An engine has one struct pl_shm, and one struct pl_shm_peer for
 * each other engine that it has connected to or heard from.
 *
 * A peer object serves both directions. What it maps and owns is released when the peer has gone: `state` tells how far
 * that is. The object itself lives until the engine has no endpoint and no message of it any more.
 *
 * Callbacks of the engine may call back into send, fetch, drop, withdraw, connect and disconnect. These functions
 * therefore change only rings and lists. A peer ends in progress() alone: all other code marks it and puts it on the
 * list of active peers.
 *
 * Locking: the engine's lock is held in everything except pl_shm_cma_copy(), pl_shm_sleep() and pl_shm_wake().
 */
#ifndef PLENUM_PLUGINS_SHM_SHM_H
#define PLENUM_PLUGINS_SHM_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/list.h"
#include "core/engine/transport.h"
#include "plugins/shm/layout.h"
#include "plugins/shm/region.h"
#include "plugins/shm/token.h"

/* A round of progress reads a line of each polled ring, which is in the first-level cache while nothing is written: 16
 * lines are a kilobyte of it. Ranks with that many peers or fewer never pay for ready bits. */
enum {
    PL_SHM_POLLS = 16,             /* rings that are polled; writers of further rings set a ready bit */
    PL_SHM_ROUNDS = 1024,          /* idle progress rounds between checks of the peers */
    PL_SHM_MADE = 16,              /* new peers after which they are checked soon: others may have closed */
    PL_SHM_FIFO_BYTES = 512 << 10, /* capacity of a FIFO */

    /* Shared memory that stays mapped (share.h). */
    PL_SHM_KEPT_BYTES = 128 << 10, /* of a span at most: clearing it must cost less than mapping it */
    PL_SHM_KEPT_SPANS = 8,         /* of this process's region, and of each peer's */
    PL_SHM_KEPT_TOTAL = 512 << 10, /* bytes of this process's region */
};

enum pl_shm_rndv_mode { PL_SHM_RNDV_AUTO, PL_SHM_RNDV_COPY, PL_SHM_RNDV_CMA };

/* A result beside those of core/base/error.h: the peer has closed, so that what is sent to it vanishes. */
enum { PL_SHM_PEER_CLOSED = -100 };

enum pl_shm_peer_state {
    PL_SHM_PEER_OPEN,
    PL_SHM_PEER_LEAVING, /* it has closed, died, or its memory is damaged; progress() will end it */
    PL_SHM_PEER_ENDED,   /* nothing of it is mapped any more */
};

/* The writing end of a ring. */
struct pl_shm_out {
    struct pl_shm_ring *ring; /* NULL: not created yet, or the peer is leaving */
    uint32_t mask;            /* lines - 1 */
    uint32_t tail;            /* position of the next record */
    uint32_t limit;           /* lines before this position were free when last checked; one more always stays free */
    uint32_t ahead;           /* lines of the next record to prefetch while waiting for an answer (ring.h) */
    uint64_t *stale;          /* [(lines + 63) / 64], a bit per line: its first word is old data (ring.h) */
    struct pl_shm_span span;
    int slot;                /* of the peer's inbox that holds our request; -1: not posted yet */
    bool accepted;           /* the peer reads the ring */
    struct pl_list controls; /* of struct pl_shm_queued.link: records that found no space, in order */
};

/* The reading end of a ring. */
struct pl_shm_in {
    struct pl_shm_ring *ring; /* NULL: the peer has not connected to us */
    uint32_t mask;
    uint32_t position;            /* of the next record */
    uint32_t ready_bit;           /* 0: the ring is polled; else 1 + the bit that its writer sets */
    struct pl_shm_poll *poll;     /* its entry in shm->poll; NULL: not polled */
    struct pl_shm_peer *same_bit; /* next peer with the same ready bit */
    uint32_t heat;                /* rough count of recent records: the hottest rings are polled */
    unsigned idle;                /* shm->idle when pl_shm_read() last found a record */
    uint32_t streak;              /* records in a row; begins anew after an idle round or a receive in vain */
    uint32_t sent_before;         /* out.tail when the streak began */
};

/* A part of a peer's region that is mapped here for the library. */
struct pl_shm_attached {
    uint64_t place;
    size_t bytes; /* whole pages */
    void *memory;
    bool in_use; /* else it is kept for the next attach() */
};

struct pl_shm_peer {
    struct pl_endpoint endpoint; /* first: an endpoint is a peer */
    struct pl_shm *shm;
    struct pl_shm_head *head; /* mapped */
    uint32_t fence;           /* PL_SHM_FENCE when this process is not registered for membarrier, else 0 */
    enum pl_shm_peer_state state;
    int error;       /* once it is leaving: MPI_SUCCESS if it closed, else an error class */
    const char *why; /* the reason of that error; NULL: its process has died */
    bool damaged;    /* nothing that it writes is read any more */
    bool connected;  /* the engine has the endpoint */
    bool given_up;   /* it has had it, and what was sent need not arrive */
    struct pl_shm_out out;
    struct pl_shm_in in;
    struct pl_origin origin;
    unsigned held, rndvs;  /* messages that the engine keeps, and those whose data it may still fetch */
    struct pl_list active; /* in shm->active while there is work besides reading the ring */
    struct pl_list link;   /* in shm->peers or shm->ended */

    /* Rendezvous messages to the peer. */
    struct pl_list rts_sent;          /* of struct pl_shm_sending.link: waiting for CTS or FIN */
    struct pl_list filling;           /* of struct pl_shm_sending.link: CTS received, filling the FIFO in this order */
    struct pl_shm_fifo_out *out_fifo; /* NULL: none */

    /* Rendezvous messages from the peer. */
    struct pl_list cts_sent;     /* of struct pl_shm_rndv.link: waiting for DATA */
    struct pl_list draining;     /* of struct pl_shm_rndv.link: DATA received, draining the FIFO in this order */
    struct pl_list copying;      /* of struct pl_shm_rndv.link: copied by the kernel, a slice at a time */
    struct pl_shm_fifo *in_fifo; /* mapped; NULL: none */
    uint64_t in_fifo_offset;
    bool no_cma;                /* the kernel refuses */
    _Atomic int64_t seen_alive; /* ns; when pl_shm_cma_copy() last found it alive; accessed without the lock */

    struct pl_shm_address address;
    ino_t inode;
    PL_VEC(struct pl_shm_attached) attached;
};

/* A ring that progress() polls in every round. */
struct pl_shm_poll {
    const _Atomic uint32_t *sequence;
    uint32_t expected;
    struct pl_shm_peer *peer;
};

struct pl_shm {
    struct pl_engine *engine;
    const struct pl_transport_host *host;
    struct pl_shm_head *head;
    uint32_t eager; /* bytes of data in the longest eager message */
    uint32_t lines; /* of a ring */
    enum pl_shm_rndv_mode rndv;
    bool barriers;                   /* the kernel has membarrier */
    bool registered;                 /* this process is registered for it */
    uint32_t requests;               /* value of head->requests when the inbox was last read */
    uint8_t postponed[PL_SHM_INBOX]; /* how often the request in that slot was postponed */
    int polls, unpolled;             /* rings that are polled, and that are not */
    struct pl_shm_poll poll[PL_SHM_POLLS];
    struct pl_shm_peer *by_bit[PL_SHM_READY_BITS]; /* peers whose rings are not polled, chained by in.same_bit */
    uint32_t next_bit;                             /* the ready bit to assign next, modulo PL_SHM_READY_BITS */
    struct pl_list peers;                          /* of pl_shm_peer.link: those that have not ended */
    struct pl_list ended;                          /* of pl_shm_peer.link */
    struct pl_list active;                         /* of pl_shm_peer.active */
    struct pl_list fifos;                          /* of struct pl_shm_fifo_out.link, the least recently used first */
    struct pl_shm_tokens tokens;
    unsigned idle;   /* progress rounds without an event */
    int made;        /* peers since they were last checked */
    int64_t checked; /* ns; when some were last checked for deaths */
    int asked;       /* place in `peers` of the first that the next such check asks about */
    struct pl_shm_sleeps {
        uint32_t doorbell; /* its value before the last check for work */
        int64_t last;      /* ns; the last call of arm() */
        unsigned streak;   /* calls of arm() in quick succession */
    } sleeps;
    struct pl_shm_address address;
    struct pl_shm_span span; /* of the head */
    struct pl_shm_region region;
    struct pl_shm_kept {
        int count;
        size_t bytes;                               /* in total */
        struct pl_shm_span span[PL_SHM_KEPT_SPANS]; /* all zeroes; the oldest first */
    } kept;
};

extern const struct pl_transport_ops pl_transport_shm;

/* Puts the peer on the list of those that progress() serves. */
static inline void pl_shm_activate(struct pl_shm_peer *peer)
{
    if (pl_list_empty(&peer->active))
        pl_list_append(&peer->shm->active, &peer->active);
}

#endif
