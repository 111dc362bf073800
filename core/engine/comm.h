/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: a group, an id that all members know, and the queues where messages are matched.
 *
 * The engine keeps `coll`, `topology` and `win` for the rooms above and does not use them; client.h lists the events
 * that it tells them of.
 *
 * Locking: the communicator's lock protects attributes, hints and error handler; the engine's lock protects
 * queues and peers.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_H
#define PLENUM_CORE_ENGINE_COMM_H

#include "core/base/compiler.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/table.h"
#include "core/engine/comm_peers.h"
#include "core/engine/engine.h"
#include "core/object/group.h"
#include "core/object/object.h"
#include "mpi.h"

struct pl_agreements;
struct pl_attrs;
struct pl_errhandler;
struct pl_info;
struct pl_instance;
struct pl_hierarchy;
struct pl_type;
struct pl_op;
struct pl_schedule;
struct pl_win;

/* The same on all members, and different from all others in an engine. Compared whole. */
struct pl_comm_id {
    uint64_t home;   /* of the process that chose it (pl_process.id and up); 0: the World's communicators */
    uint32_t serial; /* not 0 */
};

enum { PL_WORLD_SERIAL = 1, PL_SELF_SERIAL = 2 };

/* Serials from here on are those of second ids. */
#define PL_SECOND_SERIAL UINT32_C(0x80000000)

/* Posted receives, and messages that came before their receive, each in order. */
struct pl_queues {
    struct pl_list posted;        /* of pl_request.link */
    struct pl_list unexpected;    /* of struct pl_unexpected.link (match.h) */
    struct pl_match_index *index; /* if one of them is or was long (match_index.h); NULL: none */
};

/* Of an intercommunicator. */
struct pl_comm_inter {
    struct pl_group *remote; /* retained; NULL: an intracommunicator */
    struct pl_comm *local;   /* a hidden communicator of the local group, with one handle */
    bool first_group;        /* breaks ties between the two groups */
};

/* Matching. The engine's lock. */
struct pl_comm_match {
    struct pl_queues queues[PL_QUEUES]; /* by PL_MSG_P2P, PL_MSG_COLL, PL_MSG_PARTITIONED */
};

/* Requests of the communicator. The spares are completed ones that are used again (request.c); each holds it. */
struct pl_comm_requests {
    struct pl_list spares;         /* of pl_request.link */
    struct pl_request *spare_coll; /* one of a collective, with its schedule; NULL: none */
    int spare_count;               /* of both */
    _Atomic int detached;          /* requests under way that the user has freed */
};

/* Do nonblocking collectives go by the nodes? The first one asks all members, and until they have answered it and the
 * following ones wait (core/coll/hierarchy/started.h). */
enum pl_comm_search { PL_HIERARCHY_UNKNOWN, PL_HIERARCHY_SOUGHT, PL_HIERARCHY_FOUND, PL_HIERARCHY_NONE };

/* For blocking collectives of one node (core/coll/area). */
struct pl_comm_area {
    struct pl_area *open;   /* NULL: none, or not yet */
    uint32_t kinds;         /* the kinds of collectives that use it: a bit each */
    bool none;              /* none will be made */
    int wanted;             /* collectives so far that would have used one */
    _Atomic unsigned count; /* collectives done in it, or by the node hierarchy */
};

/* For collectives of several nodes (core/coll/hierarchy). */
struct pl_comm_hierarchy {
    struct pl_hierarchy *open;    /* for blocking ones; NULL: none, or not yet */
    struct pl_hierarchy *started; /* for nonblocking and persistent ones, when `search` is PL_HIERARCHY_FOUND */
    _Atomic int search;           /* enum pl_comm_search: for these */
    bool none;                    /* none will be made for blocking ones */
};

