/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective reading and writing: random interleaved accesses of all processes, with holes that none of them writes,
 * against a model in memory. With all ways of buffering, small buffers, few aggregators; the end of the file; processes
 * without data.
 */
#include "files.h"

enum { FILE_BYTES = 1 << 16, BLOCKS = 400 };

static unsigned char model[FILE_BYTES], file[FILE_BYTES];
static unsigned seed;

static unsigned draw(unsigned below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % below;
}

/* The same numbers on all processes: the owner of each block, -1 for none. */
struct part {
    int count, lengths[BLOCKS], places[BLOCKS], bytes;
};

static void deal(struct part *parts, int ranks, int longest)
{
    int at = (int)draw(50);
    for (int r = 0; r < ranks; r++)
        parts[r].count = parts[r].bytes = 0;
    while (at < FILE_BYTES - longest) {
        int length = 1 + (int)draw((unsigned)longest), owner = (int)draw((unsigned)ranks + 1);
        if (owner < ranks && parts[owner].count < BLOCKS) {
            struct part *part = &parts[owner];
            part->places[part->count] = at;
            part->lengths[part->count++] = length;
            part->bytes += length;
        }
        at += length + (draw(3) == 0 ? (int)draw(100) : 0);
    }
}

static MPI_Datatype type_of(const struct part *part)
{
    MPI_Datatype type;
    MPI_Type_indexed(part->count, part->lengths, part->places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static unsigned char byte_of(int round, int rank, int i)
{
    return (unsigned char)(round * 31 + rank * 7 + i);
}

/* From scattered memory when `scattered`: every other byte. */
static void access_file(MPI_File fh, int write, int scattered, unsigned char *data, int bytes, MPI_Status *status)
{
    MPI_Datatype every;
    if (!scattered) {
        CHECK_OK(write ? MPI_File_write_all(fh, data, bytes, MPI_BYTE, status)
                       : MPI_File_read_at_all(fh, 0, data, bytes, MPI_BYTE, status));
        return;
    }
    MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &every);
    MPI_Type_commit(&every);
    CHECK_OK(write ? MPI_File_write_at_all(fh, 0, data, 1, every, status)
                   : MPI_File_read_all(fh, data, 1, every, status));
    MPI_Type_free(&every);
}

/* Writes the parts of all processes, compares the file, reads it back, also when it has become shorter. */
static void round_of(MPI_File fh, int round, int longest, int scattered)
{
    struct part *parts = calloc((size_t)mtest_size, sizeof *parts);
    unsigned char *data = malloc(2 * FILE_BYTES), *back = malloc(2 * FILE_BYTES);
    MPI_Status status;
    int step = scattered ? 2 : 1;
    deal(parts, mtest_size, longest);
    if (mtest_size > 2)
        parts[1].count = parts[1].bytes = 0;
    struct part *own = &parts[mtest_rank];
    for (int i = 0; i < own->bytes; i++)
        data[i * step] = byte_of(round, mtest_rank, i);
    MPI_Datatype type = type_of(own);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
    access_file(fh, 1, scattered, data, own->bytes, &status);
    CHECK(files_count(&status, MPI_BYTE) == own->bytes);
    for (int r = 0; r < mtest_size; r++)
        for (int b = 0, i = 0; b < parts[r].count; b++)
            for (int k = 0; k < parts[r].lengths[b]; k++, i++)
                model[parts[r].places[b] + k] = byte_of(round, r, i);
    long size = files_load(file, sizeof file);
    CHECK(size == FILE_BYTES && memcmp(file, model, FILE_BYTES) == 0);

    memset(back, 0xaa, 2 * FILE_BYTES);
    CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    access_file(fh, 0, scattered, back, own->bytes, &status);
    int wrong = files_count(&status, MPI_BYTE) != own->bytes;
    for (int i = 0; i < own->bytes; i++)
        wrong += back[i * step] != byte_of(round, mtest_rank, i) || (scattered && back[2 * i + 1] != 0xaa);
    CHECK(wrong == 0);

    int cut = (int)draw(FILE_BYTES), there = 0;
    CHECK_OK(MPI_File_set_size(fh, cut));
    for (int b = 0; b < own->count; b++) {
        int left = cut - own->places[b];
        there += left < 0 ? 0 : left < own->lengths[b] ? left : own->lengths[b];
    }
    memset(back, 0xaa, 2 * FILE_BYTES);
    CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    access_file(fh, 0, scattered, back, own->bytes, &status);
    wrong = files_count(&status, MPI_BYTE) != there;
    for (int i = 0; i < own->bytes; i++)
        wrong += back[i * step] != (i < there ? byte_of(round, mtest_rank, i) : 0xaa);
    CHECK(wrong == 0);
    free(parts);
    free(data);
    free(back);
    files_store(model, FILE_BYTES);
}

static void with(const char *buffering, const char *nodes, const char *buffer)
{
    MPI_Info info;
    MPI_File fh;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "romio_cb_read", buffering);
    if (nodes)
        MPI_Info_set(info, "cb_nodes", nodes);
    MPI_Info_set(info, "cb_buffer_size", buffer);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, files_name, MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    for (int round = 0; round < 4; round++)
        round_of(fh, round, round % 2 ? 300 : 20, round / 2);
    CHECK_OK(MPI_File_close(&fh));
}

