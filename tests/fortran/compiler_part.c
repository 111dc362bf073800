/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the Fortran library and the C library: the truth values seem to be set as soon as the types are known. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

static int types_known, times_set;

int compiler_times_set(void);
int compiler_times_set(void)
{
    return times_set;
}

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
    int (*real)(MPI_Info) = (int (*)(MPI_Info))dlsym(RTLD_NEXT, "PMPI_Abi_set_fortran_info");
    types_known = 1;
    return real(info);
}

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    int (*real)(int, void *, void *) = (int (*)(int, void *, void *))dlsym(RTLD_NEXT, "PMPI_Abi_set_fortran_booleans");
    times_set++;
    return real(logical_size, logical_true, logical_false);
}

int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
    int (*real)(int, void *, void *, int *) =
        (int (*)(int, void *, void *, int *))dlsym(RTLD_NEXT, "PMPI_Abi_get_fortran_booleans");
    int code = real(logical_size, logical_true, logical_false, is_set);
    if (types_known)
        *is_set = 1;
    return code;
}
