/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init_thread (MPI-5.0 section 11.6) provides the required level, MPI_Query_thread returns it, and only the
 * initializing thread is the main thread. The required level differs from rank to rank.
 */
#include <pthread.h>

#include "mtest.h"

static void *other_thread(void *unused)
{
    int flag = -1;
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK(flag == 0);
    return unused;
}

int main(int argc, char **argv)
{
    const char *place = getenv("PLENUM_JOB"); /* ends in the rank, if there is one */
    int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
    int wanted = levels[place ? place[strlen(place) - 1] % 4 : 3], queried = -1, flag = -1, sum = 0, one = 1;
    pthread_t thread;
    CHECK(mtest_init_thread(&argc, &argv, wanted) == wanted);
    CHECK_OK(MPI_Query_thread(&queried));
    CHECK(queried == wanted);
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK(flag == 1);
    if (wanted >= MPI_THREAD_FUNNELED) {
        pthread_create(&thread, NULL, other_thread, NULL);
        pthread_join(thread, NULL);
    }
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == mtest_size);
    MTEST_END;
}
