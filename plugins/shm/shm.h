/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node transport, inside: one struct pl_shm an engine, one struct pl_shm_peer for each other engine it has met.
 *
 * A peer object serves both directions and lives until the transport closes (the engine keeps pointers to its origin).
 * What it maps and owns goes earlier, when the peer has gone: `stand` says how far it is.
 *
 * Callbacks of the host may call back into send, fetch, drop, withdraw, connect and disconnect. So these change what
 * they must (rings, lists) and leave everything that ends a peer to progress(): they only mark it and put it on the
 * list of the active ones.
 *
 * Locking: the engine's lock is held in everything but pl_shm_sleep() and pl_shm_wake().
 */
#ifndef PLENUM_PLUGINS_SHM_SHM_H
#define PLENUM_PLUGINS_SHM_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/engine/transport.h"
#include "plugins/shm/layout.h"

#define pl_shm_likely(x)   __builtin_expect(!!(x), 1)
#define pl_shm_unlikely(x) __builtin_expect(!!(x), 0)

enum {
    PL_SHM_POLLS = 16,             /* rings that are polled; those beyond ring a bell */
    PL_SHM_FIFO_BYTES = 512 << 10, /* of a lane */
};

enum pl_shm_rndv_mode { PL_SHM_RNDV_AUTO, PL_SHM_RNDV_COPY, PL_SHM_RNDV_CMA };

/* --- own memory (segment.c) ------------------------------------------------------------------------------------ */

struct pl_shm_span {
    uint64_t offset;
    size_t bytes;
    void *memory; /* mapped here; NULL: none */
};

struct pl_shm_region {
    int fd;
    uint64_t size, used;
    struct pl_shm_span *vacant; /* [vacancies], not mapped, all zeroes */
    size_t vacancies, vacancies_room;
};

int pl_shm_region_open(struct pl_shm_region *region, const struct pl_host *host);
void pl_shm_region_close(struct pl_shm_region *region);

/* Zeroed memory of the segment. */
int pl_shm_span_create(struct pl_shm_region *region, const struct pl_host *host, size_t bytes,
                       struct pl_shm_span *span);
/* Gives it back. `reuse`: no other process uses it any more; else what is in it stays for them to read. */
void pl_shm_span_release(struct pl_shm_region *region, struct pl_shm_span *span, bool reuse);

/* Maps a part of another engine's segment, after proof that it is one and of this user, that it is long enough and can
 * never get shorter. `inode`: 0, or what must be found there; gets what was found. PL_UNREACHABLE: no (recorded). */
int pl_shm_map(const struct pl_host *host, const struct pl_shm_address *from, uint64_t offset, size_t bytes,
               ino_t *inode, void **memory);
void pl_shm_unmap(void *memory, size_t bytes);

/* Is the process still there, with that descriptor still open on that memory? */
bool pl_shm_alive(const struct pl_shm_address *address, ino_t inode);

/* --- tokens (token.c) ------------------------------------------------------------------------------------------ */

/* What a token of ours may stand for. Peers send tokens back: they are looked up, never followed. */
enum pl_shm_token_kind { PL_SHM_TOKEN_NONE, PL_SHM_TOKEN_SENDING, PL_SHM_TOKEN_FETCHING };

struct pl_shm_peer;

struct pl_shm_tokens {
    struct pl_shm_token {
        void *item;
        const struct pl_shm_peer *peer;
        uint32_t serial;
        uint32_t next; /* in the list of free ones */
        enum pl_shm_token_kind kind;
    } * entry;
    uint32_t count, room, free;
};

/* 0: out of memory. */
uint64_t pl_shm_token_create(struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                             void *item);
/* What it stands for with that peer; NULL: nothing (any more). */
void *pl_shm_token_find(const struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                        uint64_t token);
void pl_shm_token_release(struct pl_shm_tokens *tokens, uint64_t token);
void pl_shm_tokens_fini(struct pl_shm_tokens *tokens);

/* --- peers ----------------------------------------------------------------------------------------------------- */

/* A result beside those of core/base/error.h: the peer has closed, what is sent to it vanishes. */
enum { PL_SHM_VANISHED = -100 };

