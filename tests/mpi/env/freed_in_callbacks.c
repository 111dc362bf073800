/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A callback may query the objects that it gets, even if the program has freed them since the operation started: the
 * datatype in the function of a reduction, the communicator in an error handler.
 */
#include "mtest.h"

enum { ROUNDS = 10, WORDS = 5 };

static int handled, members;

/* Sums as many ints as the datatype has. */
static void sum(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    int size = 0, *from = in, *to = inout;
    CHECK_OK(MPI_Type_size(*datatype, &size));
    CHECK(size == WORDS * (int)sizeof(int));
    for (int i = 0; i < *count * WORDS; i++)
        to[i] += from[i];
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    int class = -1;
    CHECK_OK(MPI_Error_class(*code, &class));
    CHECK(class == MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Comm_size(*comm, &members));
    handled++;
}

static void check_datatype(int round)
{
    int value[WORDS], all[WORDS] = { 0 }, before[WORDS] = { 0 }, again[WORDS] = { 0 };
    MPI_Datatype words;
    MPI_Op op;
    MPI_Request requests[3];
    for (int i = 0; i < WORDS; i++)
        value[i] = mtest_rank + i + round;
    CHECK_OK(MPI_Type_contiguous(WORDS, MPI_INT, &words));
    CHECK_OK(MPI_Type_commit(&words));
    CHECK_OK(MPI_Op_create(sum, 1, &op));
    CHECK_OK(MPI_Iallreduce(value, all, 1, words, op, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Iscan(value, before, 1, words, op, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Allreduce_init(value, again, 1, words, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]));
    CHECK_OK(MPI_Type_free(&words));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Start(&requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[2]));
    for (int i = 0; i < WORDS; i++) {
        int n = mtest_size, r = mtest_rank + 1;
        CHECK(all[i] == n * (n - 1) / 2 + n * (i + round) && again[i] == all[i]);
        CHECK(before[i] == r * (r - 1) / 2 + r * (i + round));
    }
}

static void check_communicator(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Request requests[2];
    int received = -1, data[2] = { 1, 2 };
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_errhandler(handle, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, mtest_rank, 0, comm, &requests[0]));
    CHECK_OK(MPI_Isend(data, 2, MPI_INT, mtest_rank, 0, comm, &requests[1]));
    CHECK_OK(MPI_Comm_free(&comm));
    handled = members = 0;
    CHECK_CLASS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK(handled == 1 && members == mtest_size);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int round = 0; round < ROUNDS; round++) {
        check_datatype(round);
        check_communicator();
    }
    MTEST_END;
}
