/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of api/coll_fast.h: what the fast path of a collective accepts, its worker accepts, and both run the
 * same collective. Both see the same arguments here, valid ones of which some are replaced at random, often by edge
 * values.
 *
 * The program holds its own copy of api/coll.c, by which a worker notes the collective instead of running it.
 */
#include "fakes.h"

#include <limits.h>

#include "api/coll_fast.h"
#include "api/coll_move.h"
#include "api/coll_reduce.h"

static struct pl_coll noted; /* what the worker would run */
static int notes;

static int note_coll(const struct pl_coll *coll)
{
    noted = *coll;
    notes++;
    return pl_coll_can(coll->comm) ? MPI_SUCCESS : MPI_ERR_OTHER; /* as the real one */
}

static int note_error(struct pl_call *call)
{
    return call->err;
}

#define pl_coll_run  note_coll
#define pl_call_fail note_error
#include "api/coll.c"
#undef pl_coll_run
#undef pl_call_fail

enum { RANKS_MAX = 8, MEMORY = 1 << 18, ROUNDS = 60000 };

static unsigned char memory[MEMORY];
static uint64_t state = 4711;
static MPI_Datatype types[16];
static MPI_Op ops[12];
static int type_count, op_count, derived; /* types from `derived` on are derived ones */

struct blocks {
    bool wide;
    struct pl_counts counts;
    struct pl_displs displs;
    int narrow[RANKS_MAX], narrow_displs[RANKS_MAX];
    MPI_Count wide_counts[RANKS_MAX];
    MPI_Aint wide_displs[RANKS_MAX];
};

static struct arguments {
    MPI_Comm comm;
    struct pl_comm *known; /* behind `comm` before it was replaced */
    int root;
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    MPI_Datatype sendtype, recvtype;
    struct blocks send, recv;
    MPI_Op op;
} arg;

static bool one_in(int n)
{
    return unit_below(&state, n) == 0;
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

static void make_objects(void)
{
    static const MPI_Datatype basic[] = { MPI_BYTE,          MPI_CHAR,       MPI_SHORT,     MPI_INT,
                                          MPI_DOUBLE,        MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE,
                                          MPI_DATATYPE_NULL, (MPI_Datatype)8 };
    static const MPI_Op predefined[] = { MPI_SUM,   MPI_MAX,  MPI_BAND,    MPI_MINLOC, MPI_REPLACE,
                                         MPI_NO_OP, MPI_LAND, MPI_OP_NULL, (MPI_Op)8 };
    for (size_t i = 0; i < sizeof basic / sizeof basic[0]; i++)
        types[type_count++] = basic[i];
    derived = type_count;
    ck_assert_int_eq(MPI_Type_contiguous(3, MPI_INT, &types[type_count++]), MPI_SUCCESS); /* not committed */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(i ? MPI_Type_vector(2, 1, 3, MPI_INT, &types[type_count])
                           : MPI_Type_contiguous(2, MPI_DOUBLE, &types[type_count]),
                         MPI_SUCCESS);
        ck_assert_int_eq(MPI_Type_commit(&types[type_count++]), MPI_SUCCESS);
    }
    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        ops[op_count++] = predefined[i];
}

static void free_objects(void)
{
    while (type_count > derived)
        ck_assert_int_eq(MPI_Type_free(&types[--type_count]), MPI_SUCCESS);
}

/* Lengths around 0, 48 (a slot), 4096 (short), and those that overflow. */
static MPI_Count random_count(void)
{
    static const MPI_Count edges[] = { -1,  0,    1,    2,    6,       7,       64,        511,       512,
                                       513, 1024, 4095, 4096, INT_MAX, INT_MIN, 1LL << 32, LLONG_MAX, LLONG_MIN };
    return edges[unit_below(&state, (int)(sizeof edges / sizeof edges[0]))];
}

