/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX transport: the structs that its files share.
 *
 * Every message is one UCX active message: a struct pl_ucx_wire is its header, the packed data is its data. Small
 * messages go eagerly. Large ones use UCX's rendezvous, which hands the receiver a descriptor to fetch from.
 *
 * Active messages of different sizes overtake each other inside UCX. So each link numbers its messages, and the
 * receiver keeps early ones back: the engine gets each message once, in the order of the numbers.
 *
 * Locking: the engine's lock is held in all functions and in UCX's callbacks, which run inside ucp_worker_progress()
 * and inside the calls that start an operation. The exceptions are sleep() and wake(), which use descriptors only.
 */
#ifndef PLENUM_PLUGINS_UCX_UCX_H
#define PLENUM_PLUGINS_UCX_UCX_H

#include <ucp/api/ucp.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/list.h"
#include "core/base/table.h"
#include "core/engine/transport.h"
#include "core/job/stale_files.h"
#include "plugins/ucx/gate.h"

enum { PL_UCX_ADDRESS_MAX = 400, PL_UCX_UNHEARD = 16 };

/* The kind of a message. Control messages stay within the transport; control.h has more. */
enum pl_ucx_control {
    PL_UCX_MESSAGE,   /* the engine's */
    PL_UCX_HELLO,     /* first on every link: the sender's card and address */
    PL_UCX_ASK,       /* requests an ACK once all messages up to this one have been handed to the engine */
    PL_UCX_ACK,       /* all messages below number `header.token` have been */
    PL_UCX_LEAVE,     /* last: the sender closes, and takes no further messages */
    PL_UCX_FORGET,    /* rendezvous message number `header.token` is cancelled: its send must not complete */
    PL_UCX_FORGOTTEN, /* answer: it will not, so the message can be discarded */
    PL_UCX_CONTROLS
};

/* The header of every message, in the byte order of the machine. */
struct pl_ucx_wire {
    struct pl_header header;
    uint64_t from;    /* id of the sending engine */
    uint64_t to;      /* id of the engine that it is for: an address can outlive its owner */
    uint32_t number;  /* counts from 0 on each link */
    uint32_t control; /* enum pl_ucx_control */
};

/* An address in a card: this, then the address of the UCX worker. */
struct pl_ucx_address {
    uint64_t engine;
    uint64_t node;        /* processes with equal values may share memory */
    uint64_t scratch_dir; /* pl_scratch_dir.number, locked as long as the worker lives; 0: none */
    struct pl_ucx_entrance entrance[PL_UCX_ENTRANCES]; /* where to knock before UCX connects; all 0: not necessary */
    unsigned char key[PL_UCX_KEY];
};

struct pl_ucx {
    struct pl_engine *engine;
    const struct pl_transport_host *host;
    uint64_t id; /* the engine's */
    uint64_t node;
    ucp_context_h context;
    ucp_worker_h worker;
    int event_fd;        /* UCX's, readable when there is work for an armed worker */
    int wake_fd;         /* ours, for wake() */
    bool shared_memory;  /* UCX may use it between processes of a node, with files in `scratch_dir` */
    bool memory_refused; /* it could not open it: /dev/shm is full, or cannot be written */
    struct pl_scratch_dir scratch_dir;
    bool rma;                         /* one-sided transfers are possible */
    size_t eager;                     /* bytes of data in the longest eager message */
    bool tcp_only;                    /* all data passes through buffers of the receiver */
    ucp_datatype_t send_type;         /* packs by the cursor of a struct pl_ucx_send */
    ucp_datatype_t fetch_type;        /* unpacks by the cursor of a struct pl_ucx_rndv */
    struct pl_list links;             /* of struct pl_ucx_link */
    struct pl_table by_engine;        /* of pl_ucx_link.by_engine: the links by engine id */
    struct pl_ucx_link *last;         /* the link found last */
    uint64_t unheard[PL_UCX_UNHEARD]; /* engines that have no link, and a message of which was lost for it */
    unsigned unheard_count;           /* more than PL_UCX_UNHEARD: any engine may be one */
    struct pl_list failed;            /* of pl_ucx_link.failure: to be reported in progress() */
    struct pl_list spare;             /* of pl_ucx_send.entry: unused records */
    struct pl_ucx_rndv *arriving;     /* the message that UCX's callback is handing to the engine */
    struct pl_list put_off;           /* of pl_ucx_rndv.put_off: fetched once this side has sent (receive.c) */
    bool progressing;                 /* inside progress() */
    int events;                       /* since progress() began */
    int64_t check_at;                 /* ms; when pl_ucx_links_check() checks the peers next */
    bool ending;                      /* close() has begun: nothing more is handed to the engine */
    ucs_status_ptr_t flush;           /* of the worker, in close() */
    struct pl_ucx_gate gate;
    bool watches;           /* it has connected to a peer whose death UCX reports */
    bool unclaimed;         /* there are new connections, which are to be close-on-exec */
    int64_t claim_at;       /* ms; when that is done next */
    struct pl_list retired; /* in the list of transports whose worker could not be destroyed yet */
};

/* Another engine, and the traffic with it. Created by connect() or by its first message; lives until close(), or until
 * the engine has departed and nothing uses it. */
