/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared file pointer: every record is written once and read once, in any order, and in the order of the ranks. No
 * move is lost where all ranks move it at the same time. Seeking, positions, the last one, views. A file that only has
 * this pointer. All that again where memory cannot be shared.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

#include "files.h"

enum { RECORDS = 50, INTS = 8 };

static MPI_File fh;

/* While it is opened rank 0 may make nothing that is as large as a page: so it has no memory to offer. */
static void open_file(int amode, int limited)
{
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = limited && mtest_rank == 0 ? 1000 : before.rlim_cur;
    MPI_Barrier(MPI_COMM_WORLD); /* has made what a communicator has for collectives */
    setrlimit(RLIMIT_FSIZE, &limit);
    fh = files_open(amode);
    setrlimit(RLIMIT_FSIZE, &before);
}

static void unordered(void)
{
    int record[INTS], *all = calloc((size_t)(RECORDS * mtest_size) * INTS, sizeof *all);
    int *seen = calloc((size_t)(RECORDS * mtest_size), sizeof *seen);
    MPI_Status status;
    MPI_Offset at = -1;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < RECORDS; i++) {
        for (int k = 0; k < INTS; k++)
            record[k] = i * mtest_size + mtest_rank;
        if (i % 2) {
            MPI_Request request;
            CHECK_OK(MPI_File_iwrite_shared(fh, record, INTS, MPI_INT, &request));
            CHECK_OK(MPI_Wait(&request, &status));
        } else {
            CHECK_OK(MPI_File_write_shared(fh, record, INTS, MPI_INT, &status));
        }
        CHECK(files_count(&status, MPI_INT) == INTS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == (MPI_Offset)RECORDS * INTS * mtest_size);
    size_t bytes = (size_t)(RECORDS * mtest_size) * INTS * sizeof *all;
    CHECK(files_load(all, bytes) == (long)bytes);
    for (int i = 0; i < RECORDS * mtest_size; i++) {
        int number = all[i * INTS], whole = number >= 0 && number < RECORDS * mtest_size;
        for (int k = 1; k < INTS; k++)
            whole = whole && all[i * INTS + k] == number;
        CHECK(whole && seen[number]++ == 0);
    }
    CHECK_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    int read = 0, total = 0;
    while (MPI_File_read_shared(fh, record, INTS, MPI_INT, &status) == MPI_SUCCESS && files_count(&status, MPI_INT) > 0)
        read++;
    MPI_Allreduce(&read, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == RECORDS * mtest_size);
    free(all);
    free(seen);
}

/* Each rank writes rank + 1 ints, in the order of the ranks, again and again. */
static void ordered(void)
{
    int data[32], total = mtest_size * (mtest_size + 1) / 2, before = mtest_rank * (mtest_rank + 1) / 2;
    MPI_Status status;
    MPI_Offset at = -1;
    CHECK_OK(MPI_File_set_view(fh, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i <= mtest_rank; i++)
            data[i] = round * total + before + i;
        if (round % 2) {
            CHECK_OK(MPI_File_write_ordered_begin(fh, data, mtest_rank + 1, MPI_INT));
            CHECK_OK(MPI_File_write_ordered_end(fh, data, &status));
        } else {
            CHECK_OK(MPI_File_write_ordered(fh, data, mtest_rank + 1, MPI_INT, &status));
        }
        CHECK(files_count(&status, MPI_INT) == mtest_rank + 1);
    }
    int *all = malloc((size_t)(10 * total + 1) * sizeof *all);
    CHECK(files_load(all, (size_t)(10 * total + 1) * sizeof *all) == (10 * total + 1) * 4);
    for (int i = 0; i < 10 * total; i++)
        CHECK(all[i + 1] == i);
    free(all);
    CHECK_OK(MPI_File_seek_shared(fh, -total, MPI_SEEK_END));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_read_ordered(fh, data, mtest_rank + 1, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == mtest_rank + 1 && data[mtest_rank] == 9 * total + before + mtest_rank);
    CHECK_OK(MPI_File_seek_shared(fh, -total, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == 9 * total);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_read_ordered_begin(fh, data, mtest_rank + 1, MPI_INT));
    CHECK_OK(MPI_File_read_ordered_end(fh, data, &status));
    CHECK(data[0] == 9 * total + before);
    CHECK_OK(MPI_File_get_position(fh, &at)); /* the other pointer has not moved */
    CHECK(at == 0);
    CHECK(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    if (mtest_size > 1)
        CHECK_CLASS(MPI_File_seek_shared(fh, mtest_rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
}

/* All ranks move the pointer at the same time, and no move is lost. */
static void crowded(int limited)
{
    const int moves = limited ? 300 : 10000;
    char byte;
    MPI_Status status;
    MPI_Offset at = -1;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int i = 0; i < moves; i++)
        MPI_File_read_shared(fh, &byte, 1, MPI_BYTE, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == (MPI_Offset)moves * mtest_size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* At the last position there is, nothing moves the pointer further. */
static void far(void)
{
    const MPI_Offset last = INT64_MAX - 3;
    int number = 0;
    MPI_Status status;
    MPI_Offset at = -1;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_seek_shared(fh, last, MPI_SEEK_SET));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_read_shared(fh, &number, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_ordered(fh, &number, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == last);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void sequential(int limited)
{
    int number = -1;
    MPI_Status status;
    MPI_Offset at;
    CHECK_OK(MPI_File_close(&fh));
    files_remove();
    open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL, limited);
    CHECK_CLASS(MPI_File_write(fh, &number, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write_at(fh, 0, &number, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position_shared(fh, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) != MPI_SUCCESS);
    char lead = 'x';
    CHECK_OK(MPI_File_write_ordered(fh, &lead, mtest_rank == 0, MPI_CHAR, &status));
    CHECK_OK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    number = mtest_rank;
    CHECK_OK(MPI_File_write_ordered(fh, &number, 1, MPI_INT, &status));
    CHECK_OK(MPI_File_close(&fh));
    char bytes[100];
    CHECK(files_load(bytes, sizeof bytes) == 1 + 4 * mtest_size && bytes[0] == 'x');
    for (int i = 0; i < mtest_size; i++)
        CHECK(memcmp(bytes + 1 + 4 * i, &i, 4) == 0);
    fh = files_open(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    CHECK_OK(MPI_File_read_ordered(fh, &lead, mtest_rank == 0, MPI_CHAR, &status));
    number = -1;
    CHECK_OK(MPI_File_read_ordered(fh, &number, 4, MPI_BYTE, &status));
    CHECK(lead == 'x' && number == mtest_rank);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    signal(SIGXFSZ, SIG_IGN);
    for (int limited = 0; limited < 2; limited++) {
        open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, limited);
        unordered();
        CHECK_OK(MPI_File_set_size(fh, 0));
        ordered();
        crowded(limited);
        far();
        sequential(limited);
        CHECK_OK(MPI_File_close(&fh));
        files_remove();
    }
    files_end();
    MTEST_END;
}
