/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cartesian grids (MPI-5.0 section 8.5): every shape that fits, periodic and not. Coordinates, ranks and shifts are
 * compared with plain arithmetic. Also processes outside the grid, grids without dimensions, and subgrids.
 */
#include "mtest.h"

enum { D = 3 };

/* Row by row; -1: outside. */
static int rank_at(const int dims[D], const int periods[D], const int coords[D])
{
    int rank = 0;
    for (int i = 0; i < D; i++) {
        int c = coords[i];
        if (periods[i])
            c = ((c % dims[i]) + dims[i]) % dims[i];
        if (c < 0 || c >= dims[i])
            return MPI_PROC_NULL;
        rank = rank * dims[i] + c;
    }
    return rank;
}

static void check_grid(MPI_Comm cart, const int dims[D], const int periods[D])
{
    int rank, size, status, ndims, got[D], circular[D], own[D], coords[D], back;
    CHECK_OK(MPI_Comm_rank(cart, &rank));
    CHECK_OK(MPI_Comm_size(cart, &size));
    CHECK(size == dims[0] * dims[1] * dims[2]);
    CHECK_OK(MPI_Topo_test(cart, &status));
    CHECK(status == MPI_CART);
    CHECK_OK(MPI_Cartdim_get(cart, &ndims));
    CHECK(ndims == D);
    CHECK_OK(MPI_Cart_get(cart, D, got, circular, own));
    for (int i = 0; i < D; i++)
        CHECK(got[i] == dims[i] && circular[i] == periods[i]);
    CHECK(rank_at(dims, periods, own) == rank);
    for (int r = 0; r < size; r++) {
        CHECK_OK(MPI_Cart_coords(cart, r, D, coords));
        CHECK(rank_at(dims, periods, coords) == r);
        CHECK_OK(MPI_Cart_rank(cart, coords, &back));
        CHECK(back == r);
        for (int i = 0; i < D; i++)
            coords[i] += periods[i] ? (i - 1) * 2 * dims[i] : 0; /* further around than once */
        CHECK_OK(MPI_Cart_rank(cart, coords, &back));
        CHECK(back == r);
    }
    for (int i = 0; i < D; i++)
        for (int disp = -3; disp <= 3; disp++) {
            int from, to;
            CHECK_OK(MPI_Cart_shift(cart, i, disp, &from, &to));
            memcpy(coords, own, sizeof own);
            coords[i] = own[i] - disp;
            CHECK(from == rank_at(dims, periods, coords));
            coords[i] = own[i] + disp;
            CHECK(to == rank_at(dims, periods, coords));
        }
    int far_from, far_to;
    CHECK_OK(MPI_Cart_shift(cart, 0, INT32_MIN, &far_from, &far_to));
    CHECK(periods[0] || (far_from == MPI_PROC_NULL && far_to == MPI_PROC_NULL));
}

/* Removes all dimensions but those in `kept`. */
static void check_part(MPI_Comm cart, const int dims[D], const int periods[D], int kept)
{
    int own[D], got[D], circular[D], coords[D], all[D], there[D], ndims = 0, remain[D], rank, sum, wanted = 0, size = 1;
    MPI_Comm part;
    CHECK_OK(MPI_Cart_get(cart, D, got, circular, own));
    for (int i = 0; i < D; i++)
        remain[i] = kept >> i & 1;
    CHECK_OK(MPI_Cart_sub(cart, remain, &part));
    CHECK_OK(MPI_Cartdim_get(part, &ndims));
    CHECK_OK(MPI_Cart_get(part, D, all, there, coords));
    int k = 0;
    for (int i = 0; i < D; i++)
        if (remain[i]) {
            CHECK(all[k] == dims[i] && there[k] == periods[i] && coords[k] == own[i]);
            size *= dims[i];
            k++;
        }
    CHECK(ndims == k);
    CHECK_OK(MPI_Comm_rank(cart, &rank));
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part));
    for (int r = 0; r < dims[0] * dims[1] * dims[2]; r++) {
        int same = 1;
        CHECK_OK(MPI_Cart_coords(cart, r, D, coords));
        for (int i = 0; i < D; i++)
            same &= remain[i] || coords[i] == own[i];
        wanted += same ? r : 0;
    }
    CHECK(sum == wanted);
    int part_size;
    CHECK_OK(MPI_Comm_size(part, &part_size));
    CHECK(part_size == size);
    CHECK_OK(MPI_Comm_free(&part));
}

