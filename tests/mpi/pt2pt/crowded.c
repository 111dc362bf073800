/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages beside programs that compute all the time, as many as there are cores. All data is right, and a thread that
 * has left its core to a peer meanwhile may use the same cores as before.
 */
/* ranks: 2 3 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mtest.h"

enum { STRANGERS = 8, WORDS = 16 };
static const double seconds = 1;

static void begin_strangers(pid_t *stranger, int count)
{
    for (int i = 0; i < count; i++) {
        stranger[i] = fork();
        if (stranger[i] == 0) {
            alarm(30);
            for (volatile unsigned turns = 0;; turns++)
                continue;
        }
    }
}

static void end_strangers(const pid_t *stranger, int count)
{
    for (int i = 0; i < count; i++)
        if (stranger[i] > 0 && kill(stranger[i], SIGKILL) == 0)
            waitpid(stranger[i], NULL, 0);
}

/* A message around the ring, to which each rank adds its own number. */
static void go_round(int rank, int size, int round)
{
    int words[WORDS], right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < WORDS; i++)
        words[i] = round + i;
    if (rank > 0)
        CHECK_OK(MPI_Recv(words, WORDS, MPI_INT, left, round % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < WORDS; i++)
        words[i] += rank;
    CHECK_OK(MPI_Send(words, WORDS, MPI_INT, right, round % 100, MPI_COMM_WORLD));
    if (rank == 0)
        CHECK_OK(MPI_Recv(words, WORDS, MPI_INT, left, round % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int sum = rank == 0 ? size * (size - 1) / 2 : rank * (rank + 1) / 2;
    for (int i = 0; i < WORDS; i++)
        CHECK(words[i] == round + i + sum);
}

int main(int argc, char **argv)
{
    pid_t stranger[STRANGERS];
    cpu_set_t before, after;
    int goes_on = 1;
    MTEST_INIT(argc, argv);
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    int count = mtest_rank == 0 ? CPU_COUNT(&before) : 0;
    count = count < STRANGERS ? count : STRANGERS;
    begin_strangers(stranger, count);
    double start = MPI_Wtime();
    for (int round = 0; goes_on; round++) {
        go_round(mtest_rank, mtest_size, round);
        goes_on = MPI_Wtime() - start < seconds;
        CHECK_OK(MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    end_strangers(stranger, count);
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
    MTEST_END;
}
