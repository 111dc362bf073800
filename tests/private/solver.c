/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library as a plug-in author writes it: it has an MPI of its own, whatever the application uses. Each call is a
 * session, a communicator of all processes, a sum that is checked, and the end of all of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "solver.h"

#ifdef BY_NAME
#include "by_name.h"
#endif

static int solver_fail(const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(rc, text, &length);
    fprintf(stderr, "solver: %s: %s\n", what, text);
    return -1;
}

/* A vector whose sum is known, around a ring too, so that point-to-point messages are tested as well as collectives. */
static int solver_work(MPI_Comm comm, int rank, int size)
{
    double mine[100], sum[100];
    int right = -1;
    for (int i = 0; i < 100; i++)
        mine[i] = rank * 100.0 + i;
    int rc = MPI_Allreduce(mine, sum, 100, MPI_DOUBLE, MPI_SUM, comm);
    if (rc)
        return solver_fail("MPI_Allreduce", rc);
    for (int i = 0; i < 100; i++)
        if (sum[i] != 100.0 * size * (size - 1) / 2 + (double)i * size)
            return fprintf(stderr, "solver: element %d is %g\n", i, sum[i]), -1;
    rc = MPI_Sendrecv(&rank, 1, MPI_INT, (rank + size - 1) % size, 3, &right, 1, MPI_INT, (rank + 1) % size, 3, comm,
                      MPI_STATUS_IGNORE);
    if (rc)
        return solver_fail("MPI_Sendrecv", rc);
    return right == (rank + 1) % size ? 0 : (fprintf(stderr, "solver: received %d\n", right), -1);
}

#ifdef WORLD
/* Once in the life of the library, with the World instead of a session. */
int solver_solve(int expected)
{
    int rank, size, rc = MPI_Init(NULL, NULL);
    if (rc)
        return solver_fail("MPI_Init", rc);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int failed = size != expected ? -1 : solver_work(MPI_COMM_WORLD, rank, size);
    MPI_Finalize();
    return failed ? -1 : rank;
}
#else
/* A session, and a communicator of all processes. Its size; -1: an error, printed. */
static int solver_open(const char *tag, MPI_Session *session, MPI_Comm *comm)
{
    MPI_Group group;
    int size, rc = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session);
    if (rc)
        return solver_fail("MPI_Session_init", rc);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    rc = MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, comm);
    MPI_Group_free(&group);
    if (rc)
        return solver_fail("MPI_Comm_create_from_group", rc);
    MPI_Comm_size(*comm, &size);
    return size;
}

int solver_solve(int expected)
{
    MPI_Session session;
    MPI_Comm comm;
    int rank, size = solver_open("org.example.solver", &session, &comm);
    if (size < 0)
        return -1;
    MPI_Comm_rank(comm, &rank);
    int failed = size != expected;
    if (failed)
        fprintf(stderr, "solver: rank %d of %d, not of %d\n", rank, size, expected);
    else
        failed = solver_work(comm, rank, size);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return failed ? -1 : rank;
}

/* Leaves a session open: an application may unload the library in the middle of something. */
int solver_begin(int expected)
{
    MPI_Session session;
    MPI_Comm comm;
    int size = solver_open("org.example.begun", &session, &comm);
    return size == expected ? 0 : -1;
}
#endif
