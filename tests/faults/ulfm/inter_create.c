/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 5 */
/*
 * A process of one group dies inside MPI_Intercomm_create, after its group has found that all of it are there, and
 * before the other group calls. The call fails in both groups, whose leaders reach each other; none waits.
 */
#include <errno.h>

#include "ulfm.h"

enum { VICTIM = 1, FAR = 2 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm half, leaders, inter = MPI_COMM_NULL;
    int pid = getpid(), side = rank >= FAR;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 || rank == FAR, rank, &leaders));
    OK(MPI_Bcast(&pid, 1, MPI_INT, VICTIM, MPI_COMM_WORLD));
    signal(SIGALRM, on_alarm);
    if (rank == VICTIM)
        setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 300000 }, NULL);
    while (side && (kill(pid, 0) == 0 || errno != ESRCH))
        usleep(1000);
    if (side)
        usleep(200000); /* rank 0 knows of the death */
    FAILS(MPI_Intercomm_create(half, 0, leaders, !side, 7, &inter));
    EXPECT(inter == MPI_COMM_NULL);
    if (rank == 0 || rank == FAR)
        OK(MPI_Barrier(leaders)); /* rank 0 is there until the other leader has returned */
    OK(MPI_Comm_free(&leaders));
    OK(MPI_Comm_free(&half));
    return end();
}