static void *random_address(void)
{
    switch (unit_below(&state, 6)) {
    case 0: return NULL;
    case 1: return MPI_IN_PLACE;
    case 2: return (void *)arg.sendbuf;
    case 3: return arg.recvbuf;
    case 4: return (void *)((uintptr_t)arg.recvbuf + (uintptr_t)unit_below(&state, 64) - 32); /* may overlap */
    default: return memory + unit_below(&state, MEMORY);
    }
}

static void set_blocks(struct blocks *blocks, bool replaced)
{
    blocks->counts = blocks->wide ? PL_COUNTS_C(blocks->wide_counts) : PL_COUNTS(blocks->narrow);
    blocks->displs = blocks->wide ? PL_DISPLS_C(blocks->wide_displs) : PL_DISPLS(blocks->narrow_displs);
    if (replaced && one_in(4))
        blocks->counts = (struct pl_counts){ NULL, NULL };
    if (replaced && one_in(4))
        blocks->displs = (struct pl_displs){ NULL, NULL };
}

static void put_block(struct blocks *blocks, int i, MPI_Count count, MPI_Aint displ)
{
    blocks->narrow[i] = (int)count;
    blocks->wide_counts[i] = count;
    blocks->narrow_displs[i] = (int)displ;
    blocks->wide_displs[i] = displ;
}

/* A block of up to `count` elements for each rank, one after the other; that of `own` has all. */
static void fill_blocks(struct blocks *blocks, MPI_Count count, bool alike, int own)
{
    blocks->wide = one_in(2);
    for (int i = 0; i < RANKS_MAX; i++)
        put_block(blocks, i, alike || i == own ? count : unit_below(&state, (int)count + 1), i * count);
    set_blocks(blocks, false);
}

static void make_valid(struct pl_comm *comm)
{
    static const MPI_Datatype good[] = { MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE };
    bool alike = one_in(2);
    comm->size = 2 + unit_below(&state, RANKS_MAX - 1);
    comm->rank = unit_below(&state, comm->size);
    comm->coll.area.kinds = (1u << PL_COLL_KINDS) - 1;
    comm->coll.unlike = 0;
    comm->health.failed = 0;
    comm->inter.remote = NULL;
    arg.comm = (MPI_Comm)comm;
    arg.known = comm;
    arg.root = one_in(2) ? comm->rank : unit_below(&state, comm->size);
    arg.sendbuf = memory;
    arg.recvbuf = memory + MEMORY / 2;
    arg.sendcount = arg.recvcount = 1 + unit_below(&state, one_in(2) ? 8 : 256);
    arg.sendtype = arg.recvtype = good[unit_below(&state, 4)];
    arg.op = MPI_MAX;
    fill_blocks(&arg.send, arg.sendcount, alike, comm->rank);
    fill_blocks(&arg.recv, arg.recvcount, alike, comm->rank);
}

static void replace_block(struct blocks *blocks)
{
    put_block(blocks, unit_below(&state, RANKS_MAX), random_count(), unit_below(&state, 1024) - 512);
    set_blocks(blocks, one_in(4));
}

static void replace_comm(struct pl_comm *comm)
{
    static struct pl_group remote = { .size = 3 };
    switch (unit_below(&state, 6)) {
    case 0: arg.comm = MPI_COMM_NULL; break;
    case 1: arg.comm = (MPI_Comm)MPI_INT; break;
    case 2: comm->coll.area.kinds = (uint32_t)unit_random(&state); break;
    case 3: comm->coll.unlike = 1; break;
    case 4: comm->health.failed = 1; break;
    default: comm->inter.remote = &remote;
    }
    if (comm->inter.remote)
        comm->coll.area.kinds = 0; /* an intercommunicator has no area */
}

