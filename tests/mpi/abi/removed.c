/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of MPI-1: the functions that MPI 3.0 removed do what their replacements do. */
#include "../files/files.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct particle {
    char kind;
    double place[3];
    int charge;
};

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    int class;
    CHECK_OK(MPI_Error_class(*code, &class));
    handled += class == MPI_ERR_RANK;
}

static void check_handlers(void)
{
    MPI_Handler_function *function = count_error;
    MPI_Errhandler before, mine, now;
    CHECK_OK(MPI_Errhandler_get(MPI_COMM_SELF, &before));
    CHECK(before == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Errhandler_create(function, &mine));
    CHECK_OK(MPI_Errhandler_set(MPI_COMM_SELF, mine));
    CHECK_OK(MPI_Errhandler_get(MPI_COMM_SELF, &now));
    CHECK(now == mine);
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_SELF), MPI_ERR_RANK);
    CHECK(handled == 1);
    CHECK_OK(MPI_Errhandler_set(MPI_COMM_SELF, before));
    CHECK_OK(MPI_Errhandler_free(&now));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_OK(MPI_Errhandler_free(&before));
}

/* The struct of the old tutorials, sent around a ring. */
static void check_struct(void)
{
    struct particle here = { 'e', { mtest_rank, 2, 3 }, -mtest_rank }, got = { 0 };
    int lengths[3] = { 1, 3, 1 }, left = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Aint places[3], base, extent, lb, ub = -1;
    MPI_Datatype types[3] = { MPI_CHAR, MPI_DOUBLE, MPI_INT }, type;
    CHECK_OK(MPI_Address(&here, &base));
    CHECK_OK(MPI_Address(&here.kind, &places[0]));
    CHECK_OK(MPI_Address(&here.place, &places[1]));
    CHECK_OK(MPI_Address(&here.charge, &places[2]));
    for (int i = 0; i < 3; i++)
        places[i] -= base;
    CHECK_OK(MPI_Type_struct(3, lengths, places, types, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_extent(type, &extent));
    CHECK_OK(MPI_Type_lb(type, &lb));
    CHECK_OK(MPI_Type_ub(type, &ub));
    CHECK(extent == sizeof here && lb == 0 && ub == sizeof here);
    CHECK_OK(MPI_Sendrecv(&here, 1, type, (mtest_rank + 1) % mtest_size, 0, &got, 1, type, left, 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK(got.kind == 'e' && got.place[0] == left && got.place[2] == 3 && got.charge == -left);
    CHECK_OK(MPI_Type_free(&type));
}

/* Bounds that do not begin at 0, of types whose displacements are bytes. */
static void check_bytes(void)
{
    int lengths[2] = { 2, 1 }, from[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, to[3] = { -1, -1, -1 };
    MPI_Aint places[2] = { 20, 8 }, lb, ub = -1;
    MPI_Datatype indexed, vector;
    CHECK_OK(MPI_Type_hindexed(2, lengths, places, MPI_INT, &indexed));
    CHECK_OK(MPI_Type_lb(indexed, &lb));
    CHECK_OK(MPI_Type_ub(indexed, &ub));
    CHECK(lb == 8 && ub == 28);
    CHECK_OK(MPI_Type_commit(&indexed));
    CHECK_OK(MPI_Sendrecv(from, 1, indexed, 0, 0, to, 3, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(to[0] == 5 && to[1] == 6 && to[2] == 2);
    CHECK_OK(MPI_Type_hvector(3, 1, 12, MPI_INT, &vector));
    CHECK_OK(MPI_Type_ub(vector, &ub));
    CHECK(ub == 28);
    CHECK_OK(MPI_Type_commit(&vector));
    CHECK_OK(MPI_Sendrecv(from, 1, vector, 0, 0, to, 3, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(to[0] == 0 && to[1] == 3 && to[2] == 6);
    CHECK_OK(MPI_Type_free(&indexed));
    CHECK_OK(MPI_Type_free(&vector));
}

/* Requests of files under the names of ROMIO. */
static void check_files(void)
{
    int to = mtest_rank + 5, from = -1, done = 0;
    MPI_Offset at = (MPI_Offset)sizeof to * mtest_rank;
    MPIO_Request request;
    MPI_Status status;
    files_begin();
    MPI_File file = files_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_OK(MPI_File_iwrite_at(file, at, &to, 1, MPI_INT, &request));
    CHECK_OK(MPIO_Wait(&request, &status));
    CHECK_OK(MPI_File_iread_at(file, at, &from, 1, MPI_INT, &request));
    while (!done)
        CHECK_OK(MPIO_Test(&request, &done, &status));
    CHECK(from == to && request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_File_close(&file));
    files_end();
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    check_handlers();
    check_struct();
    check_bytes();
    check_files();
    MTEST_END;
}
