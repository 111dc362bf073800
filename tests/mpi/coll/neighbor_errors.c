/* SPDX-License-Identifier: BSD-3-Clause */
/* What neighborhood collectives refuse: no topology, bad arguments, a neighbor that sends nothing; nothing hangs. */
#include <time.h>

#include "mtest.h"

/* Every form of each, with valid arguments except the communicator. */
static void every_form(MPI_Comm comm, int class)
{
    int buf[8] = { 0 }, out[8], counts[8] = { 0 }, displs[8] = { 0 };
    MPI_Count counts_c[8] = { 0 };
    MPI_Aint displs_c[8] = { 0 };
    MPI_Datatype types[8];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 8; i++)
        types[i] = MPI_INT;
    CHECK_CLASS(MPI_Neighbor_allgather(buf, 1, MPI_INT, out, 1, MPI_INT, comm), class);
    CHECK_CLASS(MPI_Neighbor_allgatherv(buf, 1, MPI_INT, out, counts, displs, MPI_INT, comm), class);
    CHECK_CLASS(MPI_Neighbor_alltoall(buf, 1, MPI_INT, out, 1, MPI_INT, comm), class);
    CHECK_CLASS(MPI_Neighbor_alltoallv(buf, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm), class);
    CHECK_CLASS(MPI_Neighbor_alltoallw(buf, counts, displs_c, types, out, counts, displs_c, types, comm), class);
    CHECK_CLASS(MPI_Ineighbor_allgather(buf, 1, MPI_INT, out, 1, MPI_INT, comm, &request), class);
    CHECK_CLASS(MPI_Ineighbor_alltoallw_c(buf, counts_c, displs_c, types, out, counts_c, displs_c, types, comm,
                                          &request),
                class);
    CHECK_CLASS(MPI_Neighbor_alltoallv_init(buf, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm,
                                            MPI_INFO_NULL, &request),
                class);
    CHECK(request == MPI_REQUEST_NULL);
}

static void bad_arguments(MPI_Comm cart)
{
    int buf[8] = { 0 }, out[8], counts[2] = { 0, -1 }, displs[2] = { 0, 0 };
    MPI_Aint displs_c[2] = { 0, 0 };
    MPI_Datatype types[2] = { MPI_INT, MPI_DATATYPE_NULL };
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Neighbor_allgather(buf, -1, MPI_INT, out, 1, MPI_INT, cart), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Neighbor_allgather(buf, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, cart), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, cart), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_allgather(NULL, 1, MPI_INT, out, 1, MPI_INT, cart), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_alltoall_c(buf, INT64_MAX / 2, MPI_INT, out, 1, MPI_INT, cart), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Neighbor_alltoall_c(buf, INT64_MAX, MPI_CHAR, out, 1, MPI_INT, cart), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Neighbor_allgatherv(buf, 1, MPI_INT, out, counts, displs, MPI_INT, cart), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Neighbor_allgatherv(buf, 1, MPI_INT, out, NULL, displs, MPI_INT, cart), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Neighbor_allgatherv(buf, 1, MPI_INT, out, displs, NULL, MPI_INT, cart), MPI_ERR_ARG);
    counts[1] = 1;
    CHECK_CLASS(MPI_Neighbor_alltoallw(buf, counts, displs_c, types, out, counts, displs_c, types, cart), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Neighbor_alltoallw(buf, counts, displs_c, NULL, out, counts, displs_c, types, cart), MPI_ERR_ARG);
    types[1] = MPI_INT;
    CHECK_CLASS(MPI_Neighbor_alltoallw(NULL, counts, displs_c, types, out, counts, displs_c, types, cart),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_alltoallw(buf, counts, displs_c, types, NULL, counts, displs_c, types, cart),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Ineighbor_alltoall(buf, 1, MPI_INT, out, 1, MPI_INT, cart, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Neighbor_alltoall_init(buf, 1, MPI_INT, out, 1, MPI_INT, cart, (MPI_Info)(uintptr_t)0x12345670,
                                           &request),
                MPI_ERR_INFO);
    CHECK(request == MPI_REQUEST_NULL);
}

/* Rank 0 waits for an element that rank 1 does not send, while that waits for rank 2, which comes late. */
static void in_vain(MPI_Comm cart)
{
    const struct timespec late = { 3, 0 };
    int in[2] = { 1, 2 }, out[2], sends[2] = { 1, 1 }, expects[2] = { 1, 1 }, places[2] = { 0, 1 };
    if (mtest_rank == 1)
        sends[0] = 0;
    if (mtest_rank == 2)
        nanosleep(&late, NULL);
    int rc = MPI_Neighbor_alltoallv(in, sends, places, MPI_INT, out, expects, places, MPI_INT, cart);
    if (mtest_rank == 0)
        CHECK_CLASS(rc, MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm world, cart;
    int dims[1] = { mtest_size }, periods[1] = { 1 };
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    every_form(world, MPI_ERR_TOPOLOGY);
    every_form(MPI_COMM_NULL, MPI_ERR_COMM);
    CHECK_OK(MPI_Cart_create(world, 1, dims, periods, 0, &cart));
    bad_arguments(cart);
    if (mtest_size > 1) {
        MPI_Comm half, between;
        CHECK_OK(MPI_Comm_split(world, mtest_rank % 2, 0, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, world, !(mtest_rank % 2), 5, &between));
        CHECK_OK(MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN));
        every_form(between, MPI_ERR_TOPOLOGY);
        CHECK_OK(MPI_Comm_free(&between));
        CHECK_OK(MPI_Comm_free(&half));
    }
    if (mtest_size > 3)
        in_vain(cart);
    CHECK_OK(MPI_Comm_free(&cart));
    CHECK_OK(MPI_Comm_free(&world));
    MTEST_END;
}
