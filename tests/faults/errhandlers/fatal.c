/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fatal WHEN HANDLER: the last rank makes one error under a fatal handler, while the others wait for it.
 * WHEN: before, world, comm, session, none, file, after. HANDLER: are_fatal, abort.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Errhandler handler;

static void on_comm(int rank, int size)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "ocean");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, handler);
    if (rank == size - 1)
        MPI_Send(&rank, 1, MPI_INT, 99, 0, comm);
}

static void on_session(int rank, int size)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    if (rank == size - 1)
        MPI_Group_from_session_pset(session, "no://such-set", &group);
}

static void on_file(int rank, int size)
{
    MPI_Offset offset;
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    if (rank == size - 1)
        MPI_File_get_size(MPI_FILE_NULL, &offset);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Info info = MPI_INFO_NULL;
    const char *when = argc > 1 ? argv[1] : "";
    handler = argc > 2 && strcmp(argv[2], "abort") == 0 ? MPI_ERRORS_ABORT : MPI_ERRORS_ARE_FATAL;
    if (strcmp(when, "before") == 0)
        MPI_Info_free(&info);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(when, "comm") == 0)
        on_comm(rank, size);
    if (strcmp(when, "session") == 0)
        on_session(rank, size);
    if (strcmp(when, "file") == 0)
        on_file(rank, size);
    if (strcmp(when, "world") == 0 && rank == size - 1)
        MPI_Bcast(&rank, 1, MPI_INT, 99, MPI_COMM_WORLD);
    if (strcmp(when, "none") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
        if (rank == size - 1)
            MPI_Info_free(&info);
    }
    if (strcmp(when, "after") == 0) {
        MPI_Finalize();
        MPI_Info_free(&info);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1 && strcmp(when, "before") != 0)
        puts("not reached");
    if (strcmp(when, "before") == 0 && rank == 0)
        puts("went on");
    MPI_Finalize();
    return 0;
}
