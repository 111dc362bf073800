/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads create communicators from the same group at the same time, distinguished by their tags (MPI-5.0 section
 * 7.4.2), in one session of level MPI_THREAD_MULTIPLE and in sessions of their own, in another order on every rank.
 */
#include <pthread.h>

#include "mtest.h"

enum { THREADS = 4, ROUNDS = 8 };

static MPI_Session shared;

struct job {
    int number, own_session;
};

static void *work(void *argument)
{
    const struct job *job = argument;
    MPI_Session session = shared;
    char tag[64];
    MPI_Group group;
    MPI_Comm comm;
    if (job->own_session)
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    for (int round = 0; round < ROUNDS; round++) {
        int sum = -1, size;
        snprintf(tag, sizeof tag, "thread %d", job->number);
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Group_free(&group));
        MPI_Comm_size(comm, &size);
        CHECK_OK(MPI_Allreduce(&job->number, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == job->number * size);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    if (job->own_session)
        CHECK_OK(MPI_Session_finalize(&session));
    return NULL;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &shared));
    for (int own = 0; own < 2; own++) {
        for (int i = 0; i < THREADS; i++) {
            int number = (i + mtest_rank) % THREADS;
            jobs[i] = (struct job){ number, own };
            CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    CHECK_OK(MPI_Session_finalize(&shared));
    MTEST_END;
}