/* The collectives so far, by which they have their tags. */
struct pl_comm_tags {
    uint32_t blocking;        /* blocking ones started: the next one's tag */
    _Atomic uint32_t ended;   /* blocking ones that have ended: those with smaller tags */
    uint32_t nonblocking;     /* nonblocking ones: the next one's tag */
    _Atomic uint32_t started; /* of these, those whose start has returned */
    uint32_t persistent;      /* persistent ones */
    _Atomic uint32_t made;    /* of these, those whose initialization has returned */
    uint32_t agreements;      /* of the checking mode (core/coll/agree.h) */
};

/* What other ranks ask and tell in a long wait (core/coll/owed.h). */
struct pl_comm_owed {
    struct pl_schedule *stands; /* of a blocking collective that waits; NULL: none */
    const void *stands_in;      /* its struct pl_coll; NULL: not known */
    long asked, pause;          /* when this process last asked, and its pause until it asks again: ns */
    uint32_t asked_in;          /* in the collective with this tag, or after this many in the area */
    int left_by;                /* a rank, plus 1, that has left a collective in the area; 0: none */
    unsigned left_in;           /* its area.count then */
};

/* Of collectives. One thread at a time uses it, as the standard demands. */
struct pl_comm_coll {
    struct pl_comm_area area;
    struct pl_comm_hierarchy hierarchy;
    struct pl_comm_tags tags;
    uint32_t idups;               /* calls of MPI_Comm_idup */
    uint32_t idups_ended;         /* of these, the first ones, which have ended alike on all members: engine lock */
    struct pl_list idups_pending; /* of idup.order (core/comm/create.c): the others: engine lock */
    _Atomic uint32_t made; /* pl_comm_role.made of the last one that was made from it in another way, by any thread */
    const void *named;     /* what job reports describe in place of its collective: pl_coll_describe() */
    struct pl_comm_owed owed;
    struct pl_list persistent; /* of pl_persistent.link (core/coll/persistent.h): engine lock */
    _Atomic int unlike;        /* a rank, plus 1, with other settings (core/coll/rules_file.h); 0: none */
};

/* Partitioned communication (partitioned.h). The engine's lock. */
struct pl_comm_partitioned {
    struct pl_list channels; /* of pl_channel.link: receives that expect partitions */
    struct pl_list sends;    /* of pl_channel.link: all sends */
    uint64_t tags;           /* given to sends so far */
};

/* Members that this process knows to have failed (comm_failures.h). The engine's lock, for writers. */
struct pl_comm_failures {
    _Atomic int count, acknowledged; /* the program knows of the first `acknowledged` */
    int *members;                    /* ranks, in the order in which they were noticed; those of the remote group follow
                                        the local group's. Behind the room for all members, a 1 for each that is lost by
                                        its link, or left out by others. NULL: none yet */
    bool starved;                    /* there was no memory for them */
};

/* Why operations on the communicator fail. Ranks are stored plus 1; 0: none. */
struct pl_comm_health {
    _Atomic int failed;       /* the member at fault when the communicator is broken (comm_break.h) */
    _Atomic bool confined;    /* for its collective operations only: what does not involve failed members goes on */
    _Atomic int revoked;      /* the member that has revoked it (comm_revoke.h) */
    _Atomic int departed;     /* a rank that is absent while this process waits for it (departure.h) */
    _Atomic int departed_how; /* enum pl_absence; PL_STAYS: not asked yet */
    int class;                /* why it is broken; 0: MPI_ERR_PROC_ABORTED */
    char *words;              /* the cause; NULL: that rank has died */
    bool stopped;             /* an operation failed on a member, which makes nothing newer from it than ... */
    uint32_t stopped_at;      /* ... its pl_comm_coll.made then, ... */
    uint32_t stopped_idups;   /* ... and no duplicate but its first pl_comm_coll.idups_ended */
    bool orphan;              /* its instance is closed: no operation can start */
    struct pl_comm_failures failures;
    struct pl_agreements *agreements; /* core/comm/agreement.h; NULL: none */
};

