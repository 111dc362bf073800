/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A blocking call fails after another thread has freed its communicator. The error is raised on the communicator, which
 * its handler can use, and which then is gone. The other thread sees in a performance variable that the call waits.
 */
/* ranks: 2 3 */
#include "mtest.h"

#include <pthread.h>
#include <unistd.h>

enum { HELLO = 1, GO = 2, LONG = 300000 };

static MPI_Comm comm;
static int *numbers, handled;

static void handle(MPI_Comm *failed, int *code, ...)
{
    int size, class;
    CHECK_OK(MPI_Error_class(*code, &class));
    CHECK(class == MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Comm_size(*failed, &size));
    CHECK(size == mtest_size);
    handled++;
}

static void *receive(void *nothing)
{
    int got[2] = { -1, -1 };
    CHECK_CLASS(MPI_Recv(got, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(got[1] == -1);
    return nothing;
}

static void *exchange(void *nothing)
{
    int got[2] = { -1, -1 };
    CHECK_CLASS(MPI_Sendrecv(numbers, LONG, MPI_INT, 1, 0, got, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE),
                MPI_ERR_TRUNCATE);
    CHECK(got[1] == -1);
    return nothing;
}

/* Another receive of the communicator has been posted. */
static void await_receive(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle posted;
    unsigned long number = 0;
    int index, count;
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index("posted_receives", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &posted, &count) == MPI_SUCCESS);
    while (number == 0) {
        usleep(1000);
        if (!CHECK(MPI_T_pvar_read(session, posted, &number) == MPI_SUCCESS))
            break;
    }
    CHECK(MPI_T_pvar_handle_free(session, &posted) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
}

static void try_receive(void *(*call)(void *), unsigned long live)
{
    pthread_t thread;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (mtest_rank == 0) {
        MPI_Errhandler handler;
        CHECK_OK(MPI_Comm_create_errhandler(handle, &handler));
        CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
        CHECK_OK(MPI_Errhandler_free(&handler));
        handled = 0;
        pthread_create(&thread, NULL, call, NULL);
        await_receive();
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD));
        pthread_join(thread, NULL);
        CHECK(handled == 1);
        CHECK(mtest_live("live_communicators") == live);
        return;
    }
    if (mtest_rank == 1) {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send((int[2]){ 3, 4 }, 2, MPI_INT, 0, 0, comm));
        if (call == exchange) {
            CHECK_OK(MPI_Recv(numbers, LONG, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
            CHECK(numbers[0] == 7 && numbers[LONG - 1] == LONG + 6);
        }
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    int provided = mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE), tool;
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &tool) == MPI_SUCCESS);
    numbers = malloc(LONG * sizeof *numbers);
    for (int i = 0; i < LONG; i++)
        numbers[i] = mtest_rank == 0 ? i + 7 : -1;
    unsigned long live = mtest_live("live_communicators");
    try_receive(receive, live);
    try_receive(exchange, live);
    free(numbers);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MTEST_END;
}
