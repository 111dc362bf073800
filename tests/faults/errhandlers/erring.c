/* SPDX-License-Identifier: BSD-3-Clause */
/* erring N: each rank makes N errors on MPI_COMM_WORLD and prints for how many its code got an error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int make_error(void);
int make_error(void)
{
    int data = 0;
    int code = MPI_Send(&data, 1, MPI_INT, 1000000, 0, MPI_COMM_WORLD);
    return code != MPI_SUCCESS; /* not the last call, so that there is a frame */
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 0, errors = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < wanted; i++)
        errors += make_error();
    MPI_Finalize();
    printf("errors: %d\n", errors);
    return 0;
}
