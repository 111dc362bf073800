/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: the first one of a process, communicators inside an open one, and whole cycles of open and close. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#if MPI_VERSION >= 4

enum { COMMUNICATORS = 50, CYCLES = 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void open_comm(MPI_Session session, const char *tag, MPI_Comm *comm)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm);
    MPI_Group_free(&group);
}

static void print(int rank, const char *what, double seconds)
{
    if (rank != 0)
        return;
    printf("%s\t%.9g\tms\n", what, 1e3 * seconds);
    fflush(stdout);
}

int main(void)
{
    MPI_Session session;
    MPI_Comm comm, more;
    int rank;
    double first = now();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    double opened = now();
    open_comm(session, "first", &comm);
    double created = now();
    MPI_Comm_rank(comm, &rank);
    print(rank, "session init, first", opened - first);
    print(rank, "communicator from group, first", created - opened);

    MPI_Barrier(comm);
    double start = now();
    for (int i = 0; i < COMMUNICATORS; i++) {
        open_comm(session, "more", &more);
        MPI_Comm_free(&more);
    }
    print(rank, "communicator from group, further", (now() - start) / COMMUNICATORS);
    MPI_Comm_free(&comm);
    start = now();
    MPI_Session_finalize(&session);
    double finalize = now() - start;
    print(rank, "session finalize", finalize);
    print(rank, "session cycle, first", created - first + finalize);

    /* At the end, because some MPIs do not survive it. */
    start = now();
    for (int i = 0; i < CYCLES; i++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        open_comm(session, "again", &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    print(rank, "session cycle, steady", (now() - start) / CYCLES);
    return 0;
}

#else

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}

#endif
