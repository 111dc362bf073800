/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: the standard's examples, balance against a plain search, given dimensions, errors. */
/* ranks: 1 */
#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static void expect(int nnodes, int ndims, const int given[], const int wanted[])
{
    int dims[8];

    for (int i = 0; i < ndims; i++)
        dims[i] = given[i];
    assert(MPI_Dims_create(nnodes, ndims, dims) == MPI_SUCCESS);
    for (int i = 0; i < ndims; i++)
        assert(dims[i] == wanted[i]);
}

static int expect_error(int nnodes, int ndims, int first, int second)
{
    int dims[] = { first, second, 0 }, class, err = MPI_Dims_create(nnodes, ndims, dims);

    MPI_Error_class(err, &class);
    return class;
}

/* The least difference of largest and smallest factor, over all products of ndims rising factors. */
static int least_distance(int n, int ndims, int smallest, int low)
{
    int least = INT_MAX;

    if (ndims == 1)
        return n >= low ? n - (smallest ? smallest : n) : INT_MAX;
    for (int f = low; f <= n; f++) {
        if (n % f != 0)
            continue;
        int distance = least_distance(n / f, ndims - 1, smallest ? smallest : f, f);
        least = distance < least ? distance : least;
    }
    return least;
}

static void balanced(int n, int ndims)
{
    int dims[8] = { 0 }, product = 1;

    assert(MPI_Dims_create(n, ndims, dims) == MPI_SUCCESS);
    for (int i = 0; i < ndims; i++) {
        product *= dims[i];
        assert(i == 0 || dims[i] <= dims[i - 1]);
    }
    assert(product == n);
    assert(dims[0] - dims[ndims - 1] == least_distance(n, ndims, 0, 1));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    expect(6, 2, (int[]){ 0, 0 }, (int[]){ 3, 2 });
    expect(7, 2, (int[]){ 0, 0 }, (int[]){ 7, 1 });
    expect(6, 3, (int[]){ 0, 3, 0 }, (int[]){ 2, 3, 1 });
    expect(60, 3, (int[]){ 0, 0, 0 }, (int[]){ 5, 4, 3 });
    expect(1, 0, NULL, NULL);
    expect(24, 2, (int[]){ 4, 6 }, (int[]){ 4, 6 });
    assert(expect_error(7, 3, 0, 3) == MPI_ERR_DIMS);
    assert(expect_error(6, 2, -1, 0) == MPI_ERR_DIMS);
    assert(expect_error(6, -1, 0, 0) == MPI_ERR_DIMS);
    assert(expect_error(0, 2, 0, 0) == MPI_ERR_ARG);

    for (int n = 1; n <= 512; n++)
        for (int ndims = 1; ndims <= 4; ndims++)
            balanced(n, ndims);

    int many[40] = { 0 };
    assert(MPI_Dims_create(735134400, 40, many) == MPI_SUCCESS && many[0] == 17 && many[39] == 1);

    MPI_Finalize();
    return 0;
}
