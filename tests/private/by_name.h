/* SPDX-License-Identifier: BSD-3-Clause */
/* All functions that solver.c uses, fetched from libmpi_abi.so by name: as a language's runtime does. */
#ifndef BY_NAME_H
#define BY_NAME_H

#include <dlfcn.h>

static void *by_name(const char *name)
{
    return dlsym(dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_LOCAL), name);
}

/* The type is that of the declaration in mpi.h. */
#define BY_NAME_CALL(name)          ((__typeof__(&name))by_name(#name))
#define MPI_Error_string            BY_NAME_CALL(MPI_Error_string)
#define MPI_Allreduce               BY_NAME_CALL(MPI_Allreduce)
#define MPI_Sendrecv                BY_NAME_CALL(MPI_Sendrecv)
#define MPI_Session_init            BY_NAME_CALL(MPI_Session_init)
#define MPI_Session_finalize        BY_NAME_CALL(MPI_Session_finalize)
#define MPI_Group_from_session_pset BY_NAME_CALL(MPI_Group_from_session_pset)
#define MPI_Comm_create_from_group  BY_NAME_CALL(MPI_Comm_create_from_group)
#define MPI_Group_free              BY_NAME_CALL(MPI_Group_free)
#define MPI_Comm_rank               BY_NAME_CALL(MPI_Comm_rank)
#define MPI_Comm_size               BY_NAME_CALL(MPI_Comm_size)
#define MPI_Comm_free               BY_NAME_CALL(MPI_Comm_free)

#endif
