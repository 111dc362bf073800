/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 */
/*
 * The checking mode: with PLENUM_STRICT=1 a collective whose ranks do not agree is one error on all of them, which
 * names two ranks and what both said. Each kind of collective, blocking, nonblocking and persistent, on intra- and
 * intercommunicators and neighborhoods, with each argument that can differ on one rank; then the same without a
 * mistake, whose data must be right.
 */
#include "mtest.h"

enum { MOST = 16, SPACE = 256 };
enum form { RUN, START, PREPARE, FORMS };
enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    KINDS
};
enum mistake { NONE, ROOT, OP, COUNT, TYPE, MISTAKES };

static const char *const names[KINDS] = { "barrier",
                                          "bcast",
                                          "gather",
                                          "gatherv",
                                          "scatter",
                                          "scatterv",
                                          "allgather",
                                          "allgatherv",
                                          "alltoall",
                                          "alltoallv",
                                          "alltoallw",
                                          "reduce",
                                          "allreduce",
                                          "reduce_scatter_block",
                                          "reduce_scatter",
                                          "scan",
                                          "exscan",
                                          "neighbor_allgather",
                                          "neighbor_allgatherv",
                                          "neighbor_alltoall",
                                          "neighbor_alltoallv",
                                          "neighbor_alltoallw" };
static const int class_of[MISTAKES] = { MPI_SUCCESS, MPI_ERR_ROOT, MPI_ERR_OP, MPI_ERR_COUNT, MPI_ERR_TYPE };

static int in[SPACE], out[SPACE];

/* The arguments of a call: one count and type, and arrays in which each rank has that count. */
static struct call {
    MPI_Comm comm;
    int root, count, counts[MOST], places[MOST], bytes[MOST];
    MPI_Datatype type, types[MOST];
    MPI_Op op;
    MPI_Request request;
} c;

/* One operation in its three forms. */
#define FORMS_OF(blocking, nonblocking, persistent, ...)                                                               \
    (form == RUN     ? blocking(__VA_ARGS__)                                                                           \
     : form == START ? nonblocking(__VA_ARGS__, &c.request)                                                            \
                     : persistent(__VA_ARGS__, MPI_INFO_NULL, &c.request))

static int begin_moving(enum kind kind, enum form form)
{
    switch (kind) {
    case BARRIER: return FORMS_OF(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, c.comm);
    case BCAST: return FORMS_OF(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, in, c.count, c.type, c.root, c.comm);
    case GATHER:
        return FORMS_OF(MPI_Gather, MPI_Igather, MPI_Gather_init, in, c.count, c.type, out, c.count, c.type, c.root,
                        c.comm);
    case GATHERV:
        return FORMS_OF(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, in, c.count, c.type, out, c.counts, c.places,
                        c.type, c.root, c.comm);
    case SCATTER:
        return FORMS_OF(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, in, c.count, c.type, out, c.count, c.type, c.root,
                        c.comm);
    case SCATTERV:
        return FORMS_OF(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, in, c.counts, c.places, c.type, out, c.count,
                        c.type, c.root, c.comm);
    case ALLGATHER:
        return FORMS_OF(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, in, c.count, c.type, out, c.count, c.type,
                        c.comm);
    case ALLGATHERV:
        return FORMS_OF(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, in, c.count, c.type, out, c.counts,
                        c.places, c.type, c.comm);
    case ALLTOALL:
        return FORMS_OF(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, in, c.count, c.type, out, c.count, c.type,
                        c.comm);
    case ALLTOALLV:
        return FORMS_OF(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, in, c.counts, c.places, c.type, out,
                        c.counts, c.places, c.type, c.comm);
    default:
        return FORMS_OF(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, in, c.counts, c.bytes, c.types, out,
                        c.counts, c.bytes, c.types, c.comm);
    }
}

static int begin_reducing(enum kind kind, enum form form)
{
    switch (kind) {
    case REDUCE:
        return FORMS_OF(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, in, out, c.count, c.type, c.op, c.root, c.comm);
    case ALLREDUCE:
        return FORMS_OF(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, in, out, c.count, c.type, c.op, c.comm);
    case REDUCE_SCATTER_BLOCK:
        return FORMS_OF(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, in, out,
                        c.count, c.type, c.op, c.comm);
    case REDUCE_SCATTER:
        return FORMS_OF(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, in, out, c.counts, c.type,
                        c.op, c.comm);
    case SCAN: return FORMS_OF(MPI_Scan, MPI_Iscan, MPI_Scan_init, in, out, c.count, c.type, c.op, c.comm);
    default: return FORMS_OF(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, in, out, c.count, c.type, c.op, c.comm);
    }
}

