/* SPDX-License-Identifier: BSD-3-Clause */
/* Independent reading and writing at offsets and by the individual pointer: data, counts at the end of the file, memory
 * of all shapes, the functions with large counts, whole and partial elements. */
#include "files.h"

enum { N = 1000 };

static MPI_File fh;
static int data[N], back[N];

static int value(int rank, int i)
{
    return rank * 100000 + i;
}

static void at_offsets(void)
{
    MPI_Status status;
    MPI_Offset size, at = -1;
    for (int i = 0; i < N; i++)
        data[i] = value(mtest_rank, i);
    CHECK_OK(MPI_File_write_at(fh, (MPI_Offset)mtest_rank * (MPI_Offset)sizeof data, data, N, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == N);
    MPI_Barrier(MPI_COMM_WORLD);
    int other = (mtest_rank + 1) % mtest_size;
    CHECK_OK(MPI_File_read_at_c(fh, (MPI_Offset)other * (MPI_Offset)sizeof data, back, N, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == N);
    for (int i = 0; i < N; i++)
        CHECK(back[i] == value(other, i));
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK(at == 0);
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == (MPI_Offset)sizeof data * mtest_size);
    /* over the end: what is there, and the rest of the buffer untouched */
    memset(back, 0x55, sizeof back);
    CHECK_OK(MPI_File_read_at(fh, size - 10, back, N, MPI_INT, &status));
    CHECK(files_count(&status, MPI_BYTE) == 10 && files_count(&status, MPI_INT) == MPI_UNDEFINED);
    CHECK(((char *)back)[10] == 0x55);
    CHECK_OK(MPI_File_read_at(fh, size + 10, back, 4, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == 0);
    CHECK_OK(MPI_File_read_at(fh, 0, NULL, 0, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == 0);
    CHECK_CLASS(MPI_File_read_at(fh, -1, back, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK(MPI_File_read_at(fh, 0, back, -1, MPI_INT, &status) != MPI_SUCCESS);
    CHECK(MPI_File_read_at(fh, 0, back, 1, MPI_DATATYPE_NULL, &status) != MPI_SUCCESS);
    CHECK(MPI_File_write_at(fh, INT64_MAX - 3, back, 1, MPI_INT, &status) != MPI_SUCCESS);
}

static void by_pointer(void)
{
    MPI_Status status;
    MPI_Offset at = -1, mine = (MPI_Offset)mtest_rank * (MPI_Offset)sizeof data;
    CHECK_OK(MPI_File_seek(fh, mine, MPI_SEEK_SET));
    for (int i = 0; i < N; i++)
        data[i] = -value(mtest_rank, i);
    CHECK_OK(MPI_File_write(fh, data, N / 2, MPI_INT, &status));
    CHECK_OK(MPI_File_write_c(fh, data + N / 2, N - N / 2, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == N - N / 2);
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK(at == mine + (MPI_Offset)sizeof data);
    CHECK_OK(MPI_File_seek(fh, -(MPI_Offset)sizeof data, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_read(fh, back, N, MPI_INT, &status));
    CHECK(memcmp(back, data, sizeof data) == 0);
    CHECK_OK(MPI_File_seek(fh, -40, MPI_SEEK_END));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_read_c(fh, back, N, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == 10 && back[9] == -value(mtest_size - 1, N - 1));
    CHECK_OK(MPI_File_seek(fh, 5, MPI_SEEK_SET));
    CHECK(MPI_File_seek(fh, -6, MPI_SEEK_CUR) != MPI_SUCCESS);
    CHECK(MPI_File_seek(fh, 0, 12345) != MPI_SUCCESS);
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK(at == 5); /* what fails does not move it */
}

/* A file with a gap between what was written: zeros. */
static void gap(void)
{
    char text[8] = "abcdefg";
    files_remove();
    MPI_File other = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write_at(other, 100000, text, 7, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    memset(back, 1, sizeof back);
    CHECK_OK(MPI_File_read_at(other, 99996, back, 11, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(back[0] == 0 && memcmp(&back[1], "abcdefg", 7) == 0);
    MPI_Datatype every; /* memory in pieces, of which the file has not all */
    MPI_Status status;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    memset(back, 1, sizeof back);
    CHECK_OK(MPI_File_read_at(other, 99996, back, 1, every, &status));
    CHECK(files_count(&status, MPI_BYTE) == 11);
    CHECK(back[0] == 0 && back[1] == 0x01010101 && memcmp(&back[2], "abcd", 4) == 0 && back[3] == 0x01010101);
    CHECK(memcmp(&back[4], "efg\1", 4) == 0);
    MPI_Type_free(&every);
    CHECK_OK(MPI_File_close(&other));
}

/* Memory in pieces. */
static void scattered(void)
{
    MPI_Datatype every, mixed;
    MPI_Status status;
    int lengths[] = { 1, 3 };
    MPI_Aint places[] = { 0, 16 };
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_SHORT };
    MPI_Type_vector(N / 4, 2, 4, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    for (int i = 0; i < N; i++)
        data[i] = value(mtest_rank, i);
    MPI_Offset mine = 8192 * (MPI_Offset)mtest_rank;
    CHECK_OK(MPI_File_write_at(fh, mine, data, 1, every, &status));
    CHECK(files_count(&status, every) == 1 && files_count(&status, MPI_INT) == N / 2);
    CHECK_OK(MPI_File_read_at(fh, mine, back, N / 2, MPI_INT, &status));
    for (int i = 0; i < N / 2; i++)
        CHECK(back[i] == value(mtest_rank, i / 2 * 4 + i % 2));
    memset(back, 0, sizeof back);
    CHECK_OK(MPI_File_read_at(fh, mine, back, 1, every, &status));
    for (int i = 0; i < N; i++)
        CHECK(back[i] == (i % 4 < 2 ? data[i] : 0));

    struct {
        double d;
        char gap[8];
        short s[3];
        char end[2];
    } from[20], to[20]; /* as large as the type's extent */
    for (int i = 0; i < 20; i++) {
        from[i].d = i + mtest_rank / 8.0;
        for (int k = 0; k < 3; k++)
            from[i].s[k] = (short)(i * 3 + k);
    }
    memset(to, 0, sizeof to);
    CHECK_OK(MPI_File_write_at(fh, mine, from, 20, mixed, &status));
    CHECK(files_count(&status, mixed) == 20 && files_count(&status, MPI_BYTE) == 20 * 14);
    CHECK_OK(MPI_File_read_at(fh, mine, to, 20, mixed, &status));
    for (int i = 0; i < 20; i++)
        CHECK(to[i].d == from[i].d && memcmp(to[i].s, from[i].s, sizeof to[i].s) == 0);
    MPI_Type_free(&every);
    MPI_Type_free(&mixed);
}

/* More than any buffer inside, from scattered memory. */
static void large(void)
{
    enum { BIG = 1 << 20 };
    MPI_Datatype every;
    MPI_Status status;
    int *big = malloc(2 * BIG * sizeof *big), *same = calloc(2 * BIG, sizeof *same);
    MPI_Type_vector(BIG, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    for (int i = 0; i < 2 * BIG; i++)
        big[i] = i ^ mtest_rank;
    if (mtest_rank == 0) {
        CHECK_OK(MPI_File_write_at(fh, 3, big, 1, every, &status));
        CHECK(files_count(&status, MPI_INT) == BIG);
        CHECK_OK(MPI_File_read_at(fh, 3, same, 1, every, &status));
        int wrong = 0;
        for (int i = 0; i < 2 * BIG; i++)
            wrong += same[i] != (i % 2 ? 0 : big[i]);
        CHECK(wrong == 0);
    }
    MPI_Type_free(&every);
    free(big);
    free(same);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    fh = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
    at_offsets();
    MPI_Barrier(MPI_COMM_WORLD);
    by_pointer();
    MPI_Barrier(MPI_COMM_WORLD);
    scattered();
    MPI_Barrier(MPI_COMM_WORLD);
    large();
    CHECK_OK(MPI_File_close(&fh));
    gap();
    files_end();
    MTEST_END;
}
