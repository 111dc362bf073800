/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * A rank dies inside a collective, at a random moment, while all ranks repeat it. All living ranks see the failure
 * sooner or later, none waits for ever, and the communicator of the living, which shrinking makes, works.
 * usage: inside SEED FORM LENGTH; the collective is SEED modulo their number
 */
#include "collectives.h"

static void die_in_it(uint64_t *state)
{
    struct itimerval timer = { .it_value.tv_usec = 1 + random_next(state) % 30000 };
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, left;
    begin(&argc, &argv);
    int seed = argc > 1 ? atoi(argv[1]) : 1, form = argc > 2 ? atoi(argv[2]) : BLOCKING,
        span = argc > 3 ? atoi(argv[3]) : 1;
    uint64_t state = 88172645463325252ull + (unsigned)seed;
    random_next(&state);
    int dead = (int)(random_next(&state) % (unsigned)size), which = seed % ALL, code = 0, root = 0;
    if (which < PLAIN)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    else
        OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){ 1 }, 0, &comm));
    coll_prepare(span);
    MPIX_Comm_agree(comm, &(int){ 1 }); /* all have made it */
    if (rank == dead)
        die_in_it(&state);
    while (!code) {
        code = coll_run(which, form, span, root, comm);
        root = (root + 1) % size;
    }
    FAILS(code);
    if (rank == dead)
        for (;;)
            pause();
    FAILS(coll_run(which, form, span, root, comm));
    OK(MPIX_Comm_shrink(comm, &left));
    expect_living(MPI_COMM_WORLD, left, 1u << dead);
    expect_works(left);
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&comm));
    return end();
}