static int begin_neighbors(enum kind kind, enum form form)
{
    MPI_Aint bytes[MOST];
    for (int i = 0; i < MOST; i++)
        bytes[i] = c.bytes[i];
    switch (kind) {
    case NEIGHBOR_ALLGATHER:
        return FORMS_OF(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, in, c.count,
                        c.type, out, c.count, c.type, c.comm);
    case NEIGHBOR_ALLGATHERV:
        return FORMS_OF(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, in, c.count,
                        c.type, out, c.counts, c.places, c.type, c.comm);
    case NEIGHBOR_ALLTOALL:
        return FORMS_OF(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, in, c.count, c.type,
                        out, c.count, c.type, c.comm);
    case NEIGHBOR_ALLTOALLV:
        return FORMS_OF(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, in, c.counts,
                        c.places, c.type, out, c.counts, c.places, c.type, c.comm);
    default:
        return FORMS_OF(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, in, c.counts,
                        bytes, c.types, out, c.counts, bytes, c.types, c.comm);
    }
}

/* The whole operation; an error of any part of it. */
static int perform(enum kind kind, enum form form)
{
    c.request = MPI_REQUEST_NULL;
    int rc = kind >= NEIGHBOR_ALLGATHER ? begin_neighbors(kind, form)
             : kind >= REDUCE           ? begin_reducing(kind, form)
                                        : begin_moving(kind, form);
    if (rc == MPI_SUCCESS && form == PREPARE)
        rc = MPI_Start(&c.request);
    if (rc == MPI_SUCCESS && form != RUN)
        rc = MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    if (c.request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&c.request));
    return rc;
}

static void prepare(MPI_Comm comm, int root)
{
    c = (struct call){ .comm = comm, .root = root, .count = 2, .type = MPI_INT, .op = MPI_SUM };
    for (int i = 0; i < MOST; i++) {
        c.counts[i] = 2;
        c.places[i] = 4 * i;
        c.bytes[i] = 4 * i * (int)sizeof(int);
        c.types[i] = MPI_INT;
    }
    for (int i = 0; i < SPACE; i++) {
        in[i] = 100 * mtest_rank + i;
        out[i] = -1;
    }
}

static int has_root(enum kind kind)
{
    return (kind >= BCAST && kind <= SCATTERV) || kind == REDUCE;
}

static int has_op(enum kind kind)
{
    return kind >= REDUCE && kind <= EXSCAN;
}

static int can_be_made(enum kind kind, enum mistake mistake)
{
    return mistake == ROOT ? has_root(kind) : mistake == OP ? has_op(kind) : kind != BARRIER;
}

static void make(enum mistake mistake, int other_root)
{
    if (mistake == ROOT)
        c.root = other_root;
    else if (mistake == OP)
        c.op = MPI_MAX;
    else if (mistake == COUNT)
        c.count = 3;
    else if (mistake == TYPE)
        c.type = MPI_FLOAT;
    for (int i = 0; i < MOST; i++) {
        c.counts[i] = c.count;
        c.types[i] = c.type;
    }
}

/* All ranks have the same error; it names the operation, two ranks and both values. */
static void check_words(int rc, enum kind kind, enum form form, enum mistake mistake, int inter)
{
    static const char *const values[MISTAKES][2] = { { "", "" },
                                                     { "root", "root" },
                                                     { "MPI_SUM", "MPI_MAX" },
                                                     { "2 x MPI_INT", "3 x MPI_INT" },
                                                     { "2 x MPI_INT", "2 x MPI_FLOAT" } };
    char text[MPI_MAX_ERROR_STRING], what[128];
    int length;
    CHECK_OK(MPI_Error_string(rc, text, &length));
    snprintf(what, sizeof what, "%s, form %d, mistake %d: %.60s", names[kind], form, mistake, text);
    const char *first = strstr(text, "rank "), *second = first ? strstr(first + 5, "rank ") : NULL;
    mtest_check(second != NULL, __FILE__, __LINE__, "two ranks are named", what);
    mtest_check(strcasestr(text, names[kind]) != NULL, __FILE__, __LINE__, "the operation is named", what);
    if (inter && (kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_BLOCK))
        return; /* that names the elements of the whole group */
    for (int i = 0; i < 2; i++)
        mtest_check(strstr(text, values[mistake][i]) != NULL, __FILE__, __LINE__, values[mistake][i], text);
}

