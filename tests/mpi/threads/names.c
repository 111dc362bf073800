/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread names a communicator and a window again and again, while others make errors whose messages have the names:
 * each message has one of the names, and whole. */
/* ranks: 1 2 */
#include <pthread.h>

#include "mtest.h"

enum { ROUNDS = 2000, LENGTH = 100 };

static MPI_Comm comm;
static MPI_Win win;
static _Atomic int stop;

/* LENGTH times the same letter. */
static void make_name(int letter, char name[LENGTH + 1])
{
    memset(name, letter, LENGTH);
    name[LENGTH] = '\0';
}

static void *rename_both(void *unused)
{
    char name[LENGTH + 1];
    (void)unused;
    for (int i = 0; !stop; i++) {
        make_name("XYZ"[i % 3], name);
        MPI_Comm_set_name(comm, name);
        MPI_Win_set_name(win, name);
    }
    return NULL;
}

static void check_message(int code, int class)
{
    char text[MPI_MAX_ERROR_STRING], name[LENGTH + 1];
    int length, whole = 0;
    CHECK_CLASS(code, class);
    MPI_Error_string(code, text, &length);
    for (int i = 0; i < 3; i++) {
        make_name("XYZ"[i], name);
        whole += strstr(text, name) != NULL;
    }
    if (!CHECK(whole == 1))
        fprintf(stderr, "%s\n", text);
}

static void *make_errors(void *unused)
{
    char name[MPI_MAX_OBJECT_NAME];
    int dims, length;
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        check_message(MPI_Cartdim_get(comm, &dims), MPI_ERR_TOPOLOGY);
        check_message(MPI_Put(&dims, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC); /* no epoch */
        CHECK_OK(MPI_Win_get_name(win, name, &length));
        CHECK(length == LENGTH);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return 77;
    pthread_t threads[3];
    char name[LENGTH + 1];
    int memory = 0;
    make_name('X', name);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_name(comm, name));
    CHECK_OK(MPI_Win_set_name(win, name));
    CHECK(pthread_create(&threads[0], NULL, rename_both, NULL) == 0);
    for (int i = 1; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, make_errors, NULL) == 0);
    for (int i = 1; i < 3; i++)
        pthread_join(threads[i], NULL);
    stop = 1;
    pthread_join(threads[0], NULL);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
