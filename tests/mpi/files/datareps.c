/* SPDX-License-Identifier: BSD-3-Clause */
/* Data representations: external32 byte by byte, internal, and one that the program registers, with its own sizes. */
#include <stddef.h>

#include "files.h"

static MPI_File fh;

static void external(void)
{
    unsigned char bytes[4096], *want = bytes;
    int numbers[] = { 1, -2, 0x01020304, 1 << 30 };
    double real = 1.5;
    long wide[] = { -7, 123456789 };
    MPI_Status status;
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write_at(fh, 0, numbers, 4, MPI_INT, &status));
    CHECK(files_load(bytes, sizeof bytes) == 16);
    for (int i = 0; i < 4; i++, want += 4)
        CHECK(want[0] == ((unsigned)numbers[i] >> 24) && want[3] == ((unsigned)numbers[i] & 255));
    CHECK_OK(MPI_File_set_view(fh, 16, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all(fh, mtest_rank, &real, 1, MPI_DOUBLE, &status));
    CHECK(files_count(&status, MPI_DOUBLE) == 1);
    CHECK(files_load(bytes, sizeof bytes) == 16 + 8 * mtest_size && bytes[16] == 0x3f && bytes[17] == 0xf8);
    real = 0;
    CHECK_OK(MPI_File_read_at_all(fh, mtest_rank, &real, 1, MPI_DOUBLE, &status));
    CHECK(real == 1.5);
    /* a long has four bytes there, and so have the holes between two of them */
    MPI_Datatype every;
    MPI_Aint extent = 0;
    MPI_Offset at = -1;
    MPI_Type_vector(2, 1, 3, MPI_LONG, &every);
    MPI_Type_commit(&every);
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_LONG, every, "external32", MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_type_extent(fh, MPI_LONG, &extent));
    CHECK(extent == 4);
    CHECK_OK(MPI_File_get_type_extent(fh, every, &extent));
    CHECK(extent == 16);
    CHECK_OK(MPI_File_get_byte_offset(fh, 1, &at));
    CHECK(at == 12);
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write(fh, wide, 2, MPI_LONG, &status));
    CHECK(files_load(bytes, sizeof bytes) == 16);
    CHECK(bytes[0] == 255 && bytes[3] == 249 && bytes[15] == (123456789 & 255) && bytes[12] == 123456789 >> 24);
    long got[3] = { 0, 0, 99 };
    CHECK_OK(MPI_File_read_at(fh, 0, got, 3, MPI_LONG, &status)); /* one is not there */
    CHECK(files_count(&status, MPI_LONG) == 2 && got[0] == -7 && got[1] == 123456789 && got[2] == 99);
    MPI_Type_free(&every);
}

/* A mixed type from memory with gaps, cut by the end of the file. */
static void mixed(void)
{
    struct {
        int i;
        double d;
    } from[6], to[6];
    int lengths[] = { 1, 1 };
    MPI_Aint places[] = { 0, offsetof(__typeof__(from[0]), d) };
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, type;
    MPI_Status status;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 6; i++) {
        from[i].i = i;
        from[i].d = i / 4.0;
    }
    memset(to, 0x11, sizeof to);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write_at(fh, 0, from, 6, type, &status));
    CHECK_OK(MPI_File_set_size(fh, 5 * 12 + 4));
    CHECK_OK(MPI_File_read_at(fh, 0, to, 6, type, &status));
    CHECK(files_count(&status, MPI_BYTE) == 5 * 12 + 4);
    for (int i = 0; i < 6; i++)
        CHECK(to[i].i == i && (i == 5 ? to[i].d != from[i].d : to[i].d == from[i].d));
    MPI_Type_free(&type);
}

/* The etype MPI_BYTE matches any data. A long has four bytes in the file, so all counts there are of these. */
static void bytes_of_longs(void)
{
    long wide[] = { -7, 123456789, 1L << 30 }, got[4] = { 0, 0, 0, 99 };
    unsigned char bytes[4096];
    MPI_Offset at = -1;
    MPI_Status status;
    MPI_Datatype every;
    MPI_Type_vector(3, 1, 2, MPI_LONG, &every);
    MPI_Type_commit(&every);
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all(fh, 12 * mtest_rank, wide, 3, MPI_LONG, &status));
    CHECK(files_count(&status, MPI_LONG) == 3);
    CHECK(files_load(bytes, sizeof bytes) == 12 * mtest_size && bytes[3] == 249 && bytes[8] == 64 && bytes[11] == 0);
    CHECK_OK(MPI_File_seek(fh, 12 * mtest_rank, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read(fh, got, 2, MPI_LONG, &status));
    CHECK_OK(MPI_File_get_position(fh, &at));
    CHECK(at == 12 * mtest_rank + 8 && got[0] == wide[0] && got[1] == wide[1] && got[2] == 0);
    CHECK_OK(MPI_File_read_ordered(fh, got, 3, MPI_LONG, &status));
    CHECK(files_count(&status, MPI_LONG) == 3 && got[0] == wide[0] && got[2] == wide[2] && got[3] == 99);
    CHECK_OK(MPI_File_read_at(fh, 12 * mtest_size - 8, got, 4, MPI_LONG, &status)); /* two are not there */
    CHECK(files_count(&status, MPI_LONG) == 2 && got[0] == wide[1] && got[1] == wide[2] && got[3] == 99);
    long spread[5] = { 1, 1, 1, 1, 1 };
    CHECK_OK(MPI_File_read_at_all(fh, 12 * mtest_rank, spread, 1, every, &status));
    for (int i = 0; i < 5; i++)
        CHECK(spread[i] == (i % 2 ? 1 : wide[i / 2]));
    MPI_Type_free(&every);
}

