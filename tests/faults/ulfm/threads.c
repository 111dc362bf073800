/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Several threads: some wait in a communicator that another thread of the process revokes, some agree in communicators
 * of their own meanwhile, and one shrinks while another one communicates.
 */
#include "ulfm.h"
#include <pthread.h>

enum { WAITERS = 4, ROUNDS = 20 };
static MPI_Comm comm, own[WAITERS];

static void *wait_in(void *argument)
{
    MPI_Request request;
    int which = *(int *)argument, word = 0, peer = (rank + 1) % size;
    if (which == 0)
        REVOKED(MPI_Recv(&word, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE));
    else if (which == 1)
        REVOKED(MPI_Ssend(&word, 1, MPI_INT, peer, 2, comm));
    else if (which == 2)
        REVOKED(MPI_Probe(MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE));
    else
        ENDS(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &request), MPIX_ERR_REVOKED);
    return NULL;
}

static void *agree_in(void *argument)
{
    int which = *(int *)argument;
    for (int i = 0; i < 50; i++) {
        int flag = ~(1 << rank), sum = -1;
        OK(MPIX_Comm_agree(own[which], &flag));
        EXPECT(flag == (int)~((1u << size) - 1));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, own[which]));
        EXPECT(sum == size * (size - 1) / 2);
    }
    return NULL;
}

/* Runs one function in each of several threads, and `revoke` beside them. */
static void run(void *(*function)(void *), int revoke)
{
    pthread_t thread[WAITERS];
    int which[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
        which[i] = i;
        pthread_create(&thread[i], NULL, function, &which[i]);
    }
    if (revoke) {
        usleep(5000);
        OK(MPIX_Comm_revoke(comm));
    }
    for (int i = 0; i < WAITERS; i++)
        pthread_join(thread[i], NULL);
}

static void *shrink_in(void *argument)
{
    MPI_Comm left;
    int which = *(int *)argument;
    OK(MPIX_Comm_shrink(own[which], &left));
    expect_living(own[which], left, gone);
    int place, all, sum = -1;
    OK(MPI_Comm_rank(left, &place));
    OK(MPI_Comm_size(left, &all));
    OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, left));
    EXPECT(sum == all * (all - 1) / 2);
    OK(MPI_Comm_free(&left));
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    EXPECT(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < WAITERS; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        run(wait_in, round % size == rank);
        OK(MPI_Comm_free(&comm));
    }
    run(agree_in, 0);
    run(shrink_in, 0);
    kill_ranks(1);
    run(shrink_in, 0);
    for (int i = 0; i < WAITERS; i++)
        OK(MPI_Comm_free(&own[i]));
    return end();
}
