/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under mpiexec --keep-going the last rank dies in MPI before rank 1 has initialized it. Rank 1 misses it all the same:
 * what it waits for ends with an error, whichever rank that is for, and those that live go on without the dead one.
 *
 * Before MPI_Init the ranks have only files to tell each other: FILE is there once the last rank is in MPI.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failed;

static void expect_death(int code, const char *what)
{
    int class;
    MPI_Error_class(code, &class);
    if (class == MPI_ERR_PROC_ABORTED)
        return;
    printf("%s: class %d\n", what, class);
    failed = 1;
}

int main(int argc, char **argv)
{
    const char *number = getenv("PLENUM_RANK"), *file = argc > 1 ? argv[1] : "late";
    int rank = number ? atoi(number) : 0, size, value = 0, living[] = { 0, 1 };
    MPI_Comm both;
    MPI_Group all, pair;
    if (rank == 1) {
        while (access(file, F_OK) != 0)
            usleep(1000);
        usleep(100000); /* the launcher knows of the death by now */
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        fclose(fopen(file, "w"));
        raise(SIGKILL);
    }
    expect_death(MPI_Recv(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "a receive from a rank");
    expect_death(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                 "a receive from any rank");
    expect_death(MPI_Barrier(MPI_COMM_WORLD), "a barrier");
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, living, &pair);
    MPI_Comm_create_from_group(pair, "late", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &both);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, both);
    MPI_Group_free(&all);
    MPI_Group_free(&pair);
    MPI_Comm_free(&both);
    MPI_Finalize();
    if (rank == 0 && !failed)
        printf("went on\n");
    return failed;
}