/* Numbers as text: eight digits for an int. */
static int reads, writes;

static int extent_of(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    *extent = 8;
    return datatype == MPI_INT && extra == &reads ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* Where the k-th int of a buffer of the datatype lies. */
static int *item(void *buf, MPI_Datatype datatype, MPI_Offset k)
{
    int size;
    MPI_Aint lb, extent;
    MPI_Type_size(datatype, &size);
    MPI_Type_get_extent(datatype, &lb, &extent);
    int each = size / (int)sizeof(int);
    int step = each > 1 ? (int)(((size_t)extent / sizeof(int) - 1) / (size_t)(each - 1)) : 1; /* a vector of ones */
    return (int *)((char *)buf + k / each * extent) + k % each * step;
}

static int from_text(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position, void *extra)
{
    (void)extra;
    for (int i = 0; i < count; i++) {
        char digits[9] = "";
        memcpy(digits, (char *)filebuf + 8 * i, 8);
        *item(userbuf, datatype, position + i) = atoi(digits);
    }
    reads++;
    return MPI_SUCCESS;
}

static int to_text(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position, void *extra)
{
    (void)extra;
    for (int i = 0; i < count; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%08d", *item(userbuf, datatype, position + i));
        memcpy((char *)filebuf + 8 * i, digits, 8);
    }
    writes++;
    return MPI_SUCCESS;
}

static int refuse(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position,
                  void *extra)
{
    (void)userbuf, (void)datatype, (void)count, (void)filebuf, (void)position, (void)extra;
    return MPI_ERR_OTHER;
}

static void registered(void)
{
    char longer[MPI_MAX_DATAREP_STRING + 10], text[1000];
    int data[6] = { 0 }, back[6] = { 0 };
    MPI_Datatype every;
    MPI_Status status;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK_OK(MPI_Register_datarep("text", from_text, to_text, extent_of, &reads));
    CHECK_CLASS(MPI_Register_datarep("text", from_text, to_text, extent_of, &reads), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("native", from_text, to_text, extent_of, &reads), MPI_ERR_DUP_DATAREP);
    CHECK(MPI_Register_datarep(longer, from_text, to_text, extent_of, &reads) != MPI_SUCCESS);
    CHECK_OK(MPI_Register_datarep_c("refused", refuse, refuse, extent_of, &reads));
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "text", MPI_INFO_NULL));
    for (int i = 0; i < 6; i++)
        data[i] = mtest_rank * 10 + i;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    CHECK_OK(MPI_File_write_at_all(fh, 4 * mtest_rank, data, 2, every, &status)); /* data[0], [2], [3], [5] */
    CHECK(files_count(&status, MPI_INT) == 4 && writes == 1);
    CHECK(files_load(text, sizeof text) == 32 * mtest_size);
    CHECK(memcmp(text, "00000000000000020000000300000005", 32) == 0);
    CHECK_OK(MPI_File_read_at_all(fh, 4 * mtest_rank, back, 2, every, &status));
    CHECK(files_count(&status, MPI_INT) == 4 && reads == 1);
    for (int i = 0; i < 6; i++)
        CHECK(back[i] == (i % 3 == 1 ? 0 : data[i]));
    CHECK_OK(MPI_File_read_at(fh, 4 * mtest_size - 1, back, 6, MPI_INT, &status));
    CHECK(files_count(&status, MPI_INT) == 1 && back[0] == mtest_size * 10 - 5);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "text", MPI_INFO_NULL), MPI_ERR_CONVERSION);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "refused", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at(fh, 0, data, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_read_at(fh, 0, data, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_write_at_all(fh, 0, data, mtest_rank == 0, MPI_INT, &status),
                mtest_rank == 0 ? MPI_ERR_CONVERSION : MPI_SUCCESS);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all(fh, mtest_rank, &mtest_rank, 1, MPI_INT, &status));
    CHECK_OK(MPI_File_read_at(fh, mtest_rank, back, 1, MPI_INT, &status));
    CHECK(back[0] == mtest_rank);
    MPI_Type_free(&every);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    fh = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
    external();
    mixed();
    bytes_of_longs();
    registered();
    CHECK_OK(MPI_File_close(&fh));
    files_end();
    MTEST_END;
}
