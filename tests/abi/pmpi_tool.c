/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool that takes the place of MPI_Get_version and calls the library through the profiling interface. */
#include <mpi.h>

int MPI_Get_version(int *version, int *subversion)
{
    int err = PMPI_Get_version(version, subversion);
    *version += 100;
    return err;
}
