/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: lost WHAT MODEL
 * The last rank loses its connections (`reset`: its sockets are shut down), or ends with exit code 0 (`exit`) while MPI
 * is in use. Each of the others waits for something else, and gets an error that names the cause. A communicator
 * without the last rank goes on.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int wrong;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s\n", what);
    wrong = 1;
}

static void shut_sockets_down(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.ss_family != AF_UNIX)
            shutdown(fd, SHUT_RDWR);
    }
}

/* Rank 0 waits for the lost rank, rank 1 for rank 0, the others for all. */
static void wait_in_vain(MPI_Comm comm, int rank, int size)
{
    int value = 0, class, length;
    char text[MPI_MAX_ERROR_STRING] = "";
    int rc = rank == 0   ? MPI_Recv(&value, 1, MPI_INT, size - 1, 7, comm, MPI_STATUS_IGNORE)
             : rank == 1 ? MPI_Sendrecv(&rank, 1, MPI_INT, 0, 8, &value, 1, MPI_INT, 0, 8, comm, MPI_STATUS_IGNORE)
                         : MPI_Barrier(comm);
    MPI_Error_class(rc, &class);
    MPI_Error_string(rc, text, &length);
    expect(rc != MPI_SUCCESS, "a wait ends with an error");
    expect(class == MPI_ERR_PROC_ABORTED, text);
    expect(strstr(text, "rank ") != NULL, text);
    expect(MPI_Barrier(comm) != MPI_SUCCESS, "the communicator stays broken");
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group;
    MPI_Comm comm, living;
    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "world") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    } else {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "org.example.lost", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        MPI_Group_free(&group);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split(comm, rank < size - 1 ? 0 : MPI_UNDEFINED, 0, &living);
    MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, (int[64]){ 0 }, 1, MPI_INT, comm); /* all are connected */
    if (living != MPI_COMM_NULL)
        MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, (int[64]){ 0 }, 1, MPI_INT, living);
    if (rank == size - 1) {
        if (strcmp(argv[1], "exit") == 0)
            exit(0);
        usleep(100000); /* the others wait by now; it matters little if they do not */
        shut_sockets_down();
    }
    if (rank < size - 1) {
        wait_in_vain(comm, rank, size);
        for (int i = 0; i < 10; i++) {
            int value = rank + i;
            expect(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, living) == MPI_SUCCESS, "the others go on");
            expect(sum == (size - 1) * (size - 2) / 2 + i * (size - 1), "the sum of the others");
        }
        MPI_Comm_free(&living);
    } else {
        expect(MPI_Barrier(comm) != MPI_SUCCESS, "the rank without connections gets an error, too");
    }
    MPI_Comm_free(&comm);
    if (session != MPI_SESSION_NULL)
        MPI_Session_finalize(&session);
    else
        MPI_Finalize();
    if (rank == 0 && !wrong)
        printf("all told\n");
    return wrong;
}
