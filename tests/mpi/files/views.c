/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: where data lies in the file, for vectors, parts of arrays, lists of blocks and nested types; offsets, ends of
 * files, queries, and what may not be a view. */
#include "files.h"

static MPI_File fh;

static int set(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype)
{
    return MPI_File_set_view(fh, disp, etype, filetype, "native", MPI_INFO_NULL);
}

/* Each process has the ints of its rank modulo the size. */
static void interleaved(void)
{
    enum { EACH = 50 };
    int data[EACH], all[EACH * 16 + 4], lead = 3;
    MPI_Datatype filetype, one;
    MPI_Offset offset = -1, byte = -1;
    MPI_Status status;
    int place = mtest_rank;
    MPI_Type_create_indexed_block(1, 1, &place, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, mtest_size * (MPI_Aint)sizeof(int), &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_free(&one);
    for (int i = 0; i < EACH; i++)
        data[i] = i * mtest_size + mtest_rank;
    CHECK_OK(set(lead, MPI_INT, filetype));
    CHECK_OK(MPI_File_write(fh, data, 20, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == 20);
    CHECK_OK(MPI_File_get_position(fh, &offset));
    CHECK(offset == 20);
    CHECK_OK(MPI_File_get_byte_offset(fh, 20, &byte));
    CHECK(byte == lead + (20 * mtest_size + mtest_rank) * 4);
    CHECK_OK(MPI_File_write_at(fh, 20, data + 20, EACH - 20, MPI_INT, &status));
    long size = files_load(all, sizeof all);
    CHECK(size == lead + EACH * mtest_size * 4);
    for (int i = 0; i < EACH * mtest_size; i++) {
        int got;
        memcpy(&got, (char *)all + lead + 4 * i, 4);
        CHECK(got == i);
    }
    memset(data, 0, sizeof data);
    CHECK_OK(MPI_File_read_at(fh, 10, data, EACH, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == EACH - 10);
    for (int i = 0; i < EACH - 10; i++)
        CHECK(data[i] == (i + 10) * mtest_size + mtest_rank);
    CHECK_OK(MPI_File_seek(fh, -1, MPI_SEEK_END));
    CHECK_OK(MPI_File_read(fh, data, 1, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == 1 && data[0] == (EACH - 1) * mtest_size + mtest_rank);
    MPI_Type_free(&filetype); /* the view keeps it */
    CHECK_OK(MPI_File_read_at(fh, 3, data, 1, MPI_INT, &status));
    CHECK(data[0] == 3 * mtest_size + mtest_rank);
}

/* A matrix in blocks of rows and columns, read back whole. */
static void matrix(void)
{
    enum { ROWS = 12, WIDTH = 7 };
    int columns = WIDTH * mtest_size;
    int sizes[] = { ROWS, columns }, part[] = { ROWS, WIDTH }, from[] = { 0, WIDTH * mtest_rank };
    short block[ROWS][WIDTH], *whole = malloc((size_t)(ROWS * columns) * sizeof *whole);
    MPI_Datatype filetype;
    MPI_Status status;
    MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_SHORT, &filetype);
    MPI_Type_commit(&filetype);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++)
            block[r][c] = (short)(r * columns + WIDTH * mtest_rank + c);
    CHECK_OK(set(0, MPI_SHORT, filetype));
    CHECK_OK(MPI_File_write(fh, block, ROWS * WIDTH, MPI_SHORT, &status));
    CHECK(files_load(whole, (size_t)(ROWS * columns) * sizeof *whole) == ROWS * columns * 2);
    for (int i = 0; i < ROWS * columns; i++)
        CHECK(whole[i] == (short)i);
    memset(block, 0, sizeof block);
    CHECK_OK(MPI_File_read_at(fh, WIDTH, block, ROWS * WIDTH, MPI_SHORT, &status)); /* from the second row on */
    CHECK(files_count(&status, MPI_SHORT) == (ROWS - 1) * WIDTH);
    for (int r = 0; r < ROWS - 1; r++)
        for (int c = 0; c < WIDTH; c++)
            CHECK(block[r][c] == (short)((r + 1) * columns + WIDTH * mtest_rank + c));
    MPI_Type_free(&filetype);
    free(whole);
}

/* A list of blocks of etypes that are structures, with holes inside them too. */
static void nested(void)
{
    int lengths[] = { 1, 2, 1 }, places[] = { 1, 3, 9 };
    int etype_lengths[] = { 1, 1 };
    MPI_Aint etype_places[] = { 0, 6 };
    MPI_Datatype etype_types[] = { MPI_INT, MPI_SHORT }, etype, filetype;
    unsigned char file[4096], want[4096];
    char data[8 * 6];
    MPI_Status status;
    memset(file, 0xee, sizeof file);
    memcpy(want, file, sizeof want);
    files_store(file, sizeof file);
    MPI_Type_create_struct(2, etype_lengths, etype_places, etype_types, &etype); /* 4 and 2 bytes of 8 */
    MPI_Type_commit(&etype);
    MPI_Type_indexed(3, lengths, places, etype, &filetype);
    MPI_Type_commit(&filetype);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)i;
    CHECK_OK(set(5, etype, filetype));
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write_at(fh, 2, data, 8 * 6, MPI_BYTE, &status));
    static const int at[] = { 1, 3, 4, 9 }; /* etypes of a tile of 9, which begins with the first */
    for (int e = 0; e < 8; e++) {
        int k = e + 2, base = 5 + 8 * (k / 4 * 9 + at[k % 4]);
        memcpy(want + base, data + 6 * e, 4);
        memcpy(want + base + 6, data + 6 * e + 4, 2);
    }
    CHECK(files_load(file, sizeof file) == sizeof file);
    CHECK(memcmp(file, want, sizeof file) == 0);
    char back[48];
    MPI_Offset byte = -1;
    CHECK_OK(MPI_File_read_at(fh, 2, back, 48, MPI_BYTE, &status));
    CHECK(memcmp(back, data, 48) == 0);
    CHECK_OK(MPI_File_get_byte_offset(fh, 6, &byte));
    CHECK(byte == 5 + 8 * (9 + 4));
    CHECK(MPI_File_read(fh, back, 7, MPI_BYTE, &status) != MPI_SUCCESS); /* no whole number of etypes */
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
}

