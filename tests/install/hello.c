/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: mpiexec -n N hello PREFIX
 * All processes add up their ranks; each makes sure that the MPI that it runs with is the one under PREFIX.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int library_is_under(const char *prefix)
{
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        if (path && strstr(path, "/libmpi_abi.so")) {
            if (strncmp(path, prefix, strlen(prefix)) != 0)
                return 0;
            found = 1;
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    int rank, size, total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int good = total == size * (size - 1) / 2 && argc == 2 && library_is_under(argv[1]);
    if (!good)
        fprintf(stderr, "rank %d of %d: wrong sum or wrong library\n", rank, size);
    MPI_Finalize();
    return !good;
}
