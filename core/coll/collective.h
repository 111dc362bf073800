/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. Each algorithm is written once, as a schedule (schedule.h); the blocking, the nonblocking and the
 * persistent form of an operation run the same one. The caller has checked the arguments.
 */
#ifndef PLENUM_CORE_COLL_COLLECTIVE_H
#define PLENUM_CORE_COLL_COLLECTIVE_H

#include "core/base/compiler.h"
#include "core/base/counts.h"
#include "core/datatype/datatype.h"
#include "core/datatype/op.h"
#include "core/engine/comm.h"

struct pl_block;
struct pl_request;
struct pl_schedule;

enum pl_coll_kind {
    PL_COLL_BARRIER,
    PL_COLL_BCAST,
    PL_COLL_GATHER,
    PL_COLL_GATHERV,
    PL_COLL_SCATTER,
    PL_COLL_SCATTERV,
    PL_COLL_ALLGATHER,
    PL_COLL_ALLGATHERV,
    PL_COLL_ALLTOALL,
    PL_COLL_ALLTOALLV,
    PL_COLL_ALLTOALLW,
    PL_COLL_REDUCE,
    PL_COLL_ALLREDUCE,
    PL_COLL_REDUCE_SCATTER_BLOCK,
    PL_COLL_REDUCE_SCATTER,
    PL_COLL_SCAN,
    PL_COLL_EXSCAN,
    PL_COLL_KINDS, /* those with a choice of algorithms; neighborhood collectives have none */
    PL_COLL_NEIGHBOR_ALLGATHER = PL_COLL_KINDS,
    PL_COLL_NEIGHBOR_ALLGATHERV,
    PL_COLL_NEIGHBOR_ALLTOALL,
    PL_COLL_NEIGHBOR_ALLTOALLV,
    PL_COLL_NEIGHBOR_ALLTOALLW,
};

/*
 * The arguments of a collective: those of the public function, of which each kind uses its own. MPI_IN_PLACE, and
 * MPI_ROOT and MPI_PROC_NULL as root, mean the same as there. bcast uses recvbuf; reductions have the datatype and
 * count in recvtype and recvcount. All borrowed until the schedule is made.
 */
struct pl_coll {
    enum pl_coll_kind kind;
    struct pl_comm *comm;
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    const struct pl_type *sendtype, *recvtype;
    int root;
    const struct pl_op *op;
    /* For the v and w kinds: [comm size], in a neighborhood [outdegree] and [indegree]. */
    struct pl_counts sendcounts, recvcounts;
    struct pl_displs senddispls, recvdispls;
    const MPI_Datatype *sendtypes, *recvtypes; /* for alltoallw: committed */
    /* For alltoallv and alltoallw, instead of all these, where they may be gone: [comm size] */
    const struct pl_block *sendblocks, *recvblocks;
};

/* Is this process the root of a rooted collective? */
static inline bool pl_coll_is_root(const struct pl_comm *comm, int root)
{
    return pl_comm_is_inter(comm) ? root == MPI_ROOT : root == comm->rank;
}

/* Blocking: does it. Nonblocking: starts it. Persistent: makes a request, which request->coll.restart() starts; once:
 * the same for a nonblocking one. MPI error class; *request has one handle. */
int pl_coll_run(const struct pl_coll *coll);
int pl_coll_start(const struct pl_coll *coll, struct pl_request **request);
int pl_coll_prepare(const struct pl_coll *coll, struct pl_request **request);
int pl_coll_prepare_once(const struct pl_coll *coll, struct pl_request **request);

/* Starts messages of the library's own among all ranks, which this collective waits for: `append` appends them. No
 * request is left. */
int pl_coll_start_own(const struct pl_coll *coll, void (*append)(struct pl_schedule *schedule));

/* pl_coll_start() in the checking mode (agree.h), for this function of the user's. */
int pl_coll_start_agreed(const struct pl_coll *coll, const char *function, struct pl_request **request);

/* Can the communicator do collectives? MPI_ERR_OTHER when a member is known to have other settings for them than this
 * process; MPI_ERR_PROC_ABORTED when a member has died, since others may have given up in the middle of one. */
int pl_coll_check(const struct pl_comm *comm);
static inline bool pl_coll_can(const struct pl_comm *comm) /* the same without recording an error */
{
    return pl_likely(!comm->coll.unlike && !comm->health.failed);
}

/* What a blocking collective tries, in this order, before it makes a schedule (core/kinds.c). False: not for this one.
 * True: it is done, and *rc is its result. */
typedef bool pl_coll_shortcut(const struct pl_coll *coll, int *rc);
enum { PL_COLL_SHORTCUTS = 3 };
extern pl_coll_shortcut *const pl_coll_shortcuts[PL_COLL_SHORTCUTS];

/* Appends a nonblocking or persistent collective that does not, or may not, go by messages among all ranks. False: it
 * does. */
extern bool (*const pl_coll_append_by_nodes)(struct pl_schedule *schedule, const struct pl_coll *coll);

/* For the engine (core/engine/client.h): a member has these settings; a message of a collective was too long. */
void pl_coll_compare(struct pl_comm *comm, int rank, uint32_t settings);
int pl_coll_truncated(const struct pl_request *request);

/* MPI_ERR_TRUNCATE, recorded: a rank gives more or other bytes than this one expects. */
int pl_coll_fail_amount(int rank, size_t given, size_t expected);

/* Appends the collective by the algorithm for it (select.h). In a reduction all ranks give the same amount, and that
 * selects the algorithm: a wrong one of at least PL_CUT_REDUCTION bytes may mean another algorithm. */
enum { PL_CUT_REDUCTION = 256 };
void pl_coll_append(struct pl_schedule *schedule, const struct pl_coll *coll);

/* After that, where the amount decides what the ranks wait for: breaks the communicator for all. Lock not held. */
PL_COLD void pl_coll_tell_amounts(struct pl_comm *comm);

/* An area is made that many collectives later than in other communicators. Collective, before the first one. */
static inline void pl_coll_delay_area(struct pl_comm *comm, int collectives)
{
    comm->coll.area.wanted = -collectives;
}

/* The communicator has its last collectives, which do not repay making an area or a hierarchy. Collective. */
static inline void pl_coll_make_do(struct pl_comm *comm)
{
    comm->coll.area.none = comm->coll.hierarchy.none = true; /* those that there are stay in use */
}

/* For the library itself, on intracommunicators; pl_allgather() also between the groups of an intercommunicator. */
int pl_barrier(struct pl_comm *comm);
int pl_bcast(struct pl_comm *comm, void *buf, MPI_Count count, const struct pl_type *type, int root);
int pl_gather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
              void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype, int root);
int pl_allgather(struct pl_comm *comm, const void *sendbuf, MPI_Count sendcount, const struct pl_type *sendtype,
                 void *recvbuf, MPI_Count recvcount, const struct pl_type *recvtype);
int pl_allreduce(struct pl_comm *comm, const void *sendbuf, void *recvbuf, MPI_Count count, const struct pl_type *type,
                 const struct pl_op *op);

#endif