static void check_shape(const int dims[D])
{
    for (int mask = 0; mask < 8; mask++) {
        int periods[D] = { mask & 1, mask >> 1 & 1, mask >> 2 & 1 }, given[D], mapped;
        MPI_Comm cart;
        for (int i = 0; i < D; i++)
            given[i] = periods[i] * 7; /* true is any number but 0 */
        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, D, dims, given, mask & 1, &cart));
        CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, D, dims, given, &mapped));
        if (mtest_rank >= dims[0] * dims[1] * dims[2]) {
            CHECK(cart == MPI_COMM_NULL && mapped == MPI_UNDEFINED);
            continue;
        }
        check_grid(cart, dims, periods);
        check_part(cart, dims, periods, mask);
        CHECK_OK(MPI_Comm_free(&cart));
    }
}

/* A grid without dimensions has one process. */
static void check_point(void)
{
    int ndims = -1, rank = -1, status;
    MPI_Comm cart, part;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart));
    CHECK((cart == MPI_COMM_NULL) == (mtest_rank > 0));
    if (mtest_rank > 0)
        return;
    CHECK_OK(MPI_Topo_test(cart, &status));
    CHECK(status == MPI_CART);
    CHECK_OK(MPI_Cartdim_get(cart, &ndims));
    CHECK(ndims == 0);
    CHECK_OK(MPI_Cart_get(cart, 0, NULL, NULL, NULL));
    CHECK_OK(MPI_Cart_coords(cart, 0, 0, NULL));
    CHECK_OK(MPI_Cart_rank(cart, NULL, &rank));
    CHECK(rank == 0);
    CHECK_OK(MPI_Cart_sub(cart, NULL, &part));
    CHECK_OK(MPI_Cartdim_get(part, &ndims));
    CHECK(ndims == 0);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Comm_free(&cart));
}

/* How many neighbors in a line of all processes are on different nodes. `node` is the lowest rank of the process's. */
static int edges_between_nodes(MPI_Comm line, int node)
{
    int *nodes = malloc((size_t)mtest_size * sizeof *nodes), edges = 0;
    CHECK_OK(MPI_Allgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, line));
    for (int i = 1; i < mtest_size; i++)
        edges += nodes[i] != nodes[i - 1];
    free(nodes);
    return edges;
}

/* Without reordering each process keeps its rank. With it the processes of a node are neighbors. */
static void check_reorder(void)
{
    MPI_Comm same_node, line;
    int node = mtest_rank, rank, nodes, heads;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &same_node));
    CHECK_OK(MPI_Bcast(&node, 1, MPI_INT, 0, same_node));
    CHECK_OK(MPI_Comm_free(&same_node));
    heads = node == mtest_rank;
    CHECK_OK(MPI_Allreduce(&heads, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &mtest_size, (int[1]){ 0 }, 0, &line));
    CHECK_OK(MPI_Comm_rank(line, &rank));
    CHECK(rank == mtest_rank);
    CHECK_OK(MPI_Comm_free(&line));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &mtest_size, (int[1]){ 0 }, 1, &line));
    CHECK(edges_between_nodes(line, node) == nodes - 1);
    CHECK_OK(MPI_Comm_free(&line));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int whole[D] = { 0 };
    CHECK_OK(MPI_Dims_create(mtest_size, D, whole));
    check_shape(whole);
    check_shape((int[D]){ 1, mtest_size, 1 });
    if (mtest_size > 1)
        check_shape((int[D]){ 1, 1, mtest_size - 1 });
    if (mtest_size > 4)
        check_shape((int[D]){ 2, 1, 2 });
    check_point();
    check_reorder();
    MTEST_END;
}