/* What it was made for, and how. All zero, `maker` aside: the user's. */
struct pl_comm_role {
    struct pl_comm *whole;    /* the communicator that it is a part of; borrowed. NULL: of none */
    const char *serves;       /* what it belongs to: "window", "file", "": another communicator; NULL: the user's */
    const char *unnamed;      /* its label while it has no name; NULL: "unnamed communicator" */
    const char *maker;        /* the function that the user made it with; NULL: unknown */
    struct pl_comm_id parent; /* the communicator that it was made from; serial 0: none */
    uint32_t made;            /* how many blocking collectives and idups that one had seen then */
    bool grouped;             /* made by MPI_Comm_create_group: `made` does not tell it from the ones before */
    uint32_t idup;            /* made by the MPI_Comm_idup of this number of that one; 0: in another way */
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
    struct pl_comm_requests requests;
    struct pl_comm_coll coll;
    struct pl_comm_health health;
    struct pl_comm_partitioned partitioned;
    struct pl_table_node by_id; /* in engine->comms */
    struct pl_list siblings;    /* in the instance's list of communicators */

    struct pl_lock lock;
    struct pl_errhandler *errhandler; /* retained */
    struct pl_attrs *attrs;
    struct pl_comm_hints {
        struct pl_info *info;      /* the user's memory kinds (comm_info.h); NULL: none given */
        _Atomic unsigned asserted; /* PL_ASSERT_* of comm_info.h */
    } hints;
    char name[MPI_MAX_OBJECT_NAME]; /* pl_comm_name() */
    struct pl_comm_topology {
        int kind;   /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or MPI_UNDEFINED */
        void *data; /* core/comm/topology.c */
    } topology;
    struct pl_bsend *bsend; /* attached buffer; NULL: none */
    struct pl_win *win;     /* the window that it belongs to; NULL: none */
    struct pl_comm_role role;
};

static inline bool pl_comm_is_inter(const struct pl_comm *comm)
{
    return comm->inter.remote != NULL;
}

/* Is this the tag of a collective's message in which only some members take part, those of a group or two leaders? Such
 * tags are the user's (pl_comm_user_tag()). */
static inline bool pl_comm_is_user_tag(int tag)
{
    return tag < 0 || tag == INT32_MAX;
}

/* Do operations with messages of this kind fail, whichever members they involve? Those with a user's tag count as
 * messages of the program. */
static inline bool pl_comm_fails(const struct pl_comm *comm, int kind, int tag)
{
    return atomic_load(&comm->health.failed) &&
           ((kind == PL_MSG_COLL && !pl_comm_is_user_tag(tag)) || !atomic_load(&comm->health.confined));
}

/* The number of ranks that a process may send to. */
static inline int pl_comm_targets(const struct pl_comm *comm)
{
    return comm->inter.remote ? comm->inter.remote->size : comm->size;
}

/* The number of members, in both groups of an intercommunicator. */
static inline int pl_comm_members(const struct pl_comm *comm)
{
    return comm->size + (comm->inter.remote ? comm->inter.remote->size : 0);
}

/* Makes a communicator with one handle and without an id. Retains the groups. Addresses and error handler are those of
 * `parent`, or of the instance if that is NULL. */
int pl_comm_build(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group, struct pl_group *remote,
                  struct pl_comm **comm);

/* The same with an id; enters it into the engine (comm_table.h), where messages find it. `av` is its address vector,
 * stolen on success; NULL: the parent's. */
int pl_comm_create_with_av(struct pl_instance *instance, struct pl_comm *parent, struct pl_av *av,
                           struct pl_group *group, struct pl_group *remote, struct pl_comm_id id,
                           struct pl_comm **comm);

/* The same with the parent's address vector. */
int pl_comm_create(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group,
                   struct pl_group *remote, struct pl_comm_id id, struct pl_comm **comm);

/* The same for MPI_Comm_create_group. */
int pl_comm_create_grouped(struct pl_comm *parent, struct pl_group *group, struct pl_comm_id id, struct pl_comm **comm);

