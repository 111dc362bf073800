/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer that holds thousands of messages which wait for their receives (MPI-5.0 section 3.6). They are received in
 * an order that leaves gaps everywhere, and others fill these. The first flush waits for the first messages alone.
 */
/* ranks: 2 3 */
/* seconds: 300 */
#include "mtest.h"

enum { MANY = 1000, WORDS = 6000, ROUNDS = 3 };

static int data[WORDS];

static void send_one(int i, int to)
{
    for (int k = 0; k < WORDS; k++)
        data[k] = i * 5 + k;
    CHECK_OK(MPI_Bsend(data, WORDS, MPI_INT, to, i, MPI_COMM_WORLD));
}

static void receive_one(int i, int from)
{
    int bad = 0;
    memset(data, -1, sizeof data);
    CHECK_OK(MPI_Recv(data, WORDS, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int k = 0; k < WORDS; k++)
        bad += data[k] != i * 5 + k;
    CHECK(bad == 0);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, size;
    MPI_Count bytes = (MPI_Count)MANY * 3 / 2 * (MPI_Count)(sizeof data + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)bytes), *back;
    MPI_Request flushes[ROUNDS];
    CHECK_OK(MPI_Buffer_attach_c(buffer, bytes));
    for (int i = 0; i < MANY; i++)
        send_one(i, to);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Buffer_iflush(&flushes[round]));
        for (int i = MANY - 1 - round; i >= 0; i -= ROUNDS)
            receive_one(i, from);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* then the neighbour has received as many from here */
        for (int i = MANY - 1 - round; i >= 0; i -= ROUNDS)
            send_one(MANY + i, to);
    }
    CHECK_OK(MPI_Wait(&flushes[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++)
        receive_one(MANY + i, from);
    CHECK_OK(MPI_Waitall(ROUNDS, flushes, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer);
    free(buffer);
    MTEST_END;
}
