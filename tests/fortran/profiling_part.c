/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool in C below the Fortran interfaces: it counts the calls of MPI_Send(), and those that no program here makes. */
#include <mpi.h>

static int sends, strange;

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

int MPI_Info_create(MPI_Info *info)
{
    strange++;
    return PMPI_Info_create(info);
}

int MPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    strange++;
    return PMPI_Info_set(info, key, value);
}

int MPI_Info_free(MPI_Info *info)
{
    strange++;
    return PMPI_Info_free(info);
}

int MPI_Abi_set_fortran_info(MPI_Info info)
{
    strange++;
    return PMPI_Abi_set_fortran_info(info);
}

int MPI_Abi_get_fortran_info(MPI_Info *info)
{
    strange++;
    return PMPI_Abi_get_fortran_info(info);
}

int profiling_strange(void);
int profiling_strange(void)
{
    return strange;
}
