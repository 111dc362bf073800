/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool in C below the Fortran interfaces: it counts the calls of MPI_Send(). */
#include <mpi.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int profiling_sends(void);
int profiling_sends(void)
{
    return sends;
}
