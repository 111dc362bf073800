/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 */
/* Collectives with arrays of which the middle element is bad, in all their forms: see elements.h. */
#include "elements.h"

enum { MOST = 16 };

static int n; /* the elements of the arrays */

static int sc[MOST], rc[MOST], sd[MOST], rd[MOST], from[4 * MOST], to[4 * MOST];
static MPI_Count sc_c[MOST], rc_c[MOST];
static MPI_Aint sd_c[MOST], rd_c[MOST];
static MPI_Datatype st[MOST], rt[MOST];

enum which { SENDCOUNTS, RECVCOUNTS, SENDTYPES, RECVTYPES };

static void arrange(enum which which, int bad)
{
    for (int i = 0; i < n; i++) {
        sc[i] = rc[i] = 1;
        sc_c[i] = rc_c[i] = 1;
        sd[i] = rd[i] = (int)sizeof(int) * i;
        sd_c[i] = rd_c[i] = sd[i];
        st[i] = rt[i] = MPI_INT;
    }
    if (bad && which == SENDCOUNTS)
        sc[mid] = -3, sc_c[mid] = -3;
    if (bad && which == RECVCOUNTS)
        rc[mid] = -3, rc_c[mid] = -3;
    if (bad && which == SENDTYPES)
        st[mid] = MPI_DATATYPE_NULL;
    if (bad && which == RECVTYPES)
        rt[mid] = MPI_DATATYPE_NULL;
}

enum { RUN, START, PREPARE, RUN_C, START_C, PREPARE_C, FORMS };

