/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pack and MPI_Unpack: a message is packed in several calls, sent around a ring as MPI_PACKED and unpacked. Sizes,
 * positions, bad arguments.
 */
#include "mtest.h"

#include <limits.h>

struct record {
    int id;
    double x[3];
};

static void ring(void)
{
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size;
    int numbers[12], got[12] = { 0 }, position = 0, length, half;
    struct record record = { mtest_rank, { mtest_rank + 0.5, -1, 2 } }, other = { 0 };
    char packed[200], arrived[200];
    MPI_Datatype every_other, record_type;
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < 12; i++)
        numbers[i] = 100 * mtest_rank + i;
    CHECK_OK(MPI_Type_vector(6, 1, 2, MPI_INT, &every_other));
    CHECK_OK(MPI_Type_create_struct(2, (int[]){ 1, 3 }, (MPI_Aint[]){ 0, 8 }, (MPI_Datatype[]){ MPI_INT, MPI_DOUBLE },
                                    &record_type));
    CHECK_OK(MPI_Type_commit(&every_other));
    CHECK_OK(MPI_Type_commit(&record_type));

    CHECK_OK(MPI_Pack(numbers, 1, every_other, packed, sizeof packed, &position, MPI_COMM_WORLD));
    half = position;
    CHECK_OK(MPI_Pack(&record, 1, record_type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack_size(1, every_other, MPI_COMM_WORLD, &length));
    CHECK(length >= half);
    CHECK_OK(MPI_Pack_size(1, record_type, MPI_COMM_WORLD, &length));
    CHECK(length >= position - half);

    CHECK_OK(MPI_Isend(packed, position, MPI_PACKED, right, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv(arrived, sizeof arrived, MPI_PACKED, left, 0, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Get_count(&status, MPI_PACKED, &length));
    CHECK(length == position);

    position = 0;
    CHECK_OK(MPI_Unpack(arrived, length, &position, got, 1, every_other, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(arrived, length, &position, &other, 1, record_type, MPI_COMM_WORLD));
    CHECK(position == length);
    for (int i = 0; i < 12; i++)
        CHECK(got[i] == (i % 2 ? 0 : 100 * left + i));
    CHECK(other.id == left && other.x[0] == left + 0.5 && other.x[1] == -1 && other.x[2] == 2);
    CHECK_OK(MPI_Type_free(&every_other));
    CHECK_OK(MPI_Type_free(&record_type));
}

static void arguments(void)
{
    int in[4] = { 1, 2, 3, 4 }, out[4] = { 0 }, position = 0, size;
    MPI_Count large = 4, large_size;
    char packed[20];
    MPI_Datatype uncommitted;

    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    CHECK_CLASS(MPI_Pack(in, 1, uncommitted, packed, 20, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Pack(in, 6, MPI_INT, packed, 20, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Pack(in, -1, MPI_INT, packed, 20, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack(in, 1, MPI_INT, packed, 20, &position, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Pack(in, 1, MPI_INT, packed, -1, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack(in, 1, MPI_INT, packed, 20, NULL, MPI_COMM_WORLD), MPI_ERR_ARG);
    CHECK(position == 0);
    CHECK_OK(MPI_Pack_c(in, 4, MPI_INT, packed, 20, &large, MPI_COMM_WORLD));
    CHECK(large == 20);
    position = 4;
    CHECK_CLASS(MPI_Unpack(packed, 16, &position, out, 4, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK(position == 4 && out[0] == 0);
    CHECK_OK(MPI_Unpack(packed, 20, &position, out, 4, MPI_INT, MPI_COMM_WORLD));
    CHECK(position == 20 && out[0] == 1 && out[3] == 4);
    CHECK_OK(MPI_Pack_size(INT_MAX, MPI_DOUBLE, MPI_COMM_WORLD, &size));
    CHECK(size == MPI_UNDEFINED);
    CHECK_OK(MPI_Pack_size_c(INT_MAX, MPI_DOUBLE, MPI_COMM_WORLD, &large_size));
    CHECK(large_size == 8ll * INT_MAX);
    CHECK_OK(MPI_Type_free(&uncommitted));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    ring();
    arguments();
    MTEST_END;
}
