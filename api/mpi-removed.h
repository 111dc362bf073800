/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of MPI-1 that MPI 3.0 removed (MPI-5.0 chapter 17), for programs that still call them; mpi.h includes
 * this. Each is a call of the function that replaced it, so a program that uses them runs with every ABI library. The
 * compiler warns and names the replacement. MPI_LB and MPI_UB do not exist: use MPI_Type_create_resized.
 *
 * The type is spelled `signed`, which is int. Generators of profiling tools search this header for "int MPI_". They
 * would make a wrapper of each function, which defines it a second time and calls a PMPI_ function that does not exist.
 */
#ifndef MPI_REMOVED_H
#define MPI_REMOVED_H

#include "mpi.h" /* where this file is included by itself */

#if defined __GNUC__ && (__GNUC__ > 4 || defined __clang__)
#define MPI_ABI_REMOVED(use) static __inline__ __attribute__((unused, deprecated("MPI 3.0 has removed it; use " #use)))
#else
#define MPI_ABI_REMOVED(use) static __inline__
#endif

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* Build scripts define some of these names as macros. */
#ifndef MPI_Address
MPI_ABI_REMOVED(MPI_Get_address) signed MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}
#endif

#ifndef MPI_Errhandler_create
MPI_ABI_REMOVED(MPI_Comm_create_errhandler)
signed MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(function, errhandler);
}
#endif

#ifndef MPI_Errhandler_get
MPI_ABI_REMOVED(MPI_Comm_get_errhandler) signed MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}
#endif

#ifndef MPI_Errhandler_set
MPI_ABI_REMOVED(MPI_Comm_set_errhandler) signed MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}
#endif

#ifndef MPI_Type_extent
MPI_ABI_REMOVED(MPI_Type_get_extent) signed MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}
#endif

#ifndef MPI_Type_lb
MPI_ABI_REMOVED(MPI_Type_get_extent) signed MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, displacement, &extent);
}
#endif

#ifndef MPI_Type_ub
MPI_ABI_REMOVED(MPI_Type_get_extent) signed MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb, extent;
    int error = MPI_Type_get_extent(datatype, &lb, &extent);
    if (error == MPI_SUCCESS)
        *displacement = lb + extent;
    return error;
}
#endif

#ifndef MPI_Type_hindexed
MPI_ABI_REMOVED(MPI_Type_create_hindexed)
signed MPI_Type_hindexed(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype oldtype,
                         MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}
#endif

#ifndef MPI_Type_hvector
MPI_ABI_REMOVED(MPI_Type_create_hvector)
signed MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
#endif

#ifndef MPI_Type_struct
MPI_ABI_REMOVED(MPI_Type_create_struct)
signed MPI_Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types,
                       MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}
#endif

#undef MPI_ABI_REMOVED

/* Requests of files had a type and functions of their own before MPI-2; both other MPIs keep ROMIO's names for them. */
#ifndef MPIO_Request
#define MPIO_Request MPI_Request
#endif
#ifndef MPIO_Test
#define MPIO_Test MPI_Test
#endif
#ifndef MPIO_Wait
#define MPIO_Wait MPI_Wait
#endif

#endif
