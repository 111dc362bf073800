/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX transport, between its files: ucx.c (life, sleep), link.c (other engines, failure, leaving), send.c,
 * receive.c, control.c (what two transports tell each other), ucx_log.c (UCX's own messages).
 *
 * Every message is one UCX active message: `struct ucx_wire` as its header, the packed data as its data. Small ones go
 * eagerly; large ones by UCX's rendezvous, which hands the receiver a descriptor to fetch from.
 *
 * Active messages of different sizes overtake each other inside UCX. Each link therefore numbers what it sends, and
 * the receiver holds back what comes early: to the engine, messages arrive in the order of their numbers, each once.
 *
 * Locking: none. All is called with the engine's lock held, UCX's callbacks too: they run inside ucp_worker_progress()
 * and inside the calls that start something. Only sleep() and wake() touch nothing but descriptors.
 */
#ifndef PLENUM_PLUGINS_UCX_UCX_H
#define PLENUM_PLUGINS_UCX_UCX_H

#include <ucp/api/ucp.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/engine/transport.h"
#include "core/job/stale_files.h"

enum { UCX_BUCKETS_FIRST = 16, UCX_ADDRESS_MAX = 400 };

/* What a message is for. Controls stay within the transport. */
enum ucx_control {
    UCX_MESSAGE,   /* the engine's */
    UCX_HELLO,     /* first on every link: the sender's card and address */
    UCX_ASK,       /* tell me when you have taken all up to here: ... */
    UCX_ACK,       /* ... taken, up to number `header.token` */
    UCX_LEAVE,     /* last: I close, and have taken all that I ever will */
    UCX_FORGET,    /* your bulk message number `header.token` is cancelled: say nothing about it ... */
    UCX_FORGOTTEN, /* ... done, throw it away */
    UCX_CONTROLS
};

/* In front of every message, in the byte order of the machine. */
struct ucx_wire {
    struct pl_header header;
    uint64_t from;    /* id of the sending engine */
    uint64_t to;      /* id of the engine it is for: an address can outlive its owner */
    uint32_t number;  /* from 0 on each link */
    uint32_t control; /* enum ucx_control */
};

/* An address as it stands in a card: this, then the UCX worker's address. */
struct ucx_address {
    uint64_t engine;
    uint64_t node;        /* equal: the two may share memory */
    uint64_t scratch_dir; /* pl_scratch_dir.number, held as long as the worker lives; 0: none */
};

struct ucx {
    struct pl_engine *engine;
    const struct pl_host *host;
    uint64_t id; /* the engine's */
    uint64_t node;
    ucp_context_h context;
    ucp_worker_h worker;
    int event_fd;        /* UCX's, readable when there is work for an armed worker */
    int wake_fd;         /* ours, for wake() */
    bool shared_memory;  /* UCX may use it between processes of a node */
    bool memory_refused; /* it could, but there is none to be had: /dev/shm is full, or cannot be written */
    struct pl_scratch_dir scratch_dir; /* ... with files here */
    size_t eager;                      /* up to so many bytes go eagerly */
    ucp_datatype_t send_type;          /* walks the cursor of a struct ucx_send ... */
    ucp_datatype_t fetch_type;         /* ... and of a struct ucx_bulk */
    struct pl_list links;              /* of struct ucx_link */
    struct ucx_link **bucket;          /* the same by engine id */
    size_t buckets, count;
    struct ucx_link *last;     /* the one found last */
    struct pl_list failed;     /* of ucx_link.failure: to be reported in progress() */
    struct pl_list spare;      /* of ucx_send.entry: unused records */
    struct ucx_rndv *arriving; /* being handed to the engine right now */
    int events;                /* since progress() began */
    long look_at;              /* milliseconds: when to look again who has gone */
    bool ending;               /* close() has begun: nothing more is handed to the engine */
    ucs_status_ptr_t flush;    /* of the worker, when it closes */
    struct pl_list retired;    /* in the list of those that could not be destroyed yet */
};

/* Another engine, and what flows to and from it. Made by connect() or by its first message; lives until close(). */
struct ucx_link {
    struct pl_endpoint endpoint; /* first; endpoint.peer is NULL while the library does not hold it */
    struct pl_origin origin;     /* card: NULL until its hello */
    struct ucx *ucx;
    void *address; /* struct ucx_address and the worker's; NULL: not known yet */
    size_t address_length;
    ucp_ep_h ep;              /* NULL: not connected */
    ucs_status_ptr_t closing; /* the connection's end is under way */
    int error;                /* MPI error class: no more traffic */
    bool left;                /* it has closed in good order */
    bool watched;             /* UCX tells when the peer dies */
    uint64_t scratch_dir;     /* the peer's: tells where UCX does not; 0: nothing does */

    uint32_t next_out;     /* number of the next message that goes out */
    uint32_t due;          /* one past the number of the engine's last message */
    uint32_t asked, acked; /* taken: up to where we asked, up to where it said so */
    uint32_t next_in;      /* number of the next message to be handed on */

    struct pl_list sends;   /* of ucx_send.entry: UCX has them */
    struct pl_list early;   /* of ucx_early.entry, by number */
    struct pl_list rndvs;   /* of ucx_bulk.entry: waiting, being fetched or being cancelled */
    struct pl_list failure; /* in ucx->failed */
    struct pl_list entry;   /* in ucx->links */
    struct ucx_link *next;  /* in its bucket */
};

/* A message that UCX sends: ours as long as UCX needs its header, even when the engine has given up on it. */
struct ucx_send {
    struct pl_list entry;
    struct ucx_wire wire;
    struct ucx_link *link;
    struct pl_outgoing *message; /* NULL: nobody waits for it */
    void *copy;                  /* data of a control message, ours; else NULL */
    bool starting;               /* inside ucp_am_send_nbx() */
    bool done;
};

/* Bulk data that waits at the sender, or is being fetched. */
struct ucx_rndv {
    struct pl_rndv rndv; /* first */
    struct pl_list entry;
    struct ucx_link *link;
    void *descriptor; /* UCX's */
    uint32_t number;  /* of its message */
    uint64_t size;
    struct pl_incoming *message; /* while it is fetched; NULL: nobody waits for it */
    bool starting;               /* inside ucp_am_recv_data_nbx() */
    bool fetching, done;
    bool cancelled; /* released when the sender has forgotten it */
    ucs_status_t status;
};

/* A message that came before its turn, with a copy of its data. */
struct ucx_early {
    struct pl_list entry;
    struct ucx_wire wire;
    struct ucx_rndv *rndv; /* NULL: eager */
    unsigned char data[];
};

/* ucx.c */
extern const struct pl_transport_ops plenum_transport;
int ucx_error(struct ucx *ucx, ucs_status_t status, const char *what);
void ucx_sweep(void); /* progress of the workers that were put aside; destroys those that have settled */

/* ucx_log.c: UCX's messages go to the library's log while at least one engine uses UCX. */
void ucx_log_open(const struct pl_host *host);
void ucx_log_close(void);

/* link.c */
struct ucx_link *ucx_link_find(struct ucx *ucx, uint64_t engine);
struct ucx_link *ucx_link_make(struct ucx *ucx, uint64_t engine);              /* finds, or makes; NULL: no memory */
int ucx_link_learn(struct ucx_link *link, const void *address, size_t length); /* checks and keeps a copy */
int ucx_link_open(struct ucx_link *link);                                      /* connects if it is not, says hello */
void ucx_link_fail(struct ucx_link *link, int error);                          /* reported in the next progress() */
int ucx_link_report(struct ucx *ucx);                                          /* number of failures reported */
bool ucx_link_taken(const struct ucx_link *link);                              /* its peer has all of the engine's */
void ucx_link_check(struct ucx *ucx); /* now and then: fails those whose peer went without a word */
/* Leaves. True: settled; false: not yet. */
bool ucx_link_close_all(struct ucx *ucx);
/* Makes progress. True: all connections have ended and UCX has nothing more to send. The worker may be destroyed then,
 * before any further progress. */
bool ucx_link_settled(struct ucx *ucx);
void ucx_link_free_all(struct ucx *ucx); /* after the worker is gone */

/* send.c */
int ucx_send_init(struct ucx *ucx);
void ucx_send_fini(struct ucx *ucx);
int ucx_send(struct pl_endpoint *endpoint, struct pl_outgoing *message);
/* Sends a control message with a copy of the data. */
int ucx_post(struct ucx_link *link, enum ucx_control control, uint64_t token, const void *data, size_t bytes);
void ucx_send_free(struct ucx *ucx, struct ucx_send *send);
bool ucx_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message);

/* receive.c */
int ucx_receive_init(struct ucx *ucx);
void ucx_receive_fini(struct ucx *ucx);
int ucx_fetch(void *self, struct pl_rndv *rndv, struct pl_incoming *message);
void ucx_drop(void *self, struct pl_rndv *rndv, bool cancelled);
void ucx_rndv_release(struct ucx_rndv *rndv); /* throws it away; its sender completes */
void ucx_rndv_abandon(struct ucx_rndv *rndv); /* at close() */

/* control.c */
int ucx_control_hello(struct ucx_link *link);
void ucx_control_handle(struct ucx_link *link, const struct ucx_wire *wire, const void *data, size_t bytes);
bool ucx_control_flushed(struct ucx *ucx);

#endif
