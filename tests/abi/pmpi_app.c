/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints which body of MPI_Get_version runs; a tool adds 100 to the version. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int version = 0, pversion = 0, subversion;

    MPI_Get_version(&version, &subversion);
    PMPI_Get_version(&pversion, &subversion);
    printf("%d %d\n", version, pversion);
    return 0;
}