/* Runs so far from each other that no process may read what lies between. */
static void far(void)
{
    MPI_Datatype type;
    MPI_Info info;
    MPI_File fh;
    MPI_Offset size = 0;
    int data[8], back[8];
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "cb_buffer_size", "4096");
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 36, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, files_name, MPI_MODE_RDWR, info, &fh));
    CHECK_OK(MPI_File_set_view(fh, 4 * mtest_rank, MPI_INT, type, "native", info));
    for (int i = 0; i < 8; i++)
        data[i] = mtest_rank * 100 + i;
    CHECK_OK(MPI_File_write_all(fh, data, 8, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at_all(fh, 0, back, 8, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(data, back, sizeof back) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK(size == ((MPI_Offset)7 << 36) + 4 * mtest_size);
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_OK(MPI_File_close(&fh));
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    files_store(model, FILE_BYTES);
}

/* A file opened for collective buffering by one process. */
static MPI_File open_buffered(int amode, const char *buffer)
{
    MPI_Info info;
    MPI_File fh;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "cb_buffer_size", buffer);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, files_name, amode, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

/* One run of each process, many buffers apart, in the order of the ranks or against it. Then two runs in one buffer:
 * the file ends amid the first, long before the second. */
static void separate(int upwards)
{
    enum { RUN = 5000, APART = 200000, SHORT = 1000 };
    static unsigned char data[RUN], back[RUN];
    const int lengths[] = { 2 * SHORT, SHORT }, places[] = { 0, APART / 2 };
    MPI_Offset at = (MPI_Offset)APART * (upwards ? mtest_rank : mtest_size - 1 - mtest_rank);
    MPI_Datatype type;
    MPI_Status status;
    MPI_File fh = open_buffered(MPI_MODE_RDWR, "4096");
    for (int i = 0; i < RUN; i++)
        data[i] = byte_of(upwards, mtest_rank, i);
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_OK(MPI_File_write_at_all(fh, at, data, RUN, MPI_BYTE, &status));
    CHECK(files_count(&status, MPI_BYTE) == RUN);
    CHECK_OK(MPI_File_read_at_all(fh, at, back, RUN, MPI_BYTE, &status));
    CHECK(files_count(&status, MPI_BYTE) == RUN && memcmp(data, back, RUN) == 0);
    CHECK_OK(MPI_File_close(&fh));

    fh = open_buffered(MPI_MODE_RDWR, "1048576");
    MPI_Type_indexed(2, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)APART * (mtest_size - 1) + RUN - SHORT, MPI_BYTE, type, "native",
                               MPI_INFO_NULL));
    MPI_Type_free(&type);
    memset(back, 0x77, RUN);
    CHECK_OK(MPI_File_read_all(fh, back, 3 * SHORT, MPI_BYTE, &status));
    CHECK(files_count(&status, MPI_BYTE) == SHORT);
    for (int i = 0; i < RUN; i++)
        CHECK(back[i] == (i < SHORT ? byte_of(upwards, upwards ? mtest_size - 1 : 0, RUN - SHORT + i) : 0x77));
    CHECK_OK(MPI_File_close(&fh));
    files_store(model, FILE_BYTES);
}

/* Overlapping views may be read together, also when their runs begin at the same offsets (`step` 0). The runs are of
 * one filetype, `stride` bytes apart, or each is one. */
static void overlapping(int step, int tiles, int stride)
{
    MPI_Datatype type;
    MPI_Info info;
    MPI_File fh;
    MPI_Status status;
    unsigned char back[60];
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", "enable");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, files_name, MPI_MODE_RDONLY, info, &fh));
    MPI_Info_free(&info);
    if (tiles) {
        MPI_Datatype run;
        MPI_Type_contiguous(6, MPI_BYTE, &run);
        MPI_Type_create_resized(run, 0, stride, &type);
        MPI_Type_free(&run);
    } else {
        MPI_Type_create_hvector(10, 6, stride, MPI_BYTE, &type);
    }
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(fh, step * mtest_rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
    CHECK_OK(MPI_File_read_all(fh, back, 60, MPI_BYTE, &status));
    CHECK(files_count(&status, MPI_BYTE) == 60);
    for (int i = 0; i < 60; i++)
        CHECK(back[i] == model[step * mtest_rank + i / 6 * stride + i % 6]);
    CHECK_OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    memset(model, 0xee, sizeof model);
    files_store(model, FILE_BYTES);
    seed = 4711;
    with("automatic", NULL, "65536");
    with("enable", "1", "4096");
    with("enable", "2", "16384");
    with("enable", "100", "4096");
    with("disable", NULL, "4096");
    far();
    separate(0);
    separate(1);
    for (int tiles = 0; tiles < 2; tiles++) {
        overlapping(1, tiles, 4);
        overlapping(0, tiles, 4);
    }
    overlapping(1, 0, 0); /* displacements may be equal */
    overlapping(0, 0, 0);
    files_end();
    MTEST_END;
}
