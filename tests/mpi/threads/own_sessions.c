/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every thread has a session of its own, of level MPI_THREAD_SINGLE, beside the World (MPI-5.0 section 11.3.1: the
 * level is the session's). The sessions communicate at the same time, independent of each other, and end at different
 * times.
 */
/* seconds: 300 */
#include <pthread.h>
#include <stdint.h>

#include "mtest.h"
#include "pattern.h"

enum { THREADS = 4, ROUNDS = 60, BYTES = 30000 };

static void *live(void *argument)
{
    int number = (int)(intptr_t)argument, me, size, sum;
    char tag[32];
    unsigned char *data = malloc(BYTES);
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    snprintf(tag, sizeof tag, "thread %d", number);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_thread_support_level", "MPI_THREAD_SINGLE"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < ROUNDS * (number + 1); round++) {
        int to = (me + 1) % size, from = (me + size - 1) % size, bytes = round % 8 ? 100 : BYTES;
        pattern_fill(data, (size_t)bytes, (uint64_t)(me + number + round));
        CHECK_OK(MPI_Sendrecv_replace(data, bytes, MPI_BYTE, to, round, from, round, comm, MPI_STATUS_IGNORE));
        CHECK(pattern_holds(data, (size_t)bytes, (uint64_t)(from + number + round)));
    }
    CHECK_OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == number * size);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv); /* at the level of one thread: the others never touch the World */
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, live, (void *)(intptr_t)i) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        int sum = -1;
        CHECK_OK(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == round * mtest_size);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MTEST_END;
}
