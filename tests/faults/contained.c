/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contained [spawn]: a sum, and a shared window of the processes that MPI_COMM_TYPE_SHARED names, which must exist.
 * Where these are not all, one of all fails, in words that name the class once. Rank 0 prints the size of its part.
 * "spawn": another process is spawned, too. Errors are fatal.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void fail(const char *what)
{
    fprintf(stderr, "wrong: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 70);
}

static int share(void)
{
    MPI_Comm node;
    MPI_Win win;
    int rank, size, *own, *other, unit;
    MPI_Aint bytes;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &win);
    *own = rank + 5;
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) {
        MPI_Win_shared_query(win, r, &bytes, &unit, &other);
        if (*other != r + 5)
            fail("shared memory");
    }
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    return size;
}

static void share_with_all(void)
{
    MPI_Win win;
    int *own, class, length, rc;
    char words[MPI_MAX_ERROR_STRING], *name;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rc = MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    MPI_Error_class(rc, &class);
    MPI_Error_string(rc, words, &length);
    name = strstr(words, "MPI_ERR_RMA_SHARED");
    if (class != MPI_ERR_RMA_SHARED || !name || strstr(name + 1, "MPI_ERR_RMA_SHARED"))
        fail(words);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char *argv[])
{
    MPI_Comm parents, children;
    int rank, size, sum, shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parents);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        fail("a sum");
    shared = share();
    if (shared < size) /* on each rank or on none */
        share_with_all();
    if (argc > 1) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&children);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("%d of %d share memory\n", shared, size);
    return 0;
}
