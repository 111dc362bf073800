/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads with a communicator each, blocking and nonblocking collectives at the same time, user
 * operations among them. A thread that makes progress may run another one's operation.
 */
/* seconds: 300 */
#include <pthread.h>

#include "mtest.h"

enum { THREADS = 4, ROUNDS = 60, COUNT = 10 };

struct job {
    MPI_Comm comm;
    int number;
};

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void *work(void *argument)
{
    struct job *job = argument;
    int in[COUNT], out[COUNT], scanned, root, right;
    MPI_Op op;
    MPI_Request requests[2];
    CHECK_OK(MPI_Op_create(add, 1, &op));
    for (int round = 0; round < ROUNDS; round++) {
        int seed = round * 10 + job->number;
        for (int i = 0; i < COUNT; i++)
            in[i] = mtest_rank + seed + i;
        CHECK_OK(MPI_Iallreduce(in, out, COUNT, MPI_INT, op, job->comm, &requests[0]));
        CHECK_OK(MPI_Iscan(in, &scanned, 1, MPI_INT, op, job->comm, &requests[1]));
        root = mtest_rank == round % mtest_size ? seed : -1;
        CHECK_OK(MPI_Bcast(&root, 1, MPI_INT, round % mtest_size, job->comm));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        right = root == seed && scanned == (mtest_rank + 1) * seed + mtest_rank * (mtest_rank + 1) / 2;
        for (int i = 0; i < COUNT; i++)
            right &= out[i] == mtest_size * (seed + i) + mtest_size * (mtest_size - 1) / 2;
        CHECK(right);
    }
    CHECK_OK(MPI_Op_free(&op));
    return NULL;
}

int main(int argc, char **argv)
{
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE) {
        puts("the library was asked for MPI_THREAD_MULTIPLE and gives less");
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < THREADS; i++) {
        jobs[i].number = i;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&jobs[i].comm));
    MTEST_END;
}