static int end_started(int code, MPI_Request request)
{
    CHECK(code == MPI_SUCCESS || request == MPI_REQUEST_NULL);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int end_prepared(int code, MPI_Request request)
{
    CHECK(code == MPI_SUCCESS || request == MPI_REQUEST_NULL);
    return code ? code : MPI_Request_free(&request);
}

/* An operation in all its forms; the arguments are in parentheses. */
#define LIST(...) __VA_ARGS__
#define OPERATION(name, Name, Iname, ints, counts)                                                                     \
    static int name(int form)                                                                                          \
    {                                                                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        int code = MPI_SUCCESS;                                                                                        \
        switch (form) {                                                                                                \
        case RUN: return MPI_##Name(LIST ints, comm);                                                                  \
        case RUN_C: return MPI_##Name##_c(LIST counts, comm);                                                          \
        case START: code = MPI_##Iname(LIST ints, comm, &request); return end_started(code, request);                  \
        case START_C: code = MPI_##Iname##_c(LIST counts, comm, &request); return end_started(code, request);          \
        case PREPARE:                                                                                                  \
            code = MPI_##Name##_init(LIST ints, comm, MPI_INFO_NULL, &request);                                        \
            return end_prepared(code, request);                                                                        \
        default:                                                                                                       \
            code = MPI_##Name##_init_c(LIST counts, comm, MPI_INFO_NULL, &request);                                    \
            return end_prepared(code, request);                                                                        \
        }                                                                                                              \
    }
OPERATION(gatherv, Gatherv, Igatherv, (from, 1, MPI_INT, to, rc, rd, MPI_INT, 0),
          (from, 1, MPI_INT, to, rc_c, rd_c, MPI_INT, 0))
OPERATION(scatterv, Scatterv, Iscatterv, (from, sc, sd, MPI_INT, to, 1, MPI_INT, 0),
          (from, sc_c, sd_c, MPI_INT, to, 1, MPI_INT, 0))
OPERATION(allgatherv, Allgatherv, Iallgatherv, (from, 1, MPI_INT, to, rc, rd, MPI_INT),
          (from, 1, MPI_INT, to, rc_c, rd_c, MPI_INT))
OPERATION(alltoallv, Alltoallv, Ialltoallv, (from, sc, sd, MPI_INT, to, rc, rd, MPI_INT),
          (from, sc_c, sd_c, MPI_INT, to, rc_c, rd_c, MPI_INT))
OPERATION(alltoallw, Alltoallw, Ialltoallw, (from, sc, sd, st, to, rc, rd, rt),
          (from, sc_c, sd_c, st, to, rc_c, rd_c, rt))
OPERATION(reduce_scatter, Reduce_scatter, Ireduce_scatter, (from, to, rc, MPI_INT, MPI_SUM),
          (from, to, rc_c, MPI_INT, MPI_SUM))
OPERATION(near_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, (from, 1, MPI_INT, to, rc, rd, MPI_INT),
          (from, 1, MPI_INT, to, rc_c, rd_c, MPI_INT))
OPERATION(near_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, (from, sc, sd, MPI_INT, to, rc, rd, MPI_INT),
          (from, sc_c, sd_c, MPI_INT, to, rc_c, rd_c, MPI_INT))
OPERATION(near_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, (from, sc, sd_c, st, to, rc, rd_c, rt),
          (from, sc_c, sd_c, st, to, rc_c, rd_c, rt))

struct operation {
    const char *name;
    int (*call)(int form);
    enum which which;
    int class;
    const char *says;
    int at_root; /* the array is significant at the root alone, which finds the error before it communicates */
};

static void check_operation(const struct operation *op)
{
    for (int form = 0; form < FORMS; form++) {
        unsigned long before[LEVELS], after[LEVELS];
        for (int i = 0; i < 2; i++) {
            arrange(op->which, 0);
            mtest_check_code(op->call(form), MPI_SUCCESS, __FILE__, __LINE__, op->name);
        }
        arrange(op->which, 1);
        read_levels(before);
        for (int i = 0; i < ROUNDS && (!op->at_root || mtest_rank == 0); i++)
            check_error(op->name, op->call(form), op->class, op->says);
        read_levels(after);
        mtest_check(memcmp(before, after, sizeof before) == 0, __FILE__, __LINE__, op->name,
                    "objects are made or lost");
    }
}

static void check_collectives(void)
{
    static const struct operation all[] = {
        { "MPI_Gatherv", gatherv, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 1 },
        { "MPI_Scatterv", scatterv, SENDCOUNTS, MPI_ERR_COUNT, "sendcounts[%d] is -3", 1 },
        { "MPI_Allgatherv", allgatherv, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
        { "MPI_Alltoallv", alltoallv, SENDCOUNTS, MPI_ERR_COUNT, "sendcounts[%d] is -3", 0 },
        { "MPI_Alltoallv", alltoallv, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
        { "MPI_Alltoallw", alltoallw, SENDCOUNTS, MPI_ERR_COUNT, "sendcounts[%d] is -3", 0 },
        { "MPI_Alltoallw", alltoallw, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
        { "MPI_Alltoallw", alltoallw, SENDTYPES, MPI_ERR_TYPE, "sendtypes[%d]: datatype is MPI_DATATYPE_NULL", 0 },
        { "MPI_Alltoallw", alltoallw, RECVTYPES, MPI_ERR_TYPE, "recvtypes[%d]: datatype is MPI_DATATYPE_NULL", 0 },
        { "MPI_Reduce_scatter", reduce_scatter, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
    };
    n = mtest_size;
    mid = n / 2;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_operation(&all[i]);
}

/* Each process has itself as a neighbor three times. */
static void check_neighbors(void)
{
    static const struct operation all[] = {
        { "MPI_Neighbor_allgatherv", near_allgatherv, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
        { "MPI_Neighbor_alltoallv", near_alltoallv, SENDCOUNTS, MPI_ERR_COUNT, "sendcounts[%d] is -3", 0 },
        { "MPI_Neighbor_alltoallv", near_alltoallv, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
        { "MPI_Neighbor_alltoallw", near_alltoallw, SENDCOUNTS, MPI_ERR_COUNT, "sendcounts[%d] is -3", 0 },
        { "MPI_Neighbor_alltoallw", near_alltoallw, RECVCOUNTS, MPI_ERR_COUNT, "recvcounts[%d] is -3", 0 },
        { "MPI_Neighbor_alltoallw", near_alltoallw, SENDTYPES, MPI_ERR_TYPE,
          "sendtypes[%d]: datatype is MPI_DATATYPE_NULL", 0 },
        { "MPI_Neighbor_alltoallw", near_alltoallw, RECVTYPES, MPI_ERR_TYPE,
          "recvtypes[%d]: datatype is MPI_DATATYPE_NULL", 0 },
    };
    MPI_Comm whole = comm;
    int selves[3] = { mtest_rank, mtest_rank, mtest_rank };
    CHECK_OK(MPI_Dist_graph_create_adjacent(whole, 3, selves, MPI_UNWEIGHTED, 3, selves, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                            0, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    n = 3;
    mid = 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_operation(&all[i]);
    CHECK_OK(MPI_Comm_free(&comm));
    comm = whole;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    begin_elements();
    check_collectives();
    check_neighbors();
    end_elements();
    MTEST_END;
}