static void queries(void)
{
    MPI_Datatype filetype, etype_got, filetype_got;
    MPI_Offset disp = -1, at = -1, shared = -1;
    MPI_Aint lb, extent;
    MPI_Count large;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Type_vector(3, 2, 5, MPI_FLOAT, &filetype);
    MPI_Type_commit(&filetype);
    CHECK_OK(MPI_File_seek(fh, 7, MPI_SEEK_SET));
    CHECK_OK(set(12, MPI_FLOAT, filetype));
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK_OK(MPI_File_get_position_shared(fh, &shared));
    CHECK(at == 0 && shared == 0);
    CHECK_OK(MPI_File_get_view(fh, &disp, &etype_got, &filetype_got, datarep));
    CHECK(disp == 12 && strcmp(datarep, "native") == 0 && etype_got == MPI_FLOAT);
    CHECK_OK(MPI_Type_get_extent(filetype_got, &lb, &extent));
    CHECK(lb == 0 && extent == 12 * 4);
    MPI_Type_free(&filetype);
    CHECK_OK(MPI_Type_get_extent(filetype_got, &lb, &extent));
    CHECK(extent == 12 * 4);
    CHECK_OK(MPI_File_get_type_extent(fh, filetype_got, &extent));
    CHECK_OK(MPI_File_get_type_extent_c(fh, MPI_DOUBLE, &large));
    CHECK(extent == 12 * 4 && large == 8);
    MPI_Type_free(&filetype_got);
}

/* Where the end is for a view whose etypes lie around the last byte. */
static void ends(void)
{
    char bytes[100] = { 0 };
    MPI_Datatype filetype;
    MPI_Offset at = -1;
    files_store(bytes, sizeof bytes);
    MPI_Type_vector(2, 1, 3, MPI_INT, &filetype); /* bytes 0-3 and 12-15 of 16 */
    MPI_Type_commit(&filetype);
    for (int size = 20; size < 60; size++) {
        CHECK_OK(MPI_File_set_size(fh, size));
        CHECK_OK(set(4, MPI_INT, filetype));
        CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
        CHECK_OK(MPI_File_get_position(fh, &at));
        int want = 0;
        while (4 + want / 2 * 16 + want % 2 * 12 < size)
            want++;
        CHECK(at == want);
    }
    MPI_Type_free(&filetype);
}

/* A filetype for one access, as HDF5 makes for chunks: a contiguous part and a resized one, longer than its extent, so
 * that a second one would overlap the first. */