static void wrong(MPI_Comm comm, enum kind kind, enum form form, enum mistake mistake, int odd, int root,
                  int other_root)
{
    int inter, rc;
    MPI_Comm_test_inter(comm, &inter);
    prepare(comm, root);
    if (mtest_rank == odd)
        make(mistake, other_root);
    rc = perform(kind, form);
    mtest_check_code(rc, class_of[mistake], __FILE__, __LINE__, names[kind]);
    if (rc != MPI_SUCCESS)
        check_words(rc, kind, form, mistake, inter);
}

/* Without a mistake everything works, on the same communicator. */
static void right(MPI_Comm comm, enum kind kind, enum form form, int root)
{
    prepare(comm, root);
    mtest_check_code(perform(kind, form), MPI_SUCCESS, __FILE__, __LINE__, names[kind]);
}

static void test_intra(MPI_Comm comm)
{
    for (enum kind kind = BARRIER; kind <= EXSCAN; kind++)
        for (enum form form = RUN; form < FORMS; form++) {
            for (enum mistake mistake = ROOT; mistake < MISTAKES; mistake++)
                for (int odd = 0; odd < mtest_size && can_be_made(kind, mistake); odd++)
                    wrong(comm, kind, form, mistake, odd, 0, 1);
            right(comm, kind, form, 0);
        }
    prepare(comm, 0);
    CHECK_OK(perform(ALLREDUCE, RUN));
    CHECK(out[1] == 100 * (mtest_size * (mtest_size - 1) / 2) + mtest_size);
}

/* The halves of the processes; the root is the first of the even ones. */
static void test_inter(void)
{
    MPI_Comm half, comm;
    int rank;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 2, mtest_rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mtest_rank % 2, 1, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_rank(half, &rank));
    int root = mtest_rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    /* Rank 1, of the odd half, thinks that it is the root itself; so may rank 0 think that it is not. */
    int other = mtest_rank % 2 ? MPI_ROOT : MPI_PROC_NULL;
    for (enum kind kind = BARRIER; kind <= REDUCE_SCATTER; kind++)
        for (enum form form = RUN; form < FORMS; form++) {
            /* With 3 processes the sums of reduce_scatter differ unless the counts do. */
            if ((kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_BLOCK) && mtest_size % 2)
                continue;
            for (enum mistake mistake = ROOT; mistake < MISTAKES; mistake++)
                for (int odd = 0; odd < 2 && can_be_made(kind, mistake); odd++)
                    wrong(comm, kind, form, mistake, odd, root, other);
            right(comm, kind, form, root);
        }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_free(&half));
}

static void test_neighbors(void)
{
    MPI_Comm comms[2];
    int dims = mtest_size, periodic = 1, left = (mtest_rank + mtest_size - 1) % mtest_size,
        right_one = (mtest_rank + 1) % mtest_size;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &comms[0]));
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right_one, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &comms[1]));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN));
        for (enum kind kind = NEIGHBOR_ALLGATHER; kind < KINDS; kind++)
            for (enum form form = RUN; form < FORMS; form++) {
                wrong(comms[i], kind, form, COUNT, mtest_size - 1, 0, 0);
                wrong(comms[i], kind, form, TYPE, 0, 0, 0);
                right(comms[i], kind, form, 0);
                CHECK(out[0] == 100 * left + (i == 0 && kind >= NEIGHBOR_ALLTOALL ? c.places[1] : 0) ||
                      kind == NEIGHBOR_ALLTOALL);
            }
        CHECK_OK(MPI_Comm_free(&comms[i]));
    }
}

/* --- other collectives and other forms ---------------------------------------------------------------------------- */

