/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 8 */
/*
 * Ranks are killed at random moments in a loop of agreements, the first ones among them, which coordinate. Every
 * survivor must have the same sequence of results: codes and flags.
 * usage: storm SEED VICTIMS; the seed draws when, and whether the victims are the first ranks or any
 */
#include "ulfm.h"

enum { TIMES = 400 };

static unsigned draw_victims(uint64_t *state, int count)
{
    unsigned victims = 0;
    int first = random_next(state) % 2;
    while (__builtin_popcount(victims) < count)
        victims |= 1u << (first ? (unsigned)__builtin_popcount(victims) : random_next(state) % (unsigned)size);
    return victims;
}

/* One result: the class in the upper half, what the flag says in the lower half. */
static uint64_t agree_once(MPI_Comm comm, int time)
{
    MPI_Request request;
    int flag = time % (size + 1) == rank ? 0xff00 : ~(1 << (rank + time) % 16);
    int class =
        class_of(time % 3 ? MPIX_Comm_agree(comm, &flag) : finished(MPIX_Comm_iagree(comm, &flag, &request), &request));
    expect_at(__LINE__, class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED, "agreement %d: class %d", time, class);
    if (class)
        acknowledge(comm);
    return (uint64_t)(unsigned)class << 32 | (unsigned)flag;
}

/* Shrinks until no rank dies any more; the result has all survivors. */
static MPI_Comm shrink(MPI_Comm comm)
{
    MPI_Comm left;
    int sum, flag;
    for (;;) {
        OK(MPIX_Comm_shrink(comm, &left));
        flag = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, left) == MPI_SUCCESS;
        MPIX_Comm_agree(left, &flag);
        if (flag && failures_of(left) == 0)
            return left;
        OK(MPI_Comm_free(&left));
    }
}

int main(int argc, char **argv)
{
    static uint64_t mine[TIMES], first[TIMES];
    MPI_Comm comm, left;
    begin(&argc, &argv);
    uint64_t state = 88172645463325252ull + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    random_next(&state);
    unsigned victims = draw_victims(&state, argc > 2 ? atoi(argv[2]) : 1);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    agree_once(comm, 0); /* all have come; the first may die before the last hear of it */
    die_soon(&state, victims);
    for (int time = 0; time < TIMES; time++)
        mine[time] = agree_once(comm, time);
    while (is_in(victims, rank))
        pause();
    do { /* all deaths are known when the group has shrunk by them */
        left = shrink(comm);
        int among;
        OK(MPI_Comm_size(left, &among));
        if (among == size - __builtin_popcount(victims))
            break;
        OK(MPI_Comm_free(&left));
    } while (1);
    expect_living(MPI_COMM_WORLD, left, victims);
    expect_works(left);
    memcpy(first, mine, sizeof mine);
    OK(MPI_Bcast(first, TIMES, MPI_UINT64_T, 0, left));
    for (int time = 0; time < TIMES; time++)
        if (first[time] != mine[time]) {
            expect_at(__LINE__, 0, "agreement %d: %llx here, %llx at the first", time, (unsigned long long)mine[time],
                      (unsigned long long)first[time]);
            break;
        }
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&comm));
    return end();
}
