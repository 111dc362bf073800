/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: a group, an id that all members know, the queues where messages are matched.
 *
 * Locking: name, attributes, info and error handler by the object's own lock; the queues and peers by the engine's.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_H
#define PLENUM_CORE_ENGINE_COMM_H

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/engine/engine.h"
#include "core/object/group.h"
#include "core/object/object.h"
#include "mpi.h"

struct pl_attrs;
struct pl_errhandler;
struct pl_info;
struct pl_instance;
struct pl_hierarchy;
struct pl_type;
struct pl_op;
struct pl_win;

/* The same on all members and different from every other in an engine: compared whole. */
struct pl_comm_id {
    uint64_t home; /* the process that chose it (pl_process.id), 0: the World's own */
    uint32_t serial;
};

enum { PL_WORLD_SERIAL = 1, PL_SELF_SERIAL = 2 };

/* Receives that wait, and messages that came before their receive, each in order. */
struct pl_queues {
    struct pl_list posted;     /* of pl_request.link */
    struct pl_list unexpected; /* of struct pl_unexpected.link (match.h) */
};

/* A rank that was sent to: in the slot of its number, or behind it when that is taken. With no more ranks than
 * PL_PEER_SLOTS each has a slot of its own, and the table never moves; else it grows with their number. */
struct pl_peer_slot {
    struct pl_peer *peer; /* NULL: nobody's slot */
    int rank;
};
enum { PL_PEER_SLOTS = 64 };

/* An intercommunicator's other side. */
struct pl_comm_inter {
    struct pl_group *remote; /* retained; NULL: an intracommunicator */
    struct pl_comm *local;   /* a hidden communicator of the local group; one handle */
    bool first_group;        /* breaks ties between the two groups */
};

/* The peers that this process has sent to (comm_peers.c). */
struct pl_comm_peers {
    struct pl_peer_slot *slots; /* [mask + 1] */
    unsigned mask, count;
    struct pl_av *av; /* the members' addresses in a communicator from a group; NULL: those of the World */
};

/* Matching. The engine's lock. */
struct pl_comm_match {
    struct pl_queues queues[PL_QUEUES]; /* by PL_MSG_P2P, PL_MSG_COLL, PL_MSG_PARTITIONED */
    struct pl_match_index *index;       /* of long queues (match_index.h); NULL: none */
    bool no_index;                      /* there will be none */
};

/* Completed requests that are used again (request.c); each holds the communicator. */
struct pl_comm_spares {
    struct pl_list requests; /* of pl_request.link */
    struct pl_request *coll; /* one of a collective, with its schedule; NULL: none */
    int count;               /* of both */
};

/* Collectives: used by one thread at a time, as the standard demands. */
struct pl_comm_coll {
    struct pl_area *area;           /* for blocking collectives of one node; NULL: none, or not yet */
    uint32_t area_kinds;            /* the kinds of collectives that use it: a bit each (core/coll/area) */
    bool no_area;                   /* there will be none */
    bool no_hierarchy;              /* the same for `hierarchy` */
    int area_wanted;                /* collectives so far that would have used an area */
    unsigned area_count;            /* collectives done in the area, or by the node hierarchy */
    struct pl_hierarchy *hierarchy; /* for blocking collectives of several nodes; NULL: none, or not yet */
    uint32_t blocking;              /* blocking collectives started: their tag */
    uint32_t nonblocking;           /* the same for nonblocking and persistent ones */
    _Atomic int unlike; /* a rank, plus 1, configured to run collectives differently (core/coll/table.h); 0: none */
};

/* Partitioned communication (partitioned.h). The engine's lock. */
struct pl_comm_partitioned {
    struct pl_list channels; /* of pl_channel.link: receives that expect partitions */
    uint32_t tags;           /* given to sends so far */
};

/* What ended, or will end, the operations on the communicator. Ranks are kept plus 1; 0: none. */
struct pl_comm_health {
    _Atomic int failed;   /* a rank whose process has died: the communicator is broken (peer_failure.h) */
    _Atomic int departed; /* a rank that has finalized and was waited for (departure.h) */
    bool starved;         /* a message found no memory: broken */
    bool orphan;          /* its instance is closed: nothing can be started */
};

struct pl_comm {
    struct pl_object obj;
    struct pl_instance *instance; /* retained */
    struct pl_comm_id id;
    int rank, size;                /* in `group` */
    struct pl_header envelopes[2]; /* of messages from here, without tag and size (p2p_blocking.c): P2P, COLL */
    struct pl_group *group;        /* retained */
    struct pl_comm_inter inter;
    struct pl_comm_peers peers;
    struct pl_comm_match match;
    struct pl_comm_spares spares;
    struct pl_comm_coll coll;
    struct pl_comm_health health;
    struct pl_comm_partitioned partitioned;
    struct pl_comm *next;    /* in the engine's bucket */
    struct pl_list siblings; /* in the instance's list of communicators */
    _Atomic int detached;    /* requests that the user freed while they were under way */

    struct pl_lock lock;
    struct pl_errhandler *errhandler; /* retained */
    struct pl_attrs *attrs;
    struct pl_comm_hints {
        struct pl_info *info;      /* the user's memory kinds (comm_info.h); NULL: none given */
        _Atomic unsigned asserted; /* PL_ASSERT_* of comm_info.h */
    } hints;
    char name[MPI_MAX_OBJECT_NAME];
    struct pl_comm_topology {
        int kind;   /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or MPI_UNDEFINED */
        void *data; /* core/comm/topology.c */
    } topology;
    struct pl_bsend *bsend; /* attached buffer; NULL: none */
    struct pl_win *win;     /* the window that it belongs to; NULL: none */
    struct pl_comm *whole;  /* the communicator that it is a part of; borrowed. NULL: of none */
    const char *serves;     /* NULL: the user's; what it belongs to: "window", "file", "": another communicator */
    const char *unnamed;    /* its label while it has no name; NULL: "unnamed communicator" */
};