static void used_once(void)
{
    enum { EACH = 6 };
    MPI_Datatype column, narrow, filetype, wide;
    MPI_Aint places[] = { 0, 4 * EACH * (MPI_Aint)sizeof(int) };
    int lengths[] = { EACH, 1 }, out[2 * EACH], in[2 * EACH], got = -1;
    MPI_Offset at, disp = mtest_rank * 100 * EACH * (MPI_Offset)sizeof(int);
    MPI_Status status;
    MPI_Type_vector(EACH, 1, 2, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_create_struct(2, lengths, places, (MPI_Datatype[]){ MPI_INT, narrow }, &wide);
    MPI_Type_create_resized(wide, 0, 5 * EACH * (MPI_Aint)sizeof(int), &filetype);
    MPI_Type_commit(&filetype);
    CHECK_OK(set(disp, MPI_INT, filetype));
    for (int i = 0; i < 2 * EACH; i++)
        out[i] = mtest_rank * 100 + i;
    for (int collective = 0; collective < 2; collective++) {
        memset(in, 0, sizeof in);
        if (collective)
            CHECK_OK(MPI_File_write_at_all(fh, 0, out, 2 * EACH, MPI_INT, &status));
        else
            CHECK_OK(MPI_File_write_at(fh, 0, out, 2 * EACH, MPI_INT, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &got));
        CHECK(got == 2 * EACH);
        CHECK_OK(MPI_File_read_at_all(fh, 0, in, 2 * EACH, MPI_INT, &status));
        CHECK(memcmp(in, out, sizeof in) == 0);
    }
    CHECK_OK(MPI_File_get_byte_offset(fh, EACH + 1, &at));
    CHECK(at == disp + places[1] + 2 * (MPI_Offset)sizeof(int));
    CHECK_CLASS(MPI_File_write_at(fh, 0, out, 2 * EACH + 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_at(fh, 2 * EACH - 1, in, 2, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_OK(set(disp, MPI_INT, MPI_INT)); /* where the bytes are */
    for (int i = 0; i < EACH; i++) {
        int one = -1;
        CHECK_OK(MPI_File_read_at(fh, 4 * EACH + 2 * i, &one, 1, MPI_INT, &status));
        CHECK(one == out[EACH + i]);
    }
    for (int i = 0; i < 4; i++)
        MPI_Type_free((MPI_Datatype *[]){ &column, &narrow, &filetype, &wide }[i]);
}

static void refused(void)
{
    MPI_Datatype backwards, overlapping, negative, odd, uncommitted, empty;
    int decreasing[] = { 4, 0 };
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Type_create_indexed_block(2, 1, decreasing, MPI_INT, &backwards);
    MPI_Type_create_hvector(3, 2, 4, MPI_INT, &overlapping);
    MPI_Type_create_indexed_block(1, 1, (int[]){ -1 }, MPI_INT, &negative);
    MPI_Type_contiguous(6, MPI_BYTE, &odd);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Datatype *made[] = { &backwards, &overlapping, &negative, &odd, &empty };
    for (int i = 0; i < 5; i++)
        MPI_Type_commit(made[i]);
    CHECK_OK(set(8, MPI_INT, MPI_INT));
    CHECK(set(0, MPI_INT, backwards) != MPI_SUCCESS);
    CHECK(set(0, MPI_INT, overlapping) != MPI_SUCCESS);
    CHECK(set(0, MPI_INT, negative) != MPI_SUCCESS);
    CHECK(set(0, MPI_INT, odd) != MPI_SUCCESS);
    CHECK(set(0, MPI_INT, uncommitted) != MPI_SUCCESS);
    CHECK(set(0, empty, empty) != MPI_SUCCESS);
    CHECK(set(-5, MPI_INT, MPI_INT) != MPI_SUCCESS);
    CHECK(set(MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT) != MPI_SUCCESS);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "unknown", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    if (mtest_size > 1) /* wrong on one, refused on all */
        CHECK(set(mtest_rank == mtest_size - 1 ? -1 : 0, MPI_INT, MPI_INT) != MPI_SUCCESS);
    if (mtest_size > 1)
        CHECK(set(0, mtest_rank ? MPI_INT : MPI_DOUBLE, mtest_rank ? MPI_INT : MPI_DOUBLE) != MPI_SUCCESS);
    CHECK_OK(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep)); /* the old one is still there */
    CHECK(disp == 8 && etype == MPI_INT && filetype == MPI_INT);
    CHECK_OK(set(0, MPI_INT, empty)); /* a process with nothing */
    int nothing = 0;
    CHECK_OK(MPI_File_write(fh, &nothing, 0, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_write(fh, &nothing, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    for (int i = 0; i < 5; i++)
        MPI_Type_free(made[i]);
    MPI_Type_free(&uncommitted);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    void (*const parts[])(void) = { interleaved, matrix, nested, queries, ends, used_once, refused };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fh = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
        parts[i]();
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_File_close(&fh));
        files_remove();
    }
    files_end();
    MTEST_END;
}
