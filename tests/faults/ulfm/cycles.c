/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Communicators are revoked and shrunk over and over; in some rounds a rank dies. What is left works each time, and the
 * old ones are freed in some rounds at once, in others at the end.
 * usage: cycles [DEATHS]: the last ranks die, one in every second round
 */
#include "ulfm.h"

enum { ROUNDS = 12 };

/* One round: a rank revokes, all others wait in something. Returns what is left. */
static MPI_Comm turn(MPI_Comm comm, int round, int victim)
{
    MPI_Comm left = MPI_COMM_NULL;
    int me, all, sum, word = 1, flag = 0;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    OK(MPIX_Comm_agree(comm, &flag)); /* all have come before one of them revokes */
    if (rank == victim) {
        usleep(3000);
        die();
    }
    int code = MPI_SUCCESS;
    while (!code) { /* the victim may be in the middle; without one the first of each round revokes */
        if (me == round % all && victim < 0)
            OK(MPIX_Comm_revoke(comm));
        code = round % 2 ? MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm)
                         : MPI_Recv(&word, 1, MPI_INT, (me + 1) % all, 3, comm, MPI_STATUS_IGNORE);
        int class = class_of(code);
        EXPECT(class == MPIX_ERR_REVOKED || (victim >= 0 && class == MPIX_ERR_PROC_FAILED));
        if (victim >= 0)
            OK(MPIX_Comm_revoke(comm));
    }
    for (flag = 0; !flag;)
        OK(MPIX_Comm_is_revoked(comm, &flag));
    OK(MPIX_Comm_shrink(comm, &left));
    expect_works(left);
    int left_size;
    OK(MPI_Comm_size(left, &left_size));
    EXPECT(left_size == all - (victim >= 0));
    return left;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[ROUNDS + 1];
    begin(&argc, &argv);
    int deaths = argc > 1 ? atoi(argv[1]) : 0, living = size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    for (int round = 0; round < ROUNDS; round++) {
        int dies = round % 2 && living > size - deaths;
        living -= dies;
        comms[round + 1] = turn(comms[round], round, dies ? living : -1);
        if (round % 3 == 0)
            OK(MPI_Comm_free(&comms[round]));
    }
    for (int round = 0; round <= ROUNDS; round++)
        if (round == ROUNDS || round % 3)
            OK(MPI_Comm_free(&comms[round]));
    return end();
}