enum pl_shm_life {
    PL_SHM_OPEN,
    PL_SHM_LEAVING, /* known to have closed, died or to be damaged; progress() will end it */
    PL_SHM_ENDED,   /* nothing is mapped any more */
};

/* The writing end of a ring. */
struct pl_shm_out {
    struct pl_shm_ring *ring; /* NULL: not made yet */
    uint32_t mask;            /* lines - 1 */
    uint32_t tail;            /* position of the next record */
    uint32_t limit;           /* lines before this position are free, as far as is known; one more is always kept */
    uint32_t ahead;           /* lines to get hold of for the next record while waiting for an answer (ring.h) */
    uint64_t *stale;          /* a bit a line: its first word is data of old, and might look like a sequence number */
    struct pl_shm_span span;
    int slot;                /* of the peer's inbox that our request lies in; -1: not yet posted */
    bool taken;              /* the reader has it */
    struct pl_list controls; /* of struct pl_shm_queued.link: answers that found no room, in order */
};

/* The reading end of a ring. */
struct pl_shm_in {
    struct pl_shm_ring *ring; /* NULL: the peer has not called yet */
    uint32_t mask;
    uint32_t position;
    uint32_t bit;                 /* 0: polled; else 1 + the bit that is rung */
    struct pl_shm_poll *poll;     /* where it is polled; NULL: it is not */
    struct pl_shm_peer *bit_next; /* with the same bit */
    uint32_t heat;                /* rough count of recent records, to choose whom to poll */
};

struct pl_shm_peer {
    struct pl_endpoint endpoint; /* first: an endpoint is a peer */
    struct pl_shm *shm;
    struct pl_shm_head *head; /* mapped */
    uint32_t fence;           /* PL_SHM_FENCE when this process is not registered for membarrier, else 0 */
    enum pl_shm_life life;
    int error;      /* why it ended: MPI_SUCCESS: it closed; else an error class */
    bool damaged;   /* nothing that it writes is read any more */
    bool connected; /* the engine has the endpoint */
    struct pl_shm_out out;
    struct pl_shm_in in;
    struct pl_origin origin;
    struct pl_list active; /* in shm->active while there is work besides reading the ring */
    struct pl_list link;   /* in shm->peers or shm->ended */

    /* bulk on its way out */
    struct pl_list rts_sent;      /* of struct pl_shm_sending.link */
    struct pl_list filling;       /* of struct pl_shm_sending.link: granted, first come first served */
    struct pl_shm_fifo_out *fifo; /* NULL: none */

    /* bulk on its way in */
    struct pl_list cts_sent;     /* of struct pl_shm_rndv.link: waiting for its stream */
    struct pl_list draining;     /* of struct pl_shm_rndv.link: streams that have begun, in order */
    struct pl_list copying;      /* of struct pl_shm_rndv.link: by the kernel's copy, a slice at a time */
    struct pl_shm_fifo *in_fifo; /* mapped; NULL: none */
    uint64_t in_fifo_offset;
    bool no_cma;           /* the kernel refuses */
    _Atomic uint64_t seen; /* when it was last found alive before it was reached, ns; without the lock */

    struct pl_shm_address address;
    ino_t inode;
};

/* A ring that progress() looks at in every round. */
struct pl_shm_poll {
    const _Atomic uint32_t *sequence;
    uint32_t expected;
    struct pl_shm_peer *peer;
};

struct pl_shm {
    struct pl_engine *engine;
    const struct pl_host *host;
    struct pl_shm_head *head;
    uint32_t eager; /* bytes of data in the longest message that goes in one piece */
    uint32_t lines; /* of a ring */
    enum pl_shm_rndv_mode rndv;
    bool barriers;       /* the kernel has membarrier */
    bool registered;     /* this process takes part in it */
    uint32_t requests;   /* what head->requests was when the inbox was read last */
    int polls, unpolled; /* rings that are polled, and that are not */
    struct pl_shm_poll poll[PL_SHM_POLLS];
    struct pl_shm_peer *bit[PL_SHM_RING_BITS];
    uint32_t next_bit;     /* which bit is given out next */
    struct pl_list peers;  /* of pl_shm_peer.link: those that have not ended */
    struct pl_list ended;  /* of pl_shm_peer.link */
    struct pl_list active; /* of pl_shm_peer.active */
    struct pl_list fifos;  /* of struct pl_shm_fifo_out.link */
    struct pl_shm_tokens tokens;
    unsigned idle;   /* rounds without an event */
    uint64_t looked; /* when the peers were looked after last, ns */
    struct pl_shm_sleeps {
        uint32_t doorbell; /* what it was before the last look around */
        uint64_t last;     /* when arm() was called last, ns */
        unsigned often;    /* how many times in quick succession */
    } sleeps;
    struct pl_shm_address address;
    struct pl_shm_span span; /* of the head */
    struct pl_shm_region region;
};