/* The same for an agreement of the members that live: whatever becomes of `parent` does not concern it. */
int pl_comm_create_of_living(struct pl_comm *parent, struct pl_group *group, struct pl_group *remote,
                             struct pl_comm_id id, struct pl_comm **comm);

/* The peer of a rank; NULL: nothing was sent to it yet. Engine lock held. */
static inline struct pl_peer *pl_comm_peer(const struct pl_comm *comm, int rank)
{
    const struct pl_peer_slot *slot = &comm->peers.slots[(unsigned)rank & comm->peers.mask];
    return pl_likely(slot->rank == rank) ? slot->peer : pl_comm_peer_behind(comm, rank);
}

MPI_Comm pl_comm_handle(const struct pl_comm *comm);
void *pl_comm_predefined(uintptr_t constant);
void pl_comm_destroy(void *comm);

/* Ends the members' processes; the whole job if the launcher cannot end some of its processes only. */
_Noreturn void pl_comm_abort(struct pl_comm *comm, int code, const char *message);

/* For messages: "ocean", "MPI_COMM_WORLD", "unnamed communicator" or "unnamed window"; of a file, its name.
 * Borrowed, until the thread's next call. Any locks but those of rank PL_RANK_LEAF. */
const char *pl_comm_label(const struct pl_comm *comm);

/* Copies the name that the user gave, "" if none. A name that is too long is cut off. */
void pl_comm_name(const struct pl_comm *comm, char *name, size_t capacity);
void pl_comm_set_name(struct pl_comm *comm, const char *name);

extern const struct pl_kind_errors pl_comm_errors;

/* Tags in the collectives' queues. Blocking and nonblocking collectives are counted apart. The standard demands one
 * order of all of them on all ranks; but programs start a nonblocking one before a barrier on one rank and after it on
 * another, and expect it to work. The tags of each range, named by its first, are used over and over. So persistent
 * collectives, which keep theirs, have a range of their own. Negative tags are for those that the user gives. */
enum {
    PL_BLOCKING_TAGS = 0,
    PL_AREA_TAGS = 0x20000000, /* those of core/coll/area/vary.c */
    PL_NONBLOCKING_TAGS = 0x40000000,
    PL_PERSISTENT_TAGS = 0x50000000,
    PL_AGREE_TAGS = 0x60000000, /* those of core/coll/agree.c */
    PL_TAGS = 0x10000000,       /* in each range */
};
static inline int pl_comm_tag(int range, uint32_t number)
{
    return range + (int)(number % PL_TAGS);
}
static inline int pl_comm_next_tag(struct pl_comm *comm)
{
    return pl_comm_tag(PL_BLOCKING_TAGS, comm->coll.tags.blocking++);
}
static inline int pl_comm_next_nonblocking_tag(struct pl_comm *comm)
{
    return pl_comm_tag(PL_NONBLOCKING_TAGS, comm->coll.tags.nonblocking++);
}
static inline int pl_comm_next_persistent_tag(struct pl_comm *comm)
{
    return pl_comm_tag(PL_PERSISTENT_TAGS, comm->coll.tags.persistent++);
}

/* The tag in the collectives' queues for one that the user gives. */
static inline int pl_comm_user_tag(int tag)
{
    int own = INT32_MIN | tag;
    return own == MPI_ANY_TAG ? INT32_MAX : own; /* which is in no range */
}

/* How many collectives of a range the one with this tag is behind the next one, whose number that is; above 0: it is an
 * earlier one. No message is half a range late. */
static inline int pl_comm_tag_behind(int range, uint32_t number, int tag)
{
    uint32_t behind = (number - (uint32_t)(tag - range)) % PL_TAGS;
    return behind <= PL_TAGS / 2 ? (int)behind : (int)behind - PL_TAGS;
}

