/* SPDX-License-Identifier: BSD-3-Clause */
/* The _c forms (MPI-5.0 section 19.2) of all collectives, in all forms of call: wide counts and displacements are read
 * as such. */
#include "coll.h"

enum { COUNT = 3, RANKS_MAX = 64 };

/* Like COLL(), of the _c functions. */
#define COLL_C(form, Name, name, ...)                                                                                  \
    do {                                                                                                               \
        MPI_Request request_;                                                                                          \
        if ((form) == BLOCKING) {                                                                                      \
            CHECK_OK(MPI_##Name##_c(__VA_ARGS__, MPI_COMM_WORLD));                                                     \
        } else if ((form) == NONBLOCKING) {                                                                            \
            CHECK_OK(MPI_I##name##_c(__VA_ARGS__, MPI_COMM_WORLD, &request_));                                         \
            CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                          \
        } else {                                                                                                       \
            CHECK_OK(MPI_##Name##_init_c(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, &request_));                      \
            CHECK_OK(MPI_Start(&request_));                                                                            \
            CHECK_OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                          \
            CHECK_OK(MPI_Request_free(&request_));                                                                     \
        }                                                                                                              \
    } while (0)

static int in[RANKS_MAX * COUNT], out[RANKS_MAX * COUNT];
static MPI_Count counts[RANKS_MAX];
static MPI_Aint displs[RANKS_MAX], bytes[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];

static void fill(void)
{
    for (int i = 0; i < RANKS_MAX * COUNT; i++)
        in[i] = mtest_rank * 1000 + i;
    memset(out, 0x7f, sizeof out);
}

/* Block `i` of `out` is block `of` of rank `from`. */
static int is_block(int i, int from, int of)
{
    for (int k = 0; k < COUNT; k++)
        if (out[i * COUNT + k] != from * 1000 + of * COUNT + k)
            return 0;
    return 1;
}

static void test_rooted(enum form form)
{
    int root = mtest_size / 2, is_root = mtest_rank == root;
    fill();
    COLL_C(form, Bcast, bcast, is_root ? in : out, COUNT, MPI_INT, root);
    CHECK(is_root || is_block(0, root, 0));
    fill();
    COLL_C(form, Gather, gather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root);
    for (int i = 0; is_root && i < mtest_size; i++)
        CHECK(is_block(i, i, 0));
    fill();
    COLL_C(form, Gatherv, gatherv, in, COUNT, MPI_INT, out, counts, displs, MPI_INT, root);
    for (int i = 0; is_root && i < mtest_size; i++)
        CHECK(is_block(mtest_size - 1 - i, i, 0));
    fill();
    COLL_C(form, Scatter, scatter, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root);
    CHECK(is_block(0, root, mtest_rank));
    fill();
    COLL_C(form, Scatterv, scatterv, in, counts, displs, MPI_INT, out, COUNT, MPI_INT, root);
    CHECK(is_block(0, root, mtest_size - 1 - mtest_rank));
}

static void test_all(enum form form)
{
    fill();
    COLL_C(form, Allgather, allgather, in, COUNT, MPI_INT, out, COUNT, MPI_INT);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(i, i, 0));
    fill();
    COLL_C(form, Allgatherv, allgatherv, in, COUNT, MPI_INT, out, counts, displs, MPI_INT);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(mtest_size - 1 - i, i, 0));
    fill();
    COLL_C(form, Alltoall, alltoall, in, COUNT, MPI_INT, out, COUNT, MPI_INT);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(i, i, mtest_rank));
    fill();
    COLL_C(form, Alltoallv, alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(mtest_size - 1 - i, i, mtest_size - 1 - mtest_rank));
    fill();
    COLL_C(form, Alltoallw, alltoallw, in, counts, bytes, types, out, counts, bytes, types);
    for (int i = 0; i < mtest_size; i++)
        CHECK(is_block(mtest_size - 1 - i, i, mtest_size - 1 - mtest_rank));
}

static void test_reductions(enum form form)
{
    int ranks = 1000 * (mtest_size * (mtest_size - 1) / 2), root = mtest_size - 1;
    fill();
    COLL_C(form, Reduce, reduce, in, out, COUNT, MPI_INT, MPI_SUM, root);
    CHECK(mtest_rank != root || out[2] == ranks + 2 * mtest_size);
    fill();
    COLL_C(form, Allreduce, allreduce, in, out, COUNT, MPI_INT, MPI_SUM);
    CHECK(out[2] == ranks + 2 * mtest_size);
    fill();
    COLL_C(form, Reduce_scatter_block, reduce_scatter_block, in, out, COUNT, MPI_INT, MPI_SUM);
    CHECK(out[1] == ranks + mtest_size * (mtest_rank * COUNT + 1));
    fill();
    COLL_C(form, Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
    CHECK(out[1] == ranks + mtest_size * (mtest_rank * COUNT + 1));
    fill();
    COLL_C(form, Scan, scan, in, out, COUNT, MPI_INT, MPI_MAX);
    CHECK(out[1] == mtest_rank * 1000 + 1);
    fill();
    COLL_C(form, Exscan, exscan, in, out, COUNT, MPI_INT, MPI_MAX);
    CHECK(mtest_rank == 0 || out[1] == (mtest_rank - 1) * 1000 + 1);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int i = 0; i < RANKS_MAX; i++) {
        int place = i < mtest_size ? mtest_size - 1 - i : 0;
        counts[i] = COUNT;
        displs[i] = place * COUNT;
        bytes[i] = displs[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int form = 0; form < FORMS; form++) {
        test_rooted((enum form)form);
        test_all((enum form)form);
        test_reductions((enum form)form);
    }
    MTEST_END;
}
