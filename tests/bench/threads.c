/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message rate of one thread per rank, then of two with a session each: 8 bytes to the next rank, or to itself if there
 * is only one. Every thread has its session and its communicator; they share nothing that MPI names.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#if MPI_VERSION >= 4

enum { WINDOW = 64, WINDOWS = 4000, TIMES = 5 };
static pthread_barrier_t together;
static int threads;

static MPI_Session join(int number, MPI_Comm *comm)
{
    char tag[32];
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Info_set(info, "mpi_thread_support_level", "MPI_THREAD_SINGLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    snprintf(tag, sizeof tag, "%d of %d", number, threads);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm);
    MPI_Group_free(&group);
    return session;
}

static void *live(void *number)
{
    MPI_Comm comm;
    MPI_Request request[2 * WINDOW];
    int size, own;
    double out = 1, in, best = 1e9;
    MPI_Session session = join(*(int *)number, &comm);
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    for (int time = 0; time < TIMES; time++) {
        MPI_Barrier(comm);
        pthread_barrier_wait(&together);
        double start = MPI_Wtime();
        for (int i = 0; i < WINDOWS; i++) {
            for (int k = 0; k < WINDOW; k++)
                MPI_Irecv(&in, 1, MPI_DOUBLE, (own + size - 1) % size, 1, comm, &request[k]);
            for (int k = 0; k < WINDOW; k++)
                MPI_Isend(&out, 1, MPI_DOUBLE, (own + 1) % size, 1, comm, &request[WINDOW + k]);
            MPI_Waitall(2 * WINDOW, request, MPI_STATUSES_IGNORE);
        }
        pthread_barrier_wait(&together);
        double took = MPI_Wtime() - start;
        if (took < best)
            best = took;
    }
    if (own == 0 && *(int *)number == 0) {
        printf("rate, %d thread%s\t%.6g\tM/s\n", threads, threads > 1 ? "s" : "",
               1e-6 * threads * WINDOW * WINDOWS / best);
        fflush(stdout);
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return NULL;
}

int main(void)
{
    for (threads = 1; threads <= 2; threads++) {
        pthread_t other;
        int number[] = { 0, 1 };
        pthread_barrier_init(&together, NULL, (unsigned)threads);
        if (threads == 2)
            pthread_create(&other, NULL, live, &number[1]);
        live(&number[0]);
        if (threads == 2)
            pthread_join(other, NULL);
        pthread_barrier_destroy(&together);
    }
    return 0;
}

#else

int main(void)
{
    return 0;
}

#endif
