/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling tool for LD_PRELOAD, linked with no MPI: it wraps functions, and calls them by their second names. */
#include <mpi.h>

#pragma weak PMPI_Session_init
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Init_thread

static int wrap_calls;

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    wrap_calls++;
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    return wrap_calls > 0 ? rc : MPI_ERR_OTHER;
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    wrap_calls++;
    int rc = PMPI_Session_init(info, errhandler, session);
    return wrap_calls > 0 ? rc : MPI_ERR_OTHER;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    wrap_calls++;
    return PMPI_Comm_rank(comm, rank);
}
