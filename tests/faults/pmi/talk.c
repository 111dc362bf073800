/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: talk [world|sessions N|abort|child|leave|die]
 * What a program under a PMI launcher does; rank 0 prints one line about it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int adds_up(MPI_Comm comm)
{
    int rank, size, total;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comm);
    return total == size * (size - 1) / 2;
}

static int sessions(int cycles)
{
    int good = 1, rank = 0, size = 0;
    for (int i = 0; i < cycles; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "talk", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        good = adds_up(comm) && good;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        MPI_Session_finalize(&session);
    }
    if (rank == 0)
        printf("%d met in %d cycles\n", size, cycles);
    return !good;
}

static int run(const char *self, const char *what)
{
    int status = -1;
    fflush(stdout);
    if (fork() == 0) {
        execl(self, self, what, (char *)NULL);
        _exit(99);
    }
    wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A session that is refused, with one line that says what to do. */
static int refused(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Session session;
    int rc = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (rc)
        MPI_Error_string(rc, text, &length);
    return rc == MPI_SUCCESS || !strstr(text, "PLENUM_ALONE=1") || strchr(text, '\n');
}

/* A child inherits the rank's environment. It is refused, and alone if it says so. */
static int child(const char *self)
{
    int bad = run(self, "refused");
    setenv("PLENUM_ALONE", "1", 1);
    return run(self, "world") != 0 || bad != 0;
}

int main(int argc, char **argv)
{
    int rank, size, bad;
    const char *what = argc > 1 ? argv[1] : "world";
    if (strcmp(what, "refused") == 0)
        return refused();
    if (strcmp(what, "sessions") == 0)
        return sessions(atoi(argv[2]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bad = !adds_up(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d in the world\n", size);
    fflush(stdout);
    if (strcmp(what, "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(what, "abort") == 0)
        MPI_Recv(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* until the job ends */
    if (strcmp(what, "leave") == 0 && rank == size - 1)
        _exit(5);
    if (strcmp(what, "die") == 0 && rank == size - 1)
        raise(SIGKILL);
    if (strcmp(what, "child") == 0 && rank == 0)
        bad |= child(argv[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return bad;
}
