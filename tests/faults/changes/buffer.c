/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends BYTES to rank 1, and rank SIDE gives a buffer that it may not touch. Exit code: 0 all ended, with data
 * or with errors.
 *
 * usage: buffer SIDE BYTES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    int rank, side = argc > 2 ? atoi(argv[1]) : 0, bytes = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    void *buffer = mmap(NULL, (size_t)bytes, rank == side ? PROT_NONE : PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    int code = rank == 0 ? MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD)
                         : MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fprintf(stderr, "rank %d: %s\n", rank, code ? "an error" : "success");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
