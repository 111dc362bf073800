/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking accesses, which are requests like others, and wait for no other process when they are collective; split
 * collectives, one at a time. */
#include "files.h"

enum { N = 200 };

static MPI_File fh;
static int data[4][N], back[4][N];

static void fill(int salt)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++)
            data[k][i] = salt + mtest_rank * 1000000 + k * 10000 + i;
    memset(back, 0, sizeof back);
}

static void many(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int flag = 0, index;
    MPI_Offset base = (MPI_Offset)mtest_rank * 4 * N, at = -1;
    fill(1);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
    CHECK_OK(MPI_File_iwrite(fh, data[0], N, MPI_INT, &requests[0]));
    CHECK_OK(MPI_File_iwrite_c(fh, data[1], N, MPI_INT, &requests[1]));
    CHECK_OK(MPI_File_iwrite_at(fh, base + 2 * N, data[2], N, MPI_INT, &requests[2]));
    CHECK_OK(MPI_File_iwrite_at_c(fh, base + 3 * N, data[3], N, MPI_INT, &requests[3]));
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    for (int k = 0; k < 4; k++)
        CHECK(requests[k] == MPI_REQUEST_NULL && files_count(&statuses[k], MPI_INT) == N);
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK(at == base + 2 * N);
    CHECK_OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
    for (int k = 0; k < 3; k++)
        CHECK_OK(MPI_File_iread(fh, back[k], N, MPI_INT, &requests[k]));
    CHECK_OK(MPI_File_iread_at(fh, base + 3 * N, back[3], N, MPI_INT, &requests[3]));
    CHECK_OK(MPI_Waitany(4, requests, &index, statuses));
    while (!flag)
        CHECK_OK(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(memcmp(back, data, sizeof data) == 0);
    CHECK_OK(MPI_File_iread_at(fh, base, back[0], N, MPI_INT, &requests[0]));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK(MPI_File_iread_at(fh, -1, back[0], N, MPI_INT, &requests[0]) != MPI_SUCCESS);
}

/* Started here before a message goes, and there after it has come: no process waits for ever. */
static void collective(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Datatype filetype;
    int token = 0, next = (mtest_rank + 1) % mtest_size, last = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Type_create_resized(MPI_INT, 0, 4 * mtest_size, &filetype);
    MPI_Type_commit(&filetype);
    fill(2);
    CHECK_OK(MPI_File_set_view(fh, mtest_rank * 4, MPI_INT, filetype, "native", MPI_INFO_NULL));
    if (mtest_rank > 0)
        MPI_Recv(&token, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_File_iwrite_all(fh, data[0], N, MPI_INT, &requests[0]));
    CHECK_OK(MPI_File_iwrite_at_all(fh, N, data[1], N, MPI_INT, &requests[1]));
    if (mtest_size > 1)
        MPI_Send(&token, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    if (mtest_size > 1 && mtest_rank == 0)
        MPI_Recv(&token, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK(files_count(&statuses[1], MPI_INT) == N);
    CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    CHECK_OK(MPI_File_iread_all_c(fh, back[0], N, MPI_INT, &requests[0]));
    CHECK_OK(MPI_File_iread_at_all_c(fh, N, back[1], N, MPI_INT, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK(memcmp(back, data, 2 * sizeof data[0]) == 0);
    MPI_Type_free(&filetype);
}

static void split(void)
{
    MPI_Status status;
    MPI_File copy = fh;
    MPI_Offset base = (MPI_Offset)mtest_rank * 4 * N;
    fill(3);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all_begin(fh, base, data[0], N, MPI_INT));
    CHECK(MPI_File_write_all_begin(fh, data[1], N, MPI_INT) != MPI_SUCCESS); /* one at a time */
    CHECK(MPI_File_write_all(fh, data[1], N, MPI_INT, &status) != MPI_SUCCESS);
    CHECK(MPI_File_write_all_end(fh, data[0], &status) != MPI_SUCCESS);    /* another kind */
    CHECK(MPI_File_write_at_all_end(fh, data[1], &status) != MPI_SUCCESS); /* another buffer */
    CHECK(MPI_File_close(&copy) != MPI_SUCCESS);
    CHECK_OK(MPI_File_write_at(fh, base + N, data[1], N, MPI_INT, &status)); /* independent ones may go on */
    CHECK_OK(MPI_File_write_at_all_end(fh, data[0], &status));
    CHECK(files_count(&status, MPI_INT) == N);
    CHECK(MPI_File_write_at_all_end(fh, data[0], &status) != MPI_SUCCESS);
    CHECK_OK(MPI_File_seek(fh, base + 2 * N, MPI_SEEK_SET));
    CHECK_OK(MPI_File_write_all_begin_c(fh, data[2], 2 * N, MPI_INT));
    CHECK_OK(MPI_File_write_all_end(fh, data[2], &status));
    CHECK(files_count(&status, MPI_INT) == 2 * N);
    CHECK_OK(MPI_File_seek(fh, base, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read_all_begin(fh, back[0], 2 * N, MPI_INT));
    CHECK_OK(MPI_File_read_all_end(fh, back[0], &status));
    CHECK_OK(MPI_File_read_at_all_begin_c(fh, base + 2 * N, back[2], 2 * N, MPI_INT));
    CHECK_OK(MPI_File_read_at_all_end(fh, back[2], MPI_STATUS_IGNORE));
    CHECK(memcmp(back, data, sizeof data) == 0);
}

/* One has not ended its split collective: the file stays open everywhere. */
static void close_too_early(void)
{
    MPI_Status status;
    MPI_File copy = fh;
    fill(9);
    CHECK_OK(MPI_File_write_at_all_begin(fh, 0, data[0], mtest_rank == 0 ? N : 0, MPI_INT));
    if (mtest_rank > 0)
        CHECK_OK(MPI_File_write_at_all_end(fh, data[0], &status));
    CHECK_CLASS(MPI_File_close(&copy), MPI_ERR_IO);
    CHECK(copy == fh);
    if (mtest_rank == 0) {
        CHECK_OK(MPI_File_write_at_all_end(fh, data[0], &status));
        CHECK_OK(MPI_File_read_at(fh, 0, back[0], N, MPI_INT, &status));
        CHECK(memcmp(back[0], data[0], sizeof back[0]) == 0);
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    fh = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
    many();
    MPI_Barrier(MPI_COMM_WORLD);
    collective();
    MPI_Barrier(MPI_COMM_WORLD);
    split();
    close_too_early();
    CHECK_OK(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL);
    files_end();
    MTEST_END;
}
