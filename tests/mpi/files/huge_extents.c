/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 5 */
/*
 * A collective read at the far end of what an offset can be. The extents of the first four processes, which have a
 * piece near the start of the file and one far behind it, are together nearly as long as an offset may be. That of the
 * last one makes this longer, and no window fits behind it.
 */
#include "mtest.h"

#include <stdint.h>

enum { BLOCK = 4096, BLOCKS = 16, EACH = 16, WIDE = 4 };

static unsigned char content(int i)
{
    return (unsigned char)(i * 7 + i / 256);
}

int main(int argc, char **argv)
{
    static unsigned char all[BLOCKS * BLOCK];
    const MPI_Aint apart = ((MPI_Aint)1 << 61) - EACH - 4;
    unsigned char got[2 * EACH];
    int count = -1;
    MPI_File file;
    MPI_Info info;
    MPI_Datatype type;
    MPI_Status status;
    MTEST_INIT(argc, argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", "enable");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "huge_extents.data",
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    for (int i = 0; i < BLOCKS * BLOCK; i++)
        all[i] = content(i);
    if (mtest_rank == 0)
        CHECK_OK(MPI_File_write_at(file, 0, all, BLOCKS * BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);

    int wide = mtest_rank < WIDE, first = (WIDE - 1 - mtest_rank) * BLOCK + 3;
    MPI_Type_create_hindexed(2, (int[]){ EACH, EACH }, (MPI_Aint[]){ 0, wide ? apart : EACH }, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(file, wide ? first : INT64_MAX - 100, MPI_BYTE, type, "native", MPI_INFO_NULL));
    memset(got, 0xee, sizeof got);
    CHECK_OK(MPI_File_read_at_all(file, 0, got, sizeof got, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == (wide ? EACH : 0));
    for (int i = 0; i < 2 * EACH; i++)
        CHECK(got[i] == (i < count ? content(first + i) : 0xee));
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_close(&file));
    MTEST_END;
}