extern const struct pl_transport_ops pl_transport_shm;

static inline void pl_shm_activate(struct pl_shm_peer *peer)
{
    if (pl_list_empty(&peer->active))
        pl_list_append(&peer->shm->active, &peer->active);
}

uint64_t pl_shm_now(void); /* ns */

/* peer.c */
int pl_shm_peer_get(struct pl_shm *shm, const struct pl_shm_address *address, struct pl_shm_peer **peer);
int pl_shm_peer_open_out(struct pl_shm_peer *peer);
/* Marks a peer as leaving; `error`: MPI_SUCCESS when it has closed. The reason is recorded by the caller. */
void pl_shm_peer_leave(struct pl_shm_peer *peer, int error);
/* The same for one that broke the rules. */
void pl_shm_peer_damaged(struct pl_shm_peer *peer, const char *what);
/* Ends one that is leaving: takes what it left, reports the rest, gives memory back. */
int pl_shm_peer_end(struct pl_shm_peer *peer);
void pl_shm_peer_free(struct pl_shm_peer *peer);
/* Notices peers that have closed, and now and then those that have died. */
void pl_shm_peers_watch(struct pl_shm *shm);

/* inbox.c: connection requests, ours at the peer and theirs at us */
bool pl_shm_request_post(struct pl_shm_peer *peer);
int pl_shm_request_follow(struct pl_shm_peer *peer);
int pl_shm_requests_take(struct pl_shm *shm);
void pl_shm_inbox_clean(struct pl_shm *shm);

/* cma.c */
int pl_shm_cma_copy(struct pl_endpoint *endpoint, struct pl_cma *cma);

/* read.c */
int pl_shm_read(struct pl_shm_peer *peer);
ptrdiff_t pl_shm_take_next(struct pl_endpoint *endpoint, const struct pl_header *wanted, int source, int tag, int polls,
                           void *buffer, size_t room);
int pl_shm_read_polled(struct pl_shm *shm);
int pl_shm_read_rung(struct pl_shm *shm);
void pl_shm_in_add(struct pl_shm_peer *peer);
void pl_shm_in_remove(struct pl_shm_peer *peer);
bool pl_shm_in_ready(const struct pl_shm_peer *peer);

/* rndv.c: the protocol for long messages */
int pl_shm_rndv_send(struct pl_shm_peer *peer, struct pl_outgoing *message);
void pl_shm_rndv_arrived(struct pl_shm_peer *peer, const struct pl_header *header, const struct pl_shm_rts *offer);
/* False: the record is not allowed. */
bool pl_shm_rndv_control(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control);
int pl_shm_rndv_fetch(void *self, struct pl_rndv *rndv, struct pl_incoming *message);
void pl_shm_rndv_drop(void *self, struct pl_rndv *rndv, bool cancelled);
bool pl_shm_rndv_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message);
/* Moves the data of this peer's messages a bit; returns the number of events. */
int pl_shm_rndv_progress(struct pl_shm_peer *peer);
bool pl_shm_rndv_active(const struct pl_shm_peer *peer); /* must progress be called? */
bool pl_shm_rndv_ready(const struct pl_shm_peer *peer);  /* would it do something now? */
/* Gives up what is on its way out, without a report. */
void pl_shm_rndv_give_up(struct pl_shm_peer *peer);
/* Ends all, reported as what became of the peer; returns how many. Or ends all without a report. */
int pl_shm_rndv_end(struct pl_shm_peer *peer);
void pl_shm_rndv_forget(struct pl_shm_peer *peer);

#endif