static void replace_one(struct pl_comm *comm)
{
    static const int roots[] = { -1, 0, 1, RANKS_MAX, INT_MAX, INT_MIN, MPI_ROOT, MPI_PROC_NULL };
    switch (unit_below(&state, 11)) {
    case 0: arg.sendbuf = random_address(); break;
    case 1: arg.recvbuf = random_address(); break;
    case 2: arg.sendcount = random_count(); break;
    case 3: arg.recvcount = random_count(); break;
    case 4: arg.sendcount = arg.recvcount = random_count(); break;
    case 5: arg.sendtype = types[unit_below(&state, type_count)]; break;
    case 6: arg.recvtype = types[unit_below(&state, type_count)]; break;
    case 7: arg.root = roots[unit_below(&state, (int)(sizeof roots / sizeof roots[0]))]; break;
    case 8: arg.op = ops[unit_below(&state, op_count)]; break;
    case 9: replace_block(one_in(2) ? &arg.send : &arg.recv); break;
    default: replace_comm(comm);
    }
}

/* --- both checkers ------------------------------------------------------------------------------------------------ */

#define SENT      arg.sendbuf, arg.sendcount, arg.sendtype
#define RECEIVED  arg.recvbuf, arg.recvcount, arg.recvtype
#define SENT_EACH arg.sendbuf, arg.send.counts, arg.send.displs, arg.sendtype
#define RECV_EACH arg.recvbuf, arg.recv.counts, arg.recv.displs, arg.recvtype
#define REDUCTION arg.sendbuf, arg.recvbuf, arg.recvcount, arg.recvtype, arg.op

/* An operation: its kind and name, and the arguments of both functions between the first and the last. */
#define OPERATIONS(X)                                                                                                  \
    X(PL_COLL_BARRIER, barrier, arg.comm)                                                                              \
    X(PL_COLL_BCAST, bcast, RECEIVED, arg.root, arg.comm)                                                              \
    X(PL_COLL_GATHER, gather, SENT, RECEIVED, arg.root, arg.comm)                                                      \
    X(PL_COLL_GATHERV, gatherv, SENT, RECV_EACH, arg.root, arg.comm)                                                   \
    X(PL_COLL_SCATTER, scatter, SENT, RECEIVED, arg.root, arg.comm)                                                    \
    X(PL_COLL_SCATTERV, scatterv, SENT_EACH, RECEIVED, arg.root, arg.comm)                                             \
    X(PL_COLL_ALLGATHER, allgather, SENT, RECEIVED, arg.comm)                                                          \
    X(PL_COLL_ALLGATHERV, allgatherv, SENT, RECV_EACH, arg.comm)                                                       \
    X(PL_COLL_ALLTOALL, alltoall, SENT, RECEIVED, arg.comm)                                                            \
    X(PL_COLL_ALLTOALLV, alltoallv, SENT_EACH, RECV_EACH, arg.comm)                                                    \
    X(PL_COLL_REDUCE, reduce, REDUCTION, arg.root, arg.comm)                                                           \
    X(PL_COLL_ALLREDUCE, reduction, PL_COLL_ALLREDUCE, REDUCTION, arg.comm)                                            \
    X(PL_COLL_REDUCE_SCATTER_BLOCK, reduce_scatter_block, REDUCTION, arg.comm)                                         \
    X(PL_COLL_REDUCE_SCATTER, reduce_scatter, arg.sendbuf, arg.recvbuf, arg.recv.counts, arg.recvtype, arg.op,         \
      arg.comm)                                                                                                        \
    X(PL_COLL_SCAN, reduction, PL_COLL_SCAN, REDUCTION, arg.comm)                                                      \
    X(PL_COLL_EXSCAN, reduction, PL_COLL_EXSCAN, REDUCTION, arg.comm)

static bool accept_fast(enum pl_coll_kind kind, struct pl_coll *coll, size_t *bytes)
{
    switch (kind) {
#define FAST(kind, name, ...)                                                                                          \
    case kind: return pl_fast_##name(coll, __VA_ARGS__, bytes);
        OPERATIONS(FAST)
    default: ck_abort_msg("no such kind");
    }
}

