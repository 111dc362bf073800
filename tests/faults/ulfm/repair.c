/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 8 */
/*
 * An iterative program that survives: at random moments ranks are killed; the others revoke, shrink and agree on the
 * step to go on from. The sum of every step must be right for the ranks that made it.
 * usage: repair SEED VICTIMS [nonblocking]
 */
#include "ulfm.h"

enum { STEPS = 300 };

static int nonblocking;

static void die_sometime(uint64_t *state, int victims)
{
    for (int one = 0; one < size; one++) {
        struct itimerval timer = { .it_value.tv_usec = 1000 + random_next(state) % 60000 };
        if (one != rank || rank < 1 || rank > victims)
            continue;
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
}

/* The first error; then the communicator is revoked, so that the other request ends, too. */
static int both_finished(MPI_Comm comm, MPI_Request *request)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < 2; i++) {
        int got = MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        if (got)
            OK(MPIX_Comm_revoke(comm));
        code = code ? code : got;
    }
    return code;
}

/* A step: neighbours exchange, then all sum. */
static int step(MPI_Comm comm, int number)
{
    MPI_Request request[2];
    int me, all, in = -1, out = number * MOST + rank, one = 1, sum = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    int code = MPI_Irecv(&in, 1, MPI_INT, (me + all - 1) % all, 1, comm, &request[0]);
    if (code)
        return code;
    code = MPI_Isend(&out, 1, MPI_INT, (me + 1) % all, 1, comm, &request[1]);
    if (code) {
        OK(MPIX_Comm_revoke(comm));
        (void)MPI_Wait(&request[0], MPI_STATUS_IGNORE); /* may have its message */
        return code;
    }
    code = both_finished(comm, request);
    if (code)
        return code;
    EXPECT(in / MOST == number);
    code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(code || sum == all);
    return code;
}

/* What is left of `comm`, and the step that all go on from. */
static MPI_Comm repair(MPI_Comm comm, int *number)
{
    MPI_Comm left;
    MPI_Request request;
    int least, flag;
    for (;;) {
        OK(MPIX_Comm_revoke(comm));
        if (nonblocking)
            ENDS(MPIX_Comm_ishrink(comm, &left, &request), MPI_SUCCESS);
        else
            OK(MPIX_Comm_shrink(comm, &left));
        flag = MPI_Allreduce(number, &least, 1, MPI_INT, MPI_MIN, left) == MPI_SUCCESS;
        int class = class_of(MPIX_Comm_agree(left, &flag));
        EXPECT(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED);
        if (comm != MPI_COMM_WORLD)
            OK(MPI_Comm_free(&comm));
        if (flag && !class)
            break;
        comm = left;
    }
    *number = least;
    return left;
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    begin(&argc, &argv);
    uint64_t state = 88172645463325252ull + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    int victims = argc > 2 ? atoi(argv[2]) : 1, among = 0;
    nonblocking = argc > 3;
    random_next(&state);
    die_sometime(&state, victims);
    for (int number = 0; number < STEPS || among > size - victims;) {
        int code = step(comm, number);
        int class = class_of(code);
        EXPECT(!code || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED);
        if (code)
            comm = repair(comm, &number);
        else
            number++;
        OK(MPI_Comm_size(comm, &among));
    }
    expect_works(comm);
    EXPECT(among == size - victims);
    if (comm != MPI_COMM_WORLD)
        OK(MPI_Comm_free(&comm));
    return end();
}
