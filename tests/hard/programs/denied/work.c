/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses much of MPI with verified data: a session, short and long messages, collectives, a window, a file
 * in TMPDIR, and children that it spawns. Rank 0 prints "whole". Errors are fatal, so that a denied call ends it with
 * one line, if that call is needed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 1 << 18 };

static int rank, size;

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "rank %d: wrong data: %s\n", rank, what);
        _Exit(70);
    }
}

static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0, one = 1, members;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "denied", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    must(sum == members, "sum in a session");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

static void messages(void)
{
    static int out[LONG], in[LONG];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int count = 1; count <= LONG; count *= 64) {
        for (int i = 0; i < count; i++)
            out[i] = rank * 7 + i;
        MPI_Sendrecv(out, count, MPI_INT, next, 1, in, count, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            must(in[i] == before * 7 + i, "a message");
    }
}

static void collectives(void)
{
    static int data[LONG], all[LONG];
    for (int count = 1; count <= LONG; count *= 64) {
        for (int i = 0; i < count; i++)
            data[i] = rank == 0 ? i : -1;
        MPI_Bcast(data, count, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(data, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            must(data[i] == i && all[i] == size * i, "a collective");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void window(void)
{
    MPI_Win win;
    int *memory, value = rank + 100, got = -1, next = (rank + 1) % size;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    must(*memory == (rank + size - 1) % size + 100, "a put");
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_unlock(next, win);
    must(got == rank + 100, "a get");
    MPI_Win_free(&win);
}

static void file(const char *directory)
{
    MPI_File file;
    char name[1000];
    int value = rank + 5, got = -1;
    snprintf(name, sizeof name, "%s/work.data", directory);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof value, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    must(got == value, "a file");
    MPI_File_close(&file);
}

static void children(char *program)
{
    MPI_Comm between;
    int value = -1;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 3, between, MPI_STATUS_IGNORE);
    must(rank != 0 || value == 42, "a message of a child");
    MPI_Comm_disconnect(&between);
}

static void child(MPI_Comm parents)
{
    int value = 42, own;
    MPI_Comm_rank(parents, &own);
    if (own == 1)
        MPI_Send(&value, 1, MPI_INT, 0, 3, parents);
    MPI_Comm_disconnect(&parents);
}

/* work alone|DIRECTORY */
int main(int argc, char *argv[])
{
    MPI_Comm parents;
    session();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        child(parents);
        MPI_Finalize();
        return 0;
    }
    messages();
    collectives();
    window();
    file(argv[1]);
    if (argc > 2)
        children(argv[0]);
    MPI_Finalize();
    if (rank == 0)
        puts("whole");
    return 0;
}