static int accept_worker(enum pl_coll_kind kind)
{
    struct pl_call call = { .function = "worker" };
    switch (kind) {
#define WORKER(kind, name, ...)                                                                                        \
    case kind: return pl_do_##name(&call, __VA_ARGS__, PL_RUN);
        OPERATIONS(WORKER)
    default: ck_abort_msg("no such kind");
    }
}

/* --- the contract ------------------------------------------------------------------------------------------------- */

static bool same_counts(struct pl_counts a, struct pl_counts b)
{
    return a.narrow == b.narrow && a.wide == b.wide;
}

static bool same_displs(struct pl_displs a, struct pl_displs b)
{
    return a.narrow == b.narrow && a.wide == b.wide;
}

/* The receive buffer of the first rank of an exscan is not significant. */
static bool same_collective(const struct pl_coll *fast, const struct pl_coll *worker)
{
    bool receives = fast->kind != PL_COLL_EXSCAN || fast->comm->rank != 0;
    return fast->kind == worker->kind && fast->comm == worker->comm && fast->root == worker->root &&
           fast->sendbuf == worker->sendbuf && (!receives || fast->recvbuf == worker->recvbuf) &&
           fast->sendcount == worker->sendcount && fast->sendtype == worker->sendtype &&
           (fast->kind == PL_COLL_REDUCE_SCATTER || fast->recvcount == worker->recvcount) &&
           fast->recvtype == worker->recvtype && fast->op == worker->op &&
           same_counts(fast->sendcounts, worker->sendcounts) && same_counts(fast->recvcounts, worker->recvcounts) &&
           same_displs(fast->senddispls, worker->senddispls) && same_displs(fast->recvdispls, worker->recvdispls);
}

/* True: the fast path accepts the arguments. */
static bool check_contract(enum pl_coll_kind kind, int round)
{
    struct pl_coll fast = { 0 };
    size_t bytes = SIZE_MAX;
    bool accepted = accept_fast(kind, &fast, &bytes);
    notes = 0;
    int error = accept_worker(kind);
    if (!accepted)
        return false;
    if (error || notes != 1)
        ck_abort_msg("kind %d, round %d: only the fast path accepts the arguments, the worker says %s", (int)kind,
                     round, fake_string(error));
    if (!same_collective(&fast, &noted))
        ck_abort_msg("kind %d, round %d: the fast path and the worker run different collectives", (int)kind, round);
    if (bytes > PL_AREA_SHORT || bytes != pl_area_bytes(&noted))
        ck_abort_msg("kind %d, round %d: %zu bytes for the fast path, %zu for the worker", (int)kind, round, bytes,
                     pl_area_bytes(&noted));
    return true;
}

START_TEST(subset_of_worker)
{
    enum pl_coll_kind kind = (enum pl_coll_kind)_i;
    int accepted[4] = { 0 };
    if (kind == PL_COLL_ALLTOALLW) /* it has no fast path */
        return;
    fake_returning_errors();
    make_objects();
    struct pl_comm *comm = fake_comm("ocean", 0, 2);
    for (int round = 0; round < ROUNDS; round++) {
        int replaced = round % 4;
        make_valid(comm);
        for (int i = 0; i < replaced; i++)
            replace_one(comm);
        accepted[replaced] += check_contract(kind, round);
    }
    /* The fast path is for the common arguments, and the replaced ones are often wrong. */
    ck_assert_int_gt(accepted[0], ROUNDS / 4 / 3);
    ck_assert_int_gt(accepted[1], accepted[3]);
    ck_assert_int_gt(accepted[3], 0);
    ck_assert_int_lt(accepted[3], ROUNDS / 4 * 9 / 10);
    comm->inter.remote = NULL;
    fake_comm_free(comm);
    free_objects();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coll_fast");
    tcase_add_loop_test(unit_case(suite), subset_of_worker, 0, PL_COLL_KINDS);
    return unit_end(suite);
}
