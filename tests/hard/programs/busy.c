/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that is busy in one way until it is killed or has done its rounds: busy WAY [ROUNDS [DIRECTORY]]. Its
 * first line of output is "up". Errors are returned, and end the program with a line and code 3: when a peer is gone,
 * what waits for it must say so.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 3000, FAILED = 3 };

static char *directory = ".";

static void must(int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (err == MPI_SUCCESS)
        return;
    MPI_Error_string(err, text, &length);
    fprintf(stderr, "busy: %s\n", text);
    exit(FAILED);
}

/* A session and its communicator. */
static MPI_Comm open_comm(MPI_Session *session)
{
    MPI_Group group;
    MPI_Comm comm;
    must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
    must(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group));
    must(MPI_Comm_create_from_group(group, "busy", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    return comm;
}

static void exchange(MPI_Comm comm)
{
    static long mine[COUNT], sum[COUNT];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < COUNT; i++)
        mine[i] = rank + i;
    must(MPI_Allreduce(mine, sum, COUNT, MPI_LONG, MPI_SUM, comm));
    for (int i = 0; i < COUNT; i++)
        if (sum[i] != (long)size * i + (long)size * (size - 1) / 2)
            exit(99);
}

static void use_sessions(void)
{
    MPI_Session session;
    MPI_Comm comm = open_comm(&session);
    exchange(comm);
    must(MPI_Comm_free(&comm));
    must(MPI_Session_finalize(&session));
}

static void use_window(MPI_Comm comm)
{
    int rank, size, one = 1, *base;
    MPI_Win win;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    must(MPI_Win_allocate(COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, COUNT * sizeof(int));
    must(MPI_Barrier(comm));
    for (int i = 0; i < 20; i++) {
        must(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + i) % size, 0, win));
        must(MPI_Accumulate(&one, 1, MPI_INT, (rank + i) % size, i, 1, MPI_INT, MPI_SUM, win));
        must(MPI_Win_unlock((rank + i) % size, win));
    }
    must(MPI_Win_fence(0, win));
    must(MPI_Win_fence(0, win));
    for (int i = 0; i < 20; i++)
        if (base[i] != 1)
            exit(99);
    must(MPI_Win_free(&win));
}

static void use_file(MPI_Comm comm)
{
    char path[512];
    int rank, data[COUNT], found[COUNT];
    MPI_File file;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < COUNT; i++)
        data[i] = rank;
    snprintf(path, sizeof path, "%.400s/data", directory);
    must(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    must(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof data, data, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    must(MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof data, found, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    if (memcmp(found, data, sizeof data) != 0)
        exit(99);
    must(MPI_Barrier(comm)); /* the shared pointer writes over the beginning */
    must(MPI_File_write_shared(file, data, 7, MPI_INT, MPI_STATUS_IGNORE));
    must(MPI_File_close(&file));
}

static void use_spawn(char *program)
{
    char *arguments[] = { "child", NULL };
    MPI_Comm inter;
    must(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    must(MPI_Comm_disconnect(&inter));
}

static int be_child(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        must(MPI_Comm_disconnect(&parent));
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "world";
    long rounds = argc > 2 ? atol(argv[2]) : 1000000000;
    directory = argc > 3 ? argv[3] : directory;
    int sessions = strcmp(way, "sessions") == 0;
    if (!sessions) {
        must(MPI_Init(&argc, &argv));
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    if (strcmp(way, "child") == 0)
        return be_child();
    puts("up");
    fflush(stdout);
    for (long i = 0; i < rounds; i++)
        if (sessions)
            use_sessions();
        else if (strcmp(way, "windows") == 0)
            use_window(MPI_COMM_WORLD);
        else if (strcmp(way, "files") == 0)
            use_file(MPI_COMM_WORLD);
        else if (strcmp(way, "spawn") == 0)
            use_spawn(argv[0]);
        else
            exchange(MPI_COMM_WORLD);
    if (!sessions)
        MPI_Finalize();
    return 0;
}
