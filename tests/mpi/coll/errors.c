/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments that collectives must refuse (MPI-5.0 chapter 6), with the class and through the communicator's handler.
 * All ranks make the same mistake, so that none waits; a correct call afterwards works.
 */
#include <string.h>

#include "mtest.h"

static MPI_Comm comm;
static int in[64], out[4096], counts[64], displs[64];
static MPI_Datatype types[64];

static void test_objects(void)
{
    MPI_Datatype uncommitted;
    MPI_Request request;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    CHECK_CLASS(MPI_Bcast(in, 1, uncommitted, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Ibcast(in, 1, MPI_DATATYPE_NULL, 0, comm, &request), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Scan(in, out, 1, MPI_CHAR, MPI_MAXLOC, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Ibarrier(comm, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_free(&uncommitted));
}

static void test_roots(void)
{
    MPI_Request request;
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, mtest_size, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_ROOT, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, MPI_PROC_NULL, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Scatter_init(in, 1, MPI_INT, out, 1, MPI_INT, mtest_size, comm, MPI_INFO_NULL, &request),
                MPI_ERR_ROOT);
}

static void test_counts(void)
{
    MPI_Request request;
    for (int i = 0; i < 64; i++)
        counts[i] = i == mtest_size - 1 ? -3 : 1;
    CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgatherv(in, 1, MPI_INT, out, counts, displs, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoallw(in, counts, displs, types, out, counts, displs, types, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Ireduce_scatter_block(in, out, -1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COUNT);
}

static void test_in_place(void)
{
    CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    if (mtest_rank == 0) {
        CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    } else {
        CHECK_CLASS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Scatter(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Reduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    }
}

static void test_overlap(void)
{
    MPI_Request request;
    CHECK_CLASS(MPI_Allreduce(out, out, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(out, out + 3, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Iscan(out, out, 4, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(out + mtest_rank, 1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(out, 1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    if (mtest_rank == 0)
        CHECK_CLASS(MPI_Gather(out, 1, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(NULL, 4, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Allreduce(out, out, 0, MPI_INT, MPI_SUM, comm)); /* nothing overlaps nothing */
}

static void test_truncation(void)
{
    CHECK_CLASS(MPI_Allgather(in, 2, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_TRUNCATE);
    if (mtest_size == 1 || mtest_size > 3)
        return; /* where rank 0 sends to all: a rank that fails passes nothing on */
    int rc = MPI_Bcast(in, mtest_rank == 0 ? 4 : 2, MPI_INT, 0, comm);
    CHECK_CLASS(rc, mtest_rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (mtest_rank > 0) { /* the text must not speak of a message: the program knows of none */
        CHECK_OK(MPI_Error_string(rc, text, &length));
        CHECK(strstr(text, "rank 0 gives 16 bytes where this rank expects 8: all ranks must call the same") != NULL);
    }
}

/* Blocks that only together are too long to be counted, and the block from a process to itself. */
static void test_blocks(void)
{
    const MPI_Count much = (MPI_Count)1 << 62;
    MPI_Request request;
    for (int i = 0; i < 64; i++)
        counts[i] = 1;
    CHECK_CLASS(MPI_Allgather_c(in, much, MPI_CHAR, out, much, MPI_SHORT, comm), MPI_ERR_COUNT);
    if (mtest_size > 1) {
        CHECK_CLASS(MPI_Alltoall_c(in, much, MPI_CHAR, out, much, MPI_CHAR, comm), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_Ireduce_scatter_block_c(in, out, much, MPI_BYTE, MPI_BOR, comm, &request), MPI_ERR_COUNT);
    }
    counts[mtest_rank] = 2;
    CHECK_CLASS(MPI_Alltoallw(out, counts, displs, types, out, counts, displs, types, comm), MPI_ERR_BUFFER);
    types[mtest_rank] = MPI_SHORT;
    MPI_Datatype ints[64];
    for (int i = 0; i < 64; i++)
        ints[i] = MPI_INT;
    CHECK_CLASS(MPI_Alltoallw(in, counts, displs, ints, out, counts, displs, types, comm), MPI_ERR_TRUNCATE);
    types[mtest_rank] = MPI_INT;
}

/* Insignificant arguments may be anything: the first rank of an exclusive scan receives nothing. */
static void test_exscan(void)
{
    int own = mtest_rank + 1, sum = -1;
    MPI_Request request;
    CHECK_OK(MPI_Exscan(&own, mtest_rank ? &sum : NULL, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == (mtest_rank ? mtest_rank * (mtest_rank + 1) / 2 : -1));
    CHECK_OK(MPI_Iexscan(&own, mtest_rank ? &sum : &own, 1, MPI_INT, MPI_SUM, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(own == mtest_rank + 1);
    CHECK_CLASS(MPI_Scan(in, NULL, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
}

/* The handler is that of the communicator, and the message names the function and the argument. */
static int seen;
static void note(MPI_Comm *where, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK(*where == comm);
    CHECK_OK(MPI_Error_string(*code, text, &length));
    CHECK(strstr(text, "MPI_Igatherv_c") && strstr(text, "root"));
    seen++;
}

static void test_handler(void)
{
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Count wide[64] = { 0 };
    MPI_Aint places[64] = { 0 };
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_CLASS(MPI_Igatherv_c(in, 1, MPI_INT, out, wide, places, MPI_INT, 99999, comm, &request), MPI_ERR_ROOT);
    CHECK(seen == 1);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

/* Frees it once MPI_Request_get_status has seen its end (MPI-5.0 section 3.7.6). */
static void free_complete(MPI_Request *request)
{
    int flag = 0;
    while (!flag)
        CHECK_OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(request));
    CHECK(*request == MPI_REQUEST_NULL);
}

/* A collective that is not complete cannot be freed, and goes on (MPI-5.0 section 6.12). The last rank begins it when
 * the others have tried. */
static void test_free(void)
{
    MPI_Request request;
    MPI_Comm copy, other;
    int last, before = -1;
    CHECK_OK(MPI_Comm_dup(comm, &other));
    last = mtest_rank == mtest_size - 1 && mtest_size > 1;
    for (int form = 0; form < 3; form++) {
        if (last)
            CHECK_OK(MPI_Barrier(other));
        if (form == 0)
            CHECK_OK(MPI_Ibarrier(comm, &request));
        else if (form == 1)
            CHECK_OK(MPI_Comm_idup(comm, &copy, &request));
        else
            CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
        if (form == 2)
            CHECK_OK(MPI_Start(&request));
        if (!last && mtest_size > 1) {
            CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
            CHECK_OK(MPI_Barrier(other));
        }
        if (form == 1)
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        else
            free_complete(&request);
        if (form == 1)
            CHECK_OK(MPI_Comm_free(&copy));
    }
    CHECK_OK(MPI_Iallreduce(&mtest_rank, &before, 1, MPI_INT, MPI_MAX, comm, &request));
    free_complete(&request);
    CHECK(before == mtest_size - 1);
    CHECK_OK(MPI_Comm_free(&other));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* of errors that belong to no communicator */
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < 64; i++)
        types[i] = MPI_INT;
    test_objects();
    test_roots();
    test_counts();
    test_in_place();
    test_overlap();
    test_truncation();
    test_blocks();
    test_exscan();
    test_handler();
    test_free();
    int one = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size);
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
