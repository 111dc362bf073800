/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data moves as partitions become ready. The receiver uses those that have come while the sender still withholds
 * others; a partition with a withheld part has not arrived. Messages back and forth prove this, not the clock. The
 * partitions of the two sides differ in size, and are short and long.
 */
/* ranks: 2 4 */
#include "mtest.h"
#include "pattern.h"

enum { UNIT = 12, TIMES = 3 };

static void wait_for(MPI_Request request, int partition)
{
    int flag = 0, rc = MPI_SUCCESS;
    while (!flag && rc == MPI_SUCCESS)
        rc = MPI_Parrived(request, partition, &flag);
    CHECK_OK(rc);
}

/* One partition at a time, from the last to the first; the receiver answers when it has it. */
static void sender(unsigned char *data, int partitions, int each, int peer)
{
    MPI_Request request;
    CHECK_OK(MPI_Psend_init(data, partitions, each, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int time = 0; time < TIMES; time++) {
        CHECK_OK(MPI_Start(&request));
        for (int i = partitions - 1; i >= 0; i--) {
            for (int k = i * each; k < (i + 1) * each; k++)
                data[k] = pattern_byte((uint64_t)time, (size_t)k);
            CHECK_OK(MPI_Pready(i, request));
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, peer, 3, MPI_COMM_WORLD)); /* same tag, and never taken for a partition */
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&request));
}

static void receiver(unsigned char *data, int bytes, int partitions, int chunks, int peer)
{
    int each = bytes / partitions, chunk = bytes / chunks, number, flag;
    MPI_Request request;
    CHECK_OK(MPI_Precv_init(data, partitions, each, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int time = 0; time < TIMES; time++) {
        memset(data, 0, (size_t)bytes);
        CHECK_OK(MPI_Start(&request));
        for (int i = chunks - 1; i >= 0; i--) {
            CHECK_OK(MPI_Recv(&number, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(number == i);
            for (int p = 0; p < partitions; p++) {
                if (p * each >= i * chunk) { /* all chunks from the i-th on are there, or on their way */
                    wait_for(request, p);
                    for (int k = p * each; k < (p + 1) * each; k++)
                        if (data[k] != pattern_byte((uint64_t)time, (size_t)k))
                            CHECK(!"the partition has other data");
                } else {
                    CHECK_OK(MPI_Parrived(request, p, &flag));
                    CHECK(!flag);
                }
            }
            CHECK_OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
            CHECK(i == 0 || !flag);
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, peer, 4, MPI_COMM_WORLD));
        }
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(pattern_holds(data, (size_t)bytes, (uint64_t)time));
    }
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    static const int cases[][3] = {
        { 4, 4, 1 }, { 6, 2, 1 }, { 2, 6, 1 }, { 6, 4, 1 }, { 4, 6, 1000 }, { 3, 2, 40000 }
    };
    for (int i = 0; i < 6; i++) {
        int bytes = UNIT * cases[i][2] * cases[i][0] * cases[i][1];
        unsigned char *data = malloc((size_t)bytes);
        if (mtest_rank % 2 == 0)
            sender(data, cases[i][0], bytes / cases[i][0], mtest_rank + 1);
        else
            receiver(data, bytes, cases[i][1], cases[i][0], mtest_rank - 1);
        free(data);
    }
    MTEST_END;
}
