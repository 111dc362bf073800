/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: isolation THREADS [SECONDS]    Every thread has a session of its own, of level MPI_THREAD_SINGLE, and sends itself
 * 8 bytes, nonblocking, again and again. What they share slows them: compare one process of two threads with two of one.
 *     mpiexec -n 1 isolation 2;  mpiexec -n 2 isolation 1
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 16, BATCH = 1000 };
static double seconds = 1;
static _Atomic long messages;

static void *live(void *ignored)
{
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    (void)ignored;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_thread_support_level", "MPI_THREAD_SINGLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "alone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    long done = 0;
    double in, out = 1, end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        for (int i = 0; i < BATCH; i++, done++) {
            MPI_Request requests[2];
            MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 1, comm, &requests[0]);
            MPI_Isend(&out, 1, MPI_DOUBLE, 0, 1, comm, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
    atomic_fetch_add(&messages, done);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t thread[THREADS_MAX];
    seconds = argc > 2 ? atof(argv[2]) : seconds;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, live, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%d threads: %.2f million messages a second\n", threads, (double)messages / seconds / 1e6);
    return 0;
}
