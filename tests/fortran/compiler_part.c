/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the Fortran library and the C library: the truth values seem to be set as soon as the types are known. */
#include <mpi.h>

static int types_known, times_set;

int compiler_times_set(void);
int compiler_times_set(void)
{
    return times_set;
}

int MPI_Abi_set_fortran_info(MPI_Info info)
{
    types_known = 1;
    return PMPI_Abi_set_fortran_info(info);
}

int MPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    times_set++;
    return PMPI_Abi_set_fortran_booleans(logical_size, logical_true, logical_false);
}

int MPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
    int code = PMPI_Abi_get_fortran_booleans(logical_size, logical_true, logical_false, is_set);
    if (types_known)
        *is_set = 1;
    return code;
}
