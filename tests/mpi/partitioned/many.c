/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of partitioned messages at a time, and one of very many partitions, around a ring (MPI-5.0 chapter 4). The
 * receives are made and started in another order than the sends, before the partitions come or after.
 */
/* ranks: 1 2 3 */
/* seconds: 300 */
#include "mtest.h"

enum { MANY = 2000, PARTS = 3, WIDE = 50000 };

static int sent[WIDE], got[WIDE];
static MPI_Request sends[MANY], receives[MANY];
static int to, from;

static int word(int i, int time, int rank)
{
    return i * 7 + time + rank * 1000003;
}

static void start_receives(void)
{
    for (int i = MANY - 1; i >= 0; i--)
        CHECK_OK(MPI_Start(&receives[i]));
}

static void many(void)
{
    for (int i = 0; i < MANY; i++) {
        int other = MANY - 1 - i;
        CHECK_OK(MPI_Psend_init(&sent[i * PARTS], PARTS, 1, MPI_INT, to, i, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
        CHECK_OK(MPI_Precv_init(&got[other * PARTS], PARTS, 1, MPI_INT, from, other, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &receives[other]));
    }
    for (int time = 0; time < 4; time++) {
        int bad = 0;
        for (int i = 0; i < MANY * PARTS; i++) {
            sent[i] = word(i, time, mtest_rank);
            got[i] = -1;
        }
        if (time % 2 == 0)
            start_receives();
        CHECK_OK(MPI_Startall(MANY, sends));
        for (int i = 0; i < MANY; i++)
            CHECK_OK(MPI_Pready_range(0, PARTS - 1, sends[(int)(i * 1009L % MANY)]));
        if (time % 2 == 1) {
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            start_receives();
        }
        CHECK_OK(MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < MANY * PARTS; i++)
            bad += got[i] != word(i, time, from);
        CHECK(bad == 0);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Request_free(&sends[i]));
        CHECK_OK(MPI_Request_free(&receives[i]));
    }
}

static void wide(void)
{
    MPI_Request both[2];
    int bad = 0;
    CHECK_OK(MPI_Psend_init(sent, WIDE, 1, MPI_INT, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]));
    CHECK_OK(MPI_Precv_init(got, WIDE, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]));
    for (int time = 0; time < 2; time++) {
        for (int i = 0; i < WIDE; i++) {
            sent[i] = word(i, time, mtest_rank);
            got[i] = -1;
        }
        CHECK_OK(MPI_Startall(2, both));
        for (int i = WIDE - 1; i >= 0; i--)
            CHECK_OK(MPI_Pready(i, both[0]));
        CHECK_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
        for (int i = 0; i < WIDE; i++)
            bad += got[i] != word(i, time, from);
    }
    CHECK(bad == 0);
    CHECK_OK(MPI_Request_free(&both[0]));
    CHECK_OK(MPI_Request_free(&both[1]));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    to = (mtest_rank + 1) % mtest_size;
    from = (mtest_rank + mtest_size - 1) % mtest_size;
    many();
    wide();
    MTEST_END;
}
