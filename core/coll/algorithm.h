/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the algorithms of collectives share. An algorithm is a function that appends the steps of one rank to a
 * schedule; each file of this folder holds those of one collective. Their choice (select.h) must follow from what all
 * ranks know alike: the kind, the number of ranks, the bytes, whether the operation commutes, MPI_IN_PLACE where the
 * standard demands it on all. It must not follow from a rank's own datatype.
 */
#ifndef PLENUM_CORE_COLL_ALGORITHM_H
#define PLENUM_CORE_COLL_ALGORITHM_H

#include "core/coll/collective.h"
#include "core/coll/schedule.h"
#include "core/datatype/cursor.h"

struct pl_algorithm {
    enum pl_coll_kind kind;
    const char *name;
    void (*append)(struct pl_schedule *schedule, const struct pl_coll *coll);
    bool (*fits)(const struct pl_coll *coll); /* can it do this call? NULL: any of its kind */
};

/* All algorithms, by the names that the configuration has for them (core/base/config.c). */
/* clang-format off */
#define PL_ALGORITHMS(X) \
    X(barrier_linear) X(barrier_recursive_doubling) X(barrier_dissemination) \
    X(bcast_binomial) X(bcast_scatter_allgather) X(bcast_chain) \
    X(gather_linear) X(gather_binomial) X(gatherv_linear) \
    X(scatter_linear) X(scatter_binomial) X(scatterv_linear) \
    X(allgather_linear) X(allgather_recursive_doubling) X(allgather_bruck) X(allgather_ring) \
    X(allgatherv_linear) X(allgatherv_bruck) X(allgatherv_ring) \
    X(alltoall_bruck) X(alltoall_pairwise) X(alltoall_linear) X(alltoall_exchange) \
    X(alltoallv_pairwise) X(alltoallv_linear) X(alltoallv_exchange) \
    X(alltoallw_pairwise) X(alltoallw_linear) X(alltoallw_exchange) \
    X(reduce_binomial) X(reduce_in_order) X(reduce_rabenseifner) X(reduce_chain) \
    X(allreduce_linear) X(allreduce_recursive_doubling) X(allreduce_ring) X(allreduce_rabenseifner) \
    X(allreduce_reduce_bcast) \
    X(reduce_scatter_block_recursive_halving) X(reduce_scatter_block_pairwise) X(reduce_scatter_block_in_order) \
    X(reduce_scatter_recursive_halving) X(reduce_scatter_pairwise) X(reduce_scatter_in_order) \
    X(scan_doubling) X(scan_linear) X(exscan_doubling) X(exscan_linear)
/* clang-format on */

#define PL_ALGORITHM_DECLARE(name) extern const struct pl_algorithm pl_##name;
PL_ALGORITHMS(PL_ALGORITHM_DECLARE)
#undef PL_ALGORITHM_DECLARE

/* A broadcast of more bytes is cut into parts: select.c decides it, and bcast.c derives how short a part may be. */
enum { PL_BCAST_WHOLE_MAX = 64 * 1024 };

/* The one algorithm of neighborhood collectives, which need the topology of the communicator (core/kinds.c). */
extern const struct pl_algorithm *const pl_coll_neighborhood;

/* The neighbors of this process in that topology; source [sources] may be MPI_PROC_NULL. Borrowed. */
struct pl_neighbors {
    int sources, destinations;
    const int *source;
};
extern struct pl_neighbors (*const pl_coll_neighbors)(const struct pl_comm *comm);

/* --- data ------------------------------------------------------------------------------------------------------ */

/* Does an argument list have counts for each rank? */
static inline bool pl_has_counts(struct pl_counts counts)
{
    return counts.narrow || counts.wide;
}

static inline size_t pl_counts_sum(struct pl_counts counts, int n)
{
    MPI_Count sum = 0;
    for (int i = 0; i < n; i++)
        sum += pl_count_at(counts, i);
    return (size_t)sum;
}

/* The block for a rank in scatter and alltoall, and from one in gather, allgather and alltoall; any form. */
struct pl_block pl_send_block(const struct pl_coll *coll, int rank);
struct pl_block pl_recv_block(const struct pl_coll *coll, int rank);

/* A rank's whole contribution, and its whole result. */
static inline struct pl_block pl_coll_sent(const struct pl_coll *coll)
{
    return pl_block(coll->sendbuf, coll->sendcount, coll->sendtype);
}
static inline struct pl_block pl_coll_received(const struct pl_coll *coll)
{
    return pl_block(coll->recvbuf, coll->recvcount, coll->recvtype);
}

/* This rank's operand of a reduction, which with MPI_IN_PLACE the result replaces. */
static inline struct pl_block pl_coll_input(const struct pl_coll *coll, MPI_Count count)
{
    return pl_block(coll->sendbuf == MPI_IN_PLACE ? coll->recvbuf : coll->sendbuf, count, coll->recvtype);
}

static inline bool pl_coll_in_place(const struct pl_coll *coll)
{
    return coll->sendbuf == MPI_IN_PLACE;
}

/* `n` packed blocks of `each` bytes, from the one at index i of a table on. */
static inline struct pl_block pl_packed(const void *table, size_t each, int i, int n)
{
    return pl_block_bytes(pl_address(table, (MPI_Aint)((size_t)i * each)), (size_t)n * each);
}

/* Sends the same data to all other ranks, beginning with the next one: not all ranks to the same one first. */
static inline void pl_append_to_all(struct pl_schedule *schedule, const struct pl_comm *comm, struct pl_block data)
{
    for (int i = 1; i < comm->size; i++)
        pl_schedule_send(schedule, data, (comm->rank + i) % comm->size);
}

