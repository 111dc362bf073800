/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late FILE in|before. Under mpiexec --keep-going the last rank dies in MPI, or before MPI_Init, and before rank 1 has
 * initialized MPI. The others miss it all the same: what they wait for ends with an error, whichever rank that is for,
 * and they go on without the dead one.
 *
 * Before MPI_Init the ranks have only files to tell each other: FILE is there once the last rank is about to die.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void die(const char *file)
{
    fclose(fopen(file, "w"));
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *number = getenv("PLENUM_RANK"), *file = argc > 1 ? argv[1] : "late";
    int rank = number ? atoi(number) : 0, size = atoi(getenv("PLENUM_SIZE")), value = 0, living[] = { 0, 1 };
    MPI_Comm both;
    MPI_Group all, pair;
    if (rank == 1) {
        while (access(file, F_OK) != 0)
            usleep(1000);
        usleep(100000); /* the launcher knows of the death by now */
    }
    if (rank == size - 1 && argc > 2 && strcmp(argv[2], "before") == 0)
        die(file);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == size - 1)
        die(file);
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