static void test_different(MPI_Comm comm)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    static const enum kind kinds[][2] = {
        { BARRIER, BCAST }, { BCAST, REDUCE }, { SCAN, EXSCAN }, { GATHER, GATHERV }, { ALLTOALLV, ALLTOALLW }
    };
    for (int i = 0; i < 5; i++)
        for (enum form form = RUN; form < FORMS; form++) {
            prepare(comm, 0);
            int rc = perform(kinds[i][mtest_rank == 0], form);
            CHECK_CLASS(rc, MPI_ERR_OTHER);
            CHECK_OK(MPI_Error_string(rc, text, &length));
            CHECK(strcasestr(text, names[kinds[i][0]]) && strcasestr(text, names[kinds[i][1]]));
        }
    for (enum kind kind = BARRIER; kind <= EXSCAN; kind++) {
        prepare(comm, 0);
        CHECK_CLASS(perform(kind, mtest_rank == 0 ? START : RUN), MPI_ERR_OTHER);
        CHECK_CLASS(perform(kind, mtest_rank == 0 ? PREPARE : START), MPI_ERR_OTHER);
        right(comm, kind, RUN, 0);
    }
}

/* --- what agrees although it looks different ---------------------------------------------------------------------- */

static void test_alike(MPI_Comm comm)
{
    MPI_Datatype pair, mixed, two;
    const int lengths[] = { 1, 1 };
    const MPI_Aint places[] = { 0, sizeof(double) };
    const MPI_Datatype parts[] = { MPI_DOUBLE, MPI_INT };
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_create_struct(2, lengths, places, parts, &mixed));
    CHECK_OK(MPI_Type_contiguous(2, mixed, &two));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_commit(&mixed));
    CHECK_OK(MPI_Type_commit(&two));
    prepare(comm, 0);
    CHECK_OK(mtest_rank == 0 ? MPI_Bcast(in, 8, MPI_INT, 0, comm) : MPI_Bcast(in, 4, pair, 0, comm));
    CHECK(in[7] == 7);
    CHECK_OK(mtest_rank == 0 ? MPI_Bcast(in, 4, MPI_INT, 0, comm) : MPI_Bcast(in, 2, MPI_2INT, 0, comm));
    CHECK_OK(mtest_rank == 0 ? MPI_Bcast(in, 4, mixed, 0, comm) : MPI_Bcast(in, 2, two, 0, comm));
    CHECK_OK(mtest_rank == 0 ? MPI_Bcast(in, 4, MPI_PACKED, 0, comm) : MPI_Bcast(in, 1, MPI_INT, 0, comm));
    CHECK_OK(mtest_rank == 0 ? MPI_Bcast(in, 0, MPI_DOUBLE, 0, comm) : MPI_Bcast(NULL, 0, MPI_INT, 0, comm));
    CHECK_OK(mtest_rank == 0 ? MPI_Bcast_c(in, 1, MPI_INT, 0, comm) : MPI_Bcast(in, 1, MPI_INT, 0, comm));
    CHECK_CLASS(mtest_rank == 0 ? MPI_Bcast(in, 12, MPI_INT, 0, comm) : MPI_Bcast(in, 4, mixed, 0, comm), MPI_ERR_TYPE);
    out[mtest_rank] = mtest_rank + 5;
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
    for (int i = 0; i < mtest_size; i++)
        CHECK(out[i] == i + 5);
    CHECK_OK(mtest_rank == 0 ? MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, comm)
                             : MPI_Gather(in, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, comm));
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&mixed));
    CHECK_OK(MPI_Type_free(&two));
}

/* A nonblocking one may still be started while another rank waits for something else first. */
static void test_started_late(MPI_Comm comm)
{
    int value = mtest_rank, token = 0;
    MPI_Request request;
    if (mtest_rank == 0) {
        CHECK_OK(MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request));
        for (int i = 1; i < mtest_size; i++)
            CHECK_OK(MPI_Send(&token, 1, MPI_INT, i, 3, comm));
    } else {
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value == 0);
}

int main(int argc, char **argv)
{
    setenv("PLENUM_STRICT", "1", 1);
    MTEST_INIT(argc, argv);
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    test_intra(comm);
    test_inter();
    test_neighbors();
    test_different(comm);
    test_alike(comm);
    test_started_late(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