static inline bool pl_comm_is_inter(const struct pl_comm *comm)
{
    return comm->inter.remote != NULL;
}

/* Number of ranks that one may send to. */
static inline int pl_comm_targets(const struct pl_comm *comm)
{
    return comm->inter.remote ? comm->inter.remote->size : comm->size;
}

/* Makes a communicator with one handle, without an id. Retains the groups. `parent` gives addresses and error handler;
 * NULL: the instance does. */
int pl_comm_build(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group, struct pl_group *remote,
                  struct pl_comm **comm);

/* The same with its id, and puts it into the engine (pl_engine_add_comm()): messages find it. With a book of its own,
 * which it takes when it succeeds; NULL: the parent's. */
int pl_comm_create_with_av(struct pl_instance *instance, struct pl_comm *parent, struct pl_av *av,
                           struct pl_group *group, struct pl_group *remote, struct pl_comm_id id,
                           struct pl_comm **comm);

/* The same with the parent's book. */
int pl_comm_create(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group,
                   struct pl_group *remote, struct pl_comm_id id, struct pl_comm **comm);

/* The peer of a rank, NULL when nothing was sent to it yet. Engine lock held. */
struct pl_peer *pl_comm_peer_behind(const struct pl_comm *comm, int rank);
static inline struct pl_peer *pl_comm_peer(const struct pl_comm *comm, int rank)
{
    const struct pl_peer_slot *slot = &comm->peers.slots[(unsigned)rank & comm->peers.mask];
    return __builtin_expect(slot->rank == rank, 1) ? slot->peer : pl_comm_peer_behind(comm, rank);
}

/* Makes the table, for so many ranks; remembers a peer, if there is memory for it. */
int pl_comm_peers_make(struct pl_comm *comm, int ranks);
void pl_comm_peer_keep(struct pl_comm *comm, int rank, struct pl_peer *peer);

MPI_Comm pl_comm_handle(const struct pl_comm *comm);
void *pl_comm_predefined(uintptr_t constant);
void pl_comm_destroy(void *comm);

/* Ends the members' processes, as far as the launcher can tell them from the rest of the job; else the job. */
_Noreturn void pl_comm_abort(struct pl_comm *comm, int code, const char *message);

/* "ocean", "MPI_COMM_WORLD", or "unnamed communicator" for messages; of a window's own, what names the window.
 * Borrowed. */
const char *pl_comm_label(const struct pl_comm *comm);

/* Copies the name that the user gave, "" if none. */
void pl_comm_name(struct pl_comm *comm, char *name, size_t capacity);

extern const struct pl_kind_errors pl_comm_errors;

/* Tags in the collectives' queues. Blocking and nonblocking ones are counted apart: the standard wants all in one
 * order on all ranks, but programs that start a nonblocking one before a barrier here and after it there are used to
 * getting away with it. And apart from those, one for a tag that the user gave. */
enum { PL_NONBLOCKING_TAGS = 0x40000000 };
static inline int pl_comm_next_tag(struct pl_comm *comm)
{
    return (int)(comm->coll.blocking++ & INT32_MAX);
}
static inline int pl_comm_next_nonblocking_tag(struct pl_comm *comm)
{
    return (int)((PL_NONBLOCKING_TAGS + comm->coll.nonblocking++) & INT32_MAX);
}
static inline int pl_comm_user_tag(int tag)
{
    return INT32_MIN | tag;
}

/* The id of a communicator of which this process is the first member. */
struct pl_comm_id pl_comm_new_id(void);

/* The World's own, in static memory: never freed, so that what outlives the World may still point at it. */
int pl_comm_create_predefined(struct pl_instance *instance, struct pl_group *group, struct pl_comm_id id,
                              struct pl_comm *comm);

/* Agrees on a new id among `group`, which is a part of `comm` to which the caller belongs: the group's first member
 * chooses. `tag` sets it apart from others at the same time (in the collectives' queues). Collective over the group. */
int pl_comm_agree(struct pl_comm *comm, const struct pl_group *group, int tag, struct pl_comm_id *id);

/* The attributes' callbacks run, the user's handle goes; the object follows once nothing uses it. */
int pl_comm_free(struct pl_comm *comm);

/* The instance closes while the user still holds the communicator: pending receives are cancelled, attributes deleted,
 * and its handles are no longer valid. Sends go on. The caller holds a reference. */
void pl_comm_orphan(struct pl_comm *comm);

/* The error of a request of an orphan's that is to be started: MPI_ERR_REQUEST. */
int pl_comm_fail_orphan(void) __attribute__((cold));

/*
 * Point to point for the library itself, in the collectives' queues: no argument checks, no handlers.
 * Blocking ones return an error class. Requests are hidden objects that the caller waits for and releases.
 */
int pl_coll_isend(struct pl_comm *comm, const void *buf, MPI_Count count, const struct pl_type *type, int dest, int tag,
                  struct pl_request **request);
int pl_coll_irecv(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int source, int tag,
                  struct pl_request **request);

/* Point to point, as the user asks for it. `mode`: enum pl_send_mode. */
int pl_send(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag, int mode);
int pl_send_standard(struct pl_comm *comm, const void *buf, MPI_Count count, struct pl_type *type, int dest, int tag);
int pl_recv(struct pl_comm *comm, void *buf, MPI_Count count, struct pl_type *type, int source, int tag,
            MPI_Status *status);

#endif
