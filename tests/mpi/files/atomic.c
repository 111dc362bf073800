/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic mode: what overlaps is one or the other, also in pieces, between handles and between processes. */
#include "files.h"

enum { BYTES = 20000, ROUNDS = 30 };

static unsigned char data[BYTES], back[BYTES];

/* All write the same places, each with its own number, and see but one number when they read. */
static void same_places(MPI_File fh)
{
    MPI_Status status;
    int mixed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        memset(data, 1 + (mtest_rank + round) % 200, BYTES);
        CHECK_OK(MPI_File_write_at(fh, 0, data, BYTES, MPI_BYTE, &status));
        CHECK_OK(MPI_File_read_at(fh, 0, back, BYTES, MPI_BYTE, &status));
        CHECK(files_count(&status, MPI_BYTE) == BYTES);
        for (int i = 1; i < BYTES; i++)
            mixed += back[i] != back[0];
    }
    CHECK(mixed == 0);
}

static void together(MPI_File fh)
{
    memset(data, 1 + mtest_rank, BYTES);
    CHECK_OK(MPI_File_write_at_all(fh, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_read_at_all(fh, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(back[0] >= 1 && back[0] <= mtest_size);
    for (int i = 1; i < BYTES; i++)
        CHECK(back[i] == back[0]);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    MPI_Datatype every;
    int flag = -1;
    MPI_File fh = files_open(MPI_MODE_RDWR | MPI_MODE_CREATE), other;
    CHECK_OK(MPI_File_set_atomicity(fh, 1));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK(flag == 1);
    same_places(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_vector(BYTES / 100, 100, 170, MPI_BYTE, &every);
    MPI_Type_commit(&every);
    CHECK_OK(MPI_File_set_view(fh, 3, MPI_BYTE, every, "native", MPI_INFO_NULL));
    same_places(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    together(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    /* two handles of one process: the one that is written by does not take the other's locks with it */
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, files_name, MPI_MODE_RDWR, MPI_INFO_NULL, &other));
    CHECK_OK(MPI_File_set_atomicity(other, 1));
    CHECK_OK(MPI_File_set_view(other, 3, MPI_BYTE, every, "native", MPI_INFO_NULL));
    same_places(mtest_rank % 2 ? other : fh);
    CHECK_OK(MPI_File_close(&other));
    MPI_Barrier(MPI_COMM_WORLD);
    if (mtest_size > 1)
        CHECK_CLASS(MPI_File_set_atomicity(fh, mtest_rank == 0), MPI_ERR_NOT_SAME);
    CHECK_OK(MPI_File_set_atomicity(fh, 0));
    CHECK_OK(MPI_File_get_atomicity(fh, &flag));
    CHECK(flag == 0);
    MPI_Type_free(&every);
    CHECK_OK(MPI_File_close(&fh));
    files_end();
    MTEST_END;
}
