/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As late.c, for collectives that are started: nonblocking and persistent ones, those of neighbors and those of
 * intercommunicators, all at once, each on a communicator of its own. One rank starts them late. The data is right, and
 * no communicator breaks.
 */
/* ranks: 4 5 */
/* sleeps: 14 */
#define LATE_LONG 6000
#include "late.h"

enum { KINDS = 19, CARTESIAN = KINDS_OF_ALL, INTER = 16, STARTS = 2 };
enum how { NONBLOCKING, PERSISTENT };

static int out[KINDS][RANKS_MAX * LONG];
static MPI_Comm comms[KINDS];

/* An intercommunicator of the even and the odd ranks. */
static void make_inter(MPI_Comm *inter)
{
    MPI_Comm half;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, inter));
    CHECK_OK(MPI_Comm_free(&half));
}

static void make_comms(void)
{
    int periodic = 1;
    for (int i = 0; i < KINDS; i++)
        if (i < CARTESIAN)
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        else if (i < INTER)
            CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comms[i]));
        else
            make_inter(&comms[i]);
}

/* Starts the collective of a kind, or makes one that is started later. */
#define BEGIN(nonblocking, persistent, ...)                                                                            \
    CHECK_OK(how == PERSISTENT ? persistent(__VA_ARGS__, comms[kind], MPI_INFO_NULL, request)                          \
                               : nonblocking(__VA_ARGS__, comms[kind], request))

static void begin(enum how how, int kind, int root, MPI_Request *request)
{
    int *to = out[kind], mine = counts[rank];
    const MPI_Datatype type = MPI_INT;
    switch (kind) {
    case 0:
        CHECK_OK(how == PERSISTENT ? MPI_Barrier_init(comms[kind], MPI_INFO_NULL, request)
                                   : MPI_Ibarrier(comms[kind], request));
        break;
    case 1: BEGIN(MPI_Ibcast, MPI_Bcast_init, rank == root ? in : to, LONG, type, root); break;
    case 2: BEGIN(MPI_Igather, MPI_Gather_init, in, LONG, type, to, LONG, type, root); break;
    case 3: BEGIN(MPI_Igatherv, MPI_Gatherv_init, in, mine, type, to, counts, places, type, root); break;
    case 4: BEGIN(MPI_Iscatter, MPI_Scatter_init, in, SHORT, type, to, SHORT, type, root); break;
    case 5: BEGIN(MPI_Iscatterv, MPI_Scatterv_init, in, counts, places, type, to, mine, type, root); break;
    case 6: BEGIN(MPI_Iallgatherv, MPI_Allgatherv_init, in, mine, type, to, counts, places, type); break;
    case 7: BEGIN(MPI_Ialltoall, MPI_Alltoall_init, in, LONG, type, to, LONG, type); break;
    case 8: BEGIN(MPI_Ireduce, MPI_Reduce_init, in, to, LONG, type, MPI_SUM, root); break;
    case 9: BEGIN(MPI_Iallreduce, MPI_Allreduce_init, in, to, LONG, type, MPI_SUM); break;
    case 10: BEGIN(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, in, to, counts, type, MPI_SUM); break;
    case 11: BEGIN(MPI_Iscan, MPI_Scan_init, in, to, LONG, type, MPI_SUM); break;
    case 12: BEGIN(MPI_Iexscan, MPI_Exscan_init, in, to, LONG, type, MPI_SUM); break;
    case 13: BEGIN(MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, in, LONG, type, to, LONG, type); break;
    case 14:
    case 15:
        BEGIN(MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, in, kind == 14 ? SHORT : LONG, type, to,
              kind == 14 ? SHORT : LONG, type);
        break;
    case 16: BEGIN(MPI_Iallreduce, MPI_Allreduce_init, in, to, LONG, type, MPI_SUM); break;
    case 17: BEGIN(MPI_Ialltoall, MPI_Alltoall_init, in, SHORT, type, to, SHORT, type); break;
    default: BEGIN(MPI_Iallgather, MPI_Allgather_init, in, LONG, type, to, LONG, type); break;
    }
}

/* The number of wrong values. */
static int wrong(int kind, int root)
{
    const int *at = out[kind], lower = (rank + size - 1) % size, higher = (rank + 1) % size, first = 1 - rank % 2;
    int others = (size + rank % 2) / 2;
    switch (kind) {
    case 13:
    case 15: return wrong_from(at, LONG, lower) + wrong_from(at + LONG, LONG, higher);
    case 14: return wrong_from(at, SHORT, lower) + wrong_from(at + SHORT, SHORT, higher);
    case 16: return wrong_from(at, LONG, first * others + others * (others - 1));
    case 17: return wrong_blocks(at, others, SHORT, first, 2);
    case 18: return wrong_blocks(at, others, LONG, first, 2);
    default: return wrong_of_all(kind, root, at, LONG);
    }
}

static void come(enum how how, int late)
{
    MPI_Request requests[KINDS];
    int root = (late + 1) % size;
    for (int kind = 0; kind < KINDS && how == PERSISTENT; kind++)
        begin(how, kind, root, &requests[kind]);
    for (int start = 0; start < STARTS; start++) {
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* no rank is early */
        sleep_if_late(late);
        memset(out, 0, sizeof out);
        if (how == PERSISTENT)
            CHECK_OK(MPI_Startall(KINDS, requests));
        for (int kind = 0; kind < KINDS && how == NONBLOCKING; kind++)
            begin(how, kind, root, &requests[kind]);
        CHECK_OK(MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE));
        for (int kind = 0; kind < KINDS; kind++)
            CHECK(wrong(kind, root) == 0);
    }
    for (int kind = 0; kind < KINDS && how == PERSISTENT; kind++)
        CHECK_OK(MPI_Request_free(&requests[kind]));
}

int main(int argc, char **argv)
{
    open_late(&argc, &argv);
    make_comms();
    for (int late = 0; late < size; late++)
        come(late % 2 ? PERSISTENT : NONBLOCKING, late);
    come(PERSISTENT, 0);
    for (int i = 0; i < KINDS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    MTEST_END;
}
