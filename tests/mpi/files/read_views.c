/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads through views with many small blocks: blocks and gaps of random lengths, a few of them or many, into contiguous
 * and scattered memory, up to the end of the file and past it. Each byte that arrives is compared, and none beside them
 * changes. */
/* ranks: 1 3 */
#include <stdbool.h>

#include "files.h"
#include "pattern.h"

enum { FILE_BYTES = 1500001, MOST_BLOCKS = 60, MOST_BYTES = 700000 };

static uint64_t state; /* of random numbers */

static int below(int limit)
{
    return (int)(pattern_random(&state) % (uint32_t)limit);
}

static unsigned char byte_at(MPI_Offset at)
{
    return (unsigned char)(at ^ at >> 8 ^ at >> 16);
}

struct layout {
    int blocks, lengths[MOST_BLOCKS], places[MOST_BLOCKS], each, extent; /* each: bytes of data */
    MPI_Offset disp;
};

/* Blocks that follow each other with gaps. */
static struct layout layout_random(void)
{
    struct layout l = { .blocks = 2 + below(MOST_BLOCKS - 2), .disp = below(1000) };
    int longest = 1 + below(200), gap = 1 + below(below(4) ? longest : 20 * longest);
    for (int i = 0; i < l.blocks; i++) {
        l.extent += below(gap);
        l.lengths[i] = 1 + below(longest);
        l.places[i] = l.extent;
        l.extent += l.lengths[i];
        l.each += l.lengths[i];
    }
    l.extent += below(gap);
    return l;
}

static MPI_Offset layout_offset(const struct layout *l, MPI_Offset byte)
{
    MPI_Offset in = byte % l->each;
    int block = 0;
    while (in >= l->lengths[block])
        in -= l->lengths[block++];
    return l->disp + byte / l->each * l->extent + l->places[block] + in;
}

static MPI_Datatype layout_type(const struct layout *l)
{
    MPI_Datatype blocks, filetype;
    MPI_Type_indexed(l->blocks, l->lengths, l->places, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, l->extent, &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_free(&blocks);
    return filetype;
}

/* Reads `bytes` bytes from `from` on. In scattered memory every second byte is one of them. */
static void check_read(MPI_File fh, const struct layout *l, int from, int bytes, bool scattered)
{
    int step = scattered ? 2 : 1, there = 0, count = -1;
    unsigned char *memory = malloc((size_t)bytes * 2 + 1);
    MPI_Offset *want = malloc((size_t)bytes * sizeof *want);
    MPI_Datatype odd;
    MPI_Status status;
    memset(memory, 0xa5, (size_t)bytes * 2 + 1);
    MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &odd);
    MPI_Type_commit(&odd);
    int rc = scattered ? MPI_File_read_at(fh, from, memory, 1, odd, &status)
                       : MPI_File_read_at(fh, from, memory, bytes, MPI_BYTE, &status);
    CHECK_OK(rc);
    while (there < bytes && (want[there] = layout_offset(l, from + there)) < FILE_BYTES)
        there++;
    CHECK_OK(MPI_Get_elements(&status, MPI_BYTE, &count));
    CHECK(count == there);
    int wrong = 0;
    for (int i = 0; i < there; i++)
        wrong += memory[i * step] != byte_at(want[i]);
    for (int i = scattered; i <= 2 * bytes; i += step)
        wrong += (scattered || i >= there) && memory[i] != 0xa5;
    for (int i = there * step; i <= 2 * bytes; i++)
        wrong += memory[i] != 0xa5;
    CHECK(wrong == 0);
    MPI_Type_free(&odd);
    free(want);
    free(memory);
}

static void check_layout(MPI_File fh)
{
    struct layout l = layout_random();
    MPI_Datatype filetype = layout_type(&l);
    CHECK_OK(MPI_File_set_view(fh, l.disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    int all = (int)((FILE_BYTES - l.disp) / l.extent) * l.each; /* bytes of whole tiles */
    for (int i = 0; i < 6; i++)
        check_read(fh, &l, below(all), 1 + below(i < 4 ? 5000 : MOST_BYTES), i % 2);
    check_read(fh, &l, all - 1, 3 * l.each, false);
    check_read(fh, &l, 0, 1 + below(l.each - 1), false); /* from the first byte on: a part, and tiles and a part */
    check_read(fh, &l, 0, 2 * l.each + 1, false);
    MPI_Type_free(&filetype);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    state = 1 + (uint64_t)mtest_rank;
    unsigned char *bytes = malloc(FILE_BYTES);
    for (int i = 0; i < FILE_BYTES; i++)
        bytes[i] = byte_at(i);
    files_store(bytes, FILE_BYTES);
    free(bytes);
    MPI_File fh;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, files_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    for (int round = 0; round < 12; round++)
        check_layout(fh);
    CHECK_OK(MPI_File_close(&fh));
    files_end();
    MTEST_END;
}