/* --- numbering ------------------------------------------------------------------------------------------------- */

/* Ranks numbered from a root, which is 0, and back. */
static inline int pl_rank_from(int root, int rank, int size)
{
    return (rank - root + size) % size;
}
static inline int pl_rank_back(int root, int virtual, int size)
{
    return (virtual + root) % size;
}

/* The largest power of two that is not above n (n > 0). */
static inline int pl_power_below(int n)
{
    return 1 << (31 - __builtin_clz((unsigned)n));
}

/*
 * A power of two of ranks for algorithms that need one. The first 2 * extra ranks merge in pairs of neighbours. The
 * lower one, or `root` if it is in the pair, goes on for both; the order of contributions is kept. The ranks that go on
 * are numbered from 0 in the order of their ranks.
 */
struct pl_fold {
    int size;    /* ranks that go on: a power of two */
    int extra;   /* pairs */
    int root;    /* a rank that must go on; -1: none */
    int rank;    /* this one's number; -1: its partner goes on */
    int partner; /* the other rank of its pair; -1: it has none */
};
struct pl_fold pl_fold_make(int rank, int size, int root);
int pl_fold_real(const struct pl_fold *fold, int number); /* from number to rank */

/* --- reductions ------------------------------------------------------------------------------------------------ */

/*
 * A partial result, and memory for the next operand. A merge combines the two in the order of the ranks, which matters
 * when the operation does not commute. It may swap them: the result is in `value`.
 */
struct pl_partial {
    struct pl_block value, operand;
};

/* Memory for an operand of this call; none for a single rank, which receives nothing. */
struct pl_block pl_partial_operand(struct pl_schedule *schedule, const struct pl_coll *coll);

/* Starts with this rank's input, copied into its result buffer. */
struct pl_partial pl_partial_make(struct pl_schedule *schedule, const struct pl_coll *coll, void *result);

/* value = operand op value; value = value op operand. */
void pl_partial_merge_left(struct pl_schedule *schedule, const struct pl_op *op, struct pl_partial *partial);
void pl_partial_merge_right(struct pl_schedule *schedule, const struct pl_op *op, struct pl_partial *partial);

/* The two directions of a fold: before, the pair merges in the rank that goes on; after, its partner gets the
 * result. */
void pl_fold_in(struct pl_schedule *schedule, const struct pl_fold *fold, const struct pl_op *op,
                struct pl_partial *partial);
void pl_fold_out(struct pl_schedule *schedule, const struct pl_fold *fold, struct pl_block result);

/* Where n nearly equal parts of a vector begin: [n + 1]. Owned by the schedule; NULL: it is broken. */
MPI_Count *pl_parts_make(struct pl_schedule *schedule, MPI_Count count, int n);
static inline struct pl_block pl_part(struct pl_block whole, const MPI_Count *parts, int from, int to)
{
    return pl_block_slice(whole, parts[from], parts[to] - parts[from]);
}

/* A vector in segments of nearly equal length, so that the reduction of one overlaps the transfer of the next; each
 * costs a message. Sender and receiver cut alike, by what both know: the count and the size of an element. */
int pl_segments(struct pl_block block);
struct pl_block pl_segment(struct pl_block block, int i, int n);

/*
 * Operations that commute spare a copy of the input: what is received first goes into `value`, and the input is
 * combined with it there. Until then this rank's operand is at `mine`, and afterwards in `value`.
 */

/* Where the operand is at the beginning: in `value` with MPI_IN_PLACE, and for a single rank. */
const void *pl_partial_mine(struct pl_schedule *schedule, const struct pl_coll *coll, const struct pl_partial *partial);

/* A part to send, and another one to receive, which is combined with this rank's operand. Either may be empty. */
struct pl_reduce_exchange {
    struct pl_block out;
    int dest, source;
    struct pl_block inout; /* the result of what is received and `mine` */
    const void *mine;
    void *operand; /* receives the part where `mine` is `inout` itself; else unused */
};

/* Exchanges and combines in segments, so that one is combined while the next one is under way. */
void pl_exchange_reduce(struct pl_schedule *schedule, const struct pl_op *op,
                        const struct pl_reduce_exchange *exchange);

/* pl_fold_in(), in segments. Returns where the operand is then. */
const void *pl_fold_in_segments(struct pl_schedule *schedule, const struct pl_fold *fold, const struct pl_op *op,
                                const struct pl_partial *partial, const void *mine);

/* Recursive halving over the ranks that go on: afterwards number i has part i of the reduction of all operands in
 * `partial.value`, and only that part is valid. Recursive doubling, its inverse: part i of number i goes to all. */
void pl_append_halving(struct pl_schedule *schedule, const struct pl_fold *fold, const struct pl_op *op,
                       const struct pl_partial *partial, const void *mine, const MPI_Count *parts);
void pl_append_doubling(struct pl_schedule *schedule, const struct pl_fold *fold, struct pl_block whole,
                        const MPI_Count *parts);

/* What algorithms need: an operation that commutes; a power of two of ranks. */
bool pl_coll_commutes(const struct pl_coll *coll);
bool pl_coll_is_power(const struct pl_coll *coll);

/* Is it a reduction whose bits depend on the order of its operands? Then equal calls must use equal algorithms. */
bool pl_coll_depends_on_order(const struct pl_coll *coll);

#endif
