/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the Fortran library and the C library: what another thread may do as soon as a request is complete. */
#include <mpi.h>

void reused_meanwhile(void);

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int code = PMPI_Wait(request, status);
    reused_meanwhile();
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int code = PMPI_Waitall(count, requests, statuses);
    reused_meanwhile();
    return code;
}
