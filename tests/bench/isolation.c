/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: isolation THREADS [LEVEL [blocked]]    Every thread has a session of its own, of thread level single (the
 * default) or multiple, and sends itself 8 bytes, nonblocking, again and again, for a second. What they share slows
 * them: compare one process of two threads with two of one. With `blocked` another session waits in a receive all the
 * while.
 *     mpiexec -n 1 isolation 2;  mpiexec -n 2 isolation 1;  mpiexec -n 1 isolation 1 multiple blocked
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 16, BATCH = 1000 };
static const char *level = "MPI_THREAD_SINGLE";
static _Atomic long messages;

static MPI_Session start(const char *with, MPI_Comm *comm)
{
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_thread_support_level", with);
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "alone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm);
    MPI_Group_free(&group);
    return session;
}

static void *wait_for_ever(void *comm)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 0, 1, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    return NULL;
}

static void *live(void *ignored)
{
    MPI_Comm comm;
    MPI_Session session = start(level, &comm);
    long done = 0;
    double in, out = 1, end = MPI_Wtime() + 1;
    (void)ignored;
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
    bool blocked = argc > 3;
    pthread_t thread[THREADS_MAX], waiter;
    MPI_Session session;
    MPI_Comm comm;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    if (argc > 2 && strcmp(argv[2], "multiple") == 0)
        level = "MPI_THREAD_MULTIPLE";
    if (blocked) {
        session = start("MPI_THREAD_MULTIPLE", &comm);
        pthread_create(&waiter, NULL, wait_for_ever, &comm);
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, live, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%d threads%s: %.2f million messages a second\n", threads, blocked ? " beside a blocked one" : "",
           (double)messages / 1e6);
    if (blocked) {
        MPI_Send(&threads, 1, MPI_INT, 0, 1, comm);
        pthread_join(waiter, NULL);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    return 0;
}
