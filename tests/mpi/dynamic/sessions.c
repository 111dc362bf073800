/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting without a World: communicators of sessions, with threads at MPI_THREAD_MULTIPLE. */
#include "mtest.h"
#include <pthread.h>

static char port[MPI_MAX_PORT_NAME];

static MPI_Comm from_set(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    return comm;
}

/* A second thread of rank 1 connects alone, while the first one waits for its message. */
static void *connect_alone(void *comm)
{
    MPI_Comm inter;
    int word = 0;
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, *(MPI_Comm *)comm, &inter));
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 4, *(MPI_Comm *)comm)); /* to the thread that waits */
    CHECK_OK(MPI_Comm_disconnect(&inter));
    return NULL;
}

static void check_threads(MPI_Session session, int rank)
{
    MPI_Comm self = from_set(session, "mpi://SELF", "self"), inter;
    pthread_t thread;
    int word = 77;
    if (rank == 0) {
        CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, self, &inter));
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 3, inter));
        CHECK_OK(MPI_Comm_disconnect(&inter));
    } else if (rank == 1) {
        CHECK(pthread_create(&thread, NULL, connect_alone, &self) == 0);
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 4, self, MPI_STATUS_IGNORE));
        CHECK(word == 77);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK_OK(MPI_Comm_free(&self));
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Comm world, part, inter, merged;
    int rank, size, sum = 0;
    (void)argc, (void)argv;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    MPI_Info_free(&info);
    world = from_set(session, "mpi://WORLD", "all");
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    mtest_rank = rank;
    if (rank == 0)
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, world);
    if (size > 1) {
        MPI_Comm_split(world, rank == 0, 0, &part);
        CHECK_OK(rank == 0 ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter)
                           : MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter));
        CHECK_OK(MPI_Intercomm_merge(inter, rank > 0, &merged));
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
        CHECK(sum == size * (size - 1) / 2);

        /* The leader of a group that was made in another process. */
        MPI_Comm again;
        CHECK_OK(MPI_Intercomm_create(part, 0, merged, rank == 0, 6, &again));
        sum = -1;
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, again));
        CHECK(sum == (rank == 0 ? size * (size - 1) / 2 : 0));
        CHECK_OK(MPI_Comm_disconnect(&again));
        CHECK_OK(MPI_Comm_disconnect(&merged));
        CHECK_OK(MPI_Comm_disconnect(&inter));

        check_threads(session, rank);
        MPI_Comm_free(&part);
    }
    if (rank == 0)
        CHECK_OK(MPI_Close_port(port));
    CHECK_OK(MPI_Comm_free(&world));
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
