/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Nonblocking agreements and shrinking while messages are under way, several at once, completed in any order; the
 * failure comes before them, between them, or not at all.
 */
#include "ulfm.h"

enum { COUNT = 40000, MANY = 4 };
static int out[COUNT], in[COUNT];

/* A ring of long messages among the ranks `comm`. */
static void start_ring(MPI_Comm comm, int round, MPI_Request *ring)
{
    int me, all;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    for (int i = 0; i < COUNT; i++)
        out[i] = me * COUNT + i + round;
    memset(in, 0, sizeof in);
    OK(MPI_Irecv(in, COUNT, MPI_INT, (me + all - 1) % all, round, comm, &ring[0]));
    OK(MPI_Isend(out, COUNT, MPI_INT, (me + 1) % all, round, comm, &ring[1]));
}

static void check_ring(MPI_Comm comm, int round)
{
    int me, all, i = 0;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    while (i < COUNT && in[i] == (me + all - 1) % all * COUNT + i + round)
        i++;
    EXPECT(i == COUNT);
}

/* Agreements of different communicators and of one, with a ring between their starts and their ends. */
static void agreements(MPI_Comm *comms, MPI_Comm ring_of, int wanted, int round)
{
    MPI_Request all[MANY + 2];
    MPI_Status status[MANY + 2];
    int flag[MANY];
    for (int i = 0; i < MANY; i++) {
        flag[i] = ~(1 << (rank + i));
        OK(MPIX_Comm_iagree(comms[i % 2], &flag[i], &all[i]));
        if (i == 1)
            start_ring(ring_of, round, &all[MANY]);
    }
    if (wanted == MPI_SUCCESS && round % 2) {
        OK(MPI_Waitall(MANY + 2, all, status));
    } else {
        for (int i = MANY + 1; i >= 0; i--)
            IS(MPI_Wait(&all[i], status), i < MANY ? wanted : MPI_SUCCESS);
    }
    check_ring(ring_of, round);
    for (int i = 0; i < MANY; i++)
        for (int other = 0; other < size; other++)
            EXPECT(is_in(gone, other) || !is_in((unsigned)flag[i], other + i));
}

/* Two shrink at once; both are used when done. */
static void shrinking(MPI_Comm *comms, MPI_Comm ring_of, int round)
{
    MPI_Request all[4];
    MPI_Comm made[2];
    OK(MPIX_Comm_ishrink(comms[0], &made[0], &all[0]));
    start_ring(ring_of, round, &all[2]);
    OK(MPIX_Comm_ishrink(comms[1], &made[1], &all[1]));
    int done = 0;
    while (!done)
        OK(MPI_Testall(4, all, &done, MPI_STATUSES_IGNORE));
    check_ring(ring_of, round);
    for (int i = 0; i < 2; i++) {
        expect_living(MPI_COMM_WORLD, made[i], gone);
        expect_works(made[i]);
        OK(MPI_Comm_free(&made[i]));
    }
}

/* Begun by the living before the last rank dies, which takes no part. */
static void across(MPI_Comm comm)
{
    MPI_Request request[2];
    MPI_Comm made = MPI_COMM_NULL;
    int flag = -1, last = size - 1;
    if (rank == last)
        kill_ranks(1u << last);
    OK(MPIX_Comm_iagree(comm, &flag, &request[0]));
    OK(MPIX_Comm_ishrink(comm, &made, &request[1]));
    kill_ranks(1u << last);
    FAILS(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    EXPECT(flag == -1);
    OK(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
    expect_living(MPI_COMM_WORLD, made, gone);
    expect_works(made);
    OK(MPI_Comm_free(&made));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[2], part;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, 0, &part));
    for (int round = 0; round < 10; round++) {
        agreements(comms, comms[0], MPI_SUCCESS, round);
        shrinking(comms, comms[1], round);
    }
    across(comms[0]);
    agreements(comms, part, MPIX_ERR_PROC_FAILED, 20);
    acknowledge(comms[0]);
    acknowledge(comms[1]);
    for (int round = 0; round < 10; round++) {
        agreements(comms, part, MPI_SUCCESS, round);
        shrinking(comms, part, round);
    }
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&comms[0]));
    OK(MPI_Comm_free(&comms[1]));
    return end();
}