struct pl_ucx_link {
    struct pl_endpoint endpoint; /* first; endpoint.peer is NULL while the library does not hold it */
    struct pl_origin origin;     /* card: NULL until its hello */
    unsigned held;               /* messages that the library keeps */
    struct pl_ucx *ucx;
    void *address; /* struct pl_ucx_address and the worker's address; NULL: not known yet */
    size_t address_length;
    struct pl_ucx_knock *knock;  /* under way, else NULL */
    bool admitted;               /* the peer lets this worker connect */
    ucp_ep_h ep;                 /* NULL: not connected */
    ucs_status_ptr_t closing;    /* UCX's request that closes the connection; NULL: none is pending */
    int error;                   /* MPI error class once the link has failed, else 0 */
    const char *why;             /* then: the cause; NULL: its process has died */
    int64_t lost_at;             /* ms: UCX lost the connection, and the peer may be closing; 0: it did not */
    bool departed;               /* the peer has sent LEAVE */
    bool refused;                /* ... or its entrances have closed: its last messages may still be unread */
    bool deaf;                   /* a message was lost before there was a link: no later one can be in turn */
    bool watched;                /* UCX reports the peer's death */
    bool lasting;                /* it has had a connection that UCX does not watch, which ends with the worker */
    uint64_t scratch_dir;        /* of a peer that is not watched: its lock tells whether the peer lives; 0: none */
    const pl_scratch_mark *mark; /* of that directory, since this side has connected; NULL: not mapped */
    int unreached;               /* how often UCX could not connect to it, although its gate had answered */
    int64_t gone_at;             /* ms: its lock was first found free; 0: never */
    bool abandoned;              /* then: the process had died, not closed */

    size_t ahead;      /* bytes of collectives' longer messages that went eagerly since the peer last fetched one */
    bool exchanges;    /* this side, too, has sent a rendezvous message, unless it was waited for in vain since */
    int put_off_count; /* messages of the peer in ucx->put_off */
    int sent_since;    /* rendezvous messages sent since the first of these was put off */

    uint32_t next_out;     /* number of the next outgoing message */
    uint32_t due;          /* one past the number of the engine's last message */
    uint32_t asked, acked; /* the number that the last ASK and the last ACK were for */
    uint64_t owed;         /* the token of an ASK that came before this side was connected; 0: none */
    uint32_t next_in;      /* number of the next message to be handed on */

    struct pl_list sends;     /* of pl_ucx_send.entry: those that UCX has */
    struct pl_list transfers; /* of pl_ucx_transfer.entry (remote.c): those that UCX has */
    struct pl_list early;     /* of pl_ucx_early.entry, by number */
    struct pl_list rndvs;     /* of pl_ucx_rndv.entry: waiting, being fetched or being cancelled */
    struct pl_list failure;   /* in ucx->failed */
    struct pl_list entry;     /* in ucx->links */
    struct pl_table_node by_engine;
};

/* A message that UCX sends. It lives as long as UCX needs its header, even when the engine has given it up. */
struct pl_ucx_send {
    struct pl_list entry;
    struct pl_ucx_wire wire;
    struct pl_ucx_link *link;
    struct pl_outgoing *message; /* NULL: the engine does not wait for it */
    void *copy;                  /* its data, where that is our own copy; else NULL */
    bool starting;               /* inside ucp_am_send_nbx() */
    bool done;
};

/* How far a rendezvous message is. */
enum pl_ucx_rndv_state {
    PL_UCX_RNDV_WAITING,   /* at its sender, until the engine fetches or drops it */
    PL_UCX_RNDV_CANCELLED, /* released when FORGOTTEN arrives */
    PL_UCX_RNDV_PUT_OFF,   /* to be fetched later */
    PL_UCX_RNDV_STARTING,  /* inside ucp_am_recv_data_nbx() */
    PL_UCX_RNDV_FETCHING,
    PL_UCX_RNDV_FETCHED, /* or failed, as its status says */
};

/* A rendezvous message, whose data waits at the sender or is being fetched. */
struct pl_ucx_rndv {
    struct pl_rndv rndv; /* first */
    struct pl_list entry;
    struct pl_ucx_link *link;
    void *descriptor; /* UCX's */
    uint32_t number;  /* of its message */
    uint64_t size;
    struct pl_incoming *message; /* while it is fetched; NULL: the engine does not wait for it */
    enum pl_ucx_rndv_state state;
    struct pl_list put_off; /* in ucx->put_off: since it was put off until it is being fetched, or has been */
    ucs_status_t status;    /* UCX's; valid when fetched */
};

/* A message that arrived before its turn, with a copy of its data. */
struct pl_ucx_early {
    struct pl_list entry;
    struct pl_ucx_wire wire;
    struct pl_ucx_rndv *rndv; /* NULL: eager */
    unsigned char data[];
};

extern const struct pl_transport_ops plenum_transport;

/* Records an error of UCX. Returns its MPI error class. */
int pl_ucx_error(struct pl_ucx *ucx, ucs_status_t status, const char *what);
/* Makes progress on the workers that were put aside, and destroys those that have settled. */
void pl_ucx_sweep(void);

#endif