/* Has this process completed the blocking collective with this tag? */
static inline bool pl_comm_has_ended(const struct pl_comm *comm, int tag)
{
    uint32_t ended = atomic_load_explicit(&comm->coll.tags.ended, memory_order_acquire);
    return tag < PL_AREA_TAGS && pl_comm_tag_behind(PL_BLOCKING_TAGS, ended, tag) > 0;
}

/* Has the start of the nonblocking collective with this tag returned, or the initialization of the persistent one? */
static inline bool pl_comm_has_started(const struct pl_comm *comm, int tag)
{
    const struct pl_comm_tags *tags = &comm->coll.tags;
    int range = tag < PL_PERSISTENT_TAGS ? PL_NONBLOCKING_TAGS : PL_PERSISTENT_TAGS;
    const _Atomic uint32_t *next = range == PL_NONBLOCKING_TAGS ? &tags->started : &tags->made;
    return tag < PL_AGREE_TAGS && pl_comm_tag_behind(range, atomic_load_explicit(next, memory_order_acquire), tag) > 0;
}

/* Has a collective that waits until the nodes are known a reason to go on? Also when they never will be. */
static inline bool pl_comm_knows_nodes(const struct pl_comm *comm)
{
    return atomic_load_explicit(&comm->coll.hierarchy.search, memory_order_acquire) != PL_HIERARCHY_SOUGHT ||
           comm->health.failed;
}

/* An MPI_Comm_idup has ended alike on all members, as those before it. Engine lock held. */
static inline void pl_comm_note_idup(struct pl_comm *comm, uint32_t number)
{
    if (number == comm->coll.idups_ended + 1)
        comm->coll.idups_ended = number;
}

/* A communicator has been made from this one, after that many collectives and idups. Engine lock held. */
static inline void pl_comm_note_made(struct pl_comm *comm, uint32_t made)
{
    if ((int32_t)(made - atomic_load_explicit(&comm->coll.made, memory_order_relaxed)) > 0)
        atomic_store_explicit(&comm->coll.made, made, memory_order_relaxed);
}

/* A collective has ended in the area, or by the node hierarchy. One thread at a time does those of a communicator. */
static inline void pl_comm_count_area(struct pl_comm *comm)
{
    unsigned before = atomic_load_explicit(&comm->coll.area.count, memory_order_relaxed);
    atomic_store_explicit(&comm->coll.area.count, before + 1, memory_order_release);
}

/* A new id, for a communicator whose first member is this process. No two are ever the same. */
struct pl_comm_id pl_comm_new_id(void);

/* A second id that comes with each, and has the same home. */
static inline struct pl_comm_id pl_comm_second_id(struct pl_comm_id id)
{
    return (struct pl_comm_id){ id.home, id.serial | PL_SECOND_SERIAL };
}

/* Makes one of the World's communicators in static memory: it is never freed, so that objects that outlive the World
 * may still point at it. */
int pl_comm_create_predefined(struct pl_instance *instance, struct pl_group *group, struct pl_comm_id id,
                              struct pl_comm *comm);

/* Agrees on a new id among `group`, a part of `comm` that includes the caller: the group's first member chooses it.
 * `tag`, in the collectives' queues, distinguishes the call from others at the same time; with a user's tag, members of
 * `comm` that have failed do no harm outside the group. Collective over the group. */
int pl_comm_agree(struct pl_comm *comm, const struct pl_group *group, int tag, struct pl_comm_id *id);

/* Calls the attributes' delete callbacks and drops the user's handle. The object is destroyed once nothing uses it. */
int pl_comm_free(struct pl_comm *comm);

/* The instance closes while the user still holds the communicator: cancels its receives, deletes its attributes and
 * invalidates its handles. Sends go on. The caller holds a reference. */
void pl_comm_orphan(struct pl_comm *comm);

/* The error of starting a request of an orphaned communicator: MPI_ERR_REQUEST. */
PL_COLD int pl_comm_fail_orphan(void);

#endif
