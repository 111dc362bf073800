/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The procedures of MPI-1 that MPI 3.0 removed (MPI-5.0 chapter 17), for programs that still call them. Those of C are
 * in mpi-removed.h. No module declares them, so a program calls them with mpif.h, or as external procedures. Each is a
 * call of the procedure that replaced it, which errors name. Their addresses and extents are INTEGERs: MPI_ERR_ARG for
 * one that does not fit.
 */
#include "api/fortran/fortran.h"

/* The replacements, in other files of this library. */
void pmpi_comm_create_errhandler_(void (*function)(void), MPI_Fint *errhandler, MPI_Fint *ierror);
void pmpi_comm_get_errhandler_(const MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror);
void pmpi_comm_set_errhandler_(const MPI_Fint *comm, const MPI_Fint *errhandler, MPI_Fint *ierror);
void pmpi_type_create_hvector_(const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Aint *stride,
                               const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror);
void pmpi_type_create_hindexed_(const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Aint *displacements,
                                const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror);
void pmpi_type_create_struct_(const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Aint *displacements,
                              const MPI_Fint *types, MPI_Fint *newtype, MPI_Fint *ierror);

/* Gives a body pmpi_x_() its usual name. */
#define REMOVED(name) PLF_WEAK(weak mpi_##name##_ = pmpi_##name##_)

/* --- error handlers ----------------------------------------------------------------------------------------------- */

REMOVED(errhandler_create)
void pmpi_errhandler_create_(void (*function)(void), MPI_Fint *errhandler, MPI_Fint *ierror)
{
    pmpi_comm_create_errhandler_(function, errhandler, ierror);
}

REMOVED(errhandler_get)
void pmpi_errhandler_get_(const MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror)
{
    pmpi_comm_get_errhandler_(comm, errhandler, ierror);
}

REMOVED(errhandler_set)
void pmpi_errhandler_set_(const MPI_Fint *comm, const MPI_Fint *errhandler, MPI_Fint *ierror)
{
    pmpi_comm_set_errhandler_(comm, errhandler, ierror);
}

/* --- addresses and extents ---------------------------------------------------------------------------------------- */

static void removed_give_integer(const char *procedure, int code, MPI_Aint value, MPI_Fint *integer, MPI_Fint *ierror)
{
    if (code == MPI_SUCCESS && value != (MPI_Fint)value)
        code = plf_raise_none(procedure, MPI_ERR_ARG);
    else if (code == MPI_SUCCESS)
        *integer = (MPI_Fint)value;
    plf_return(ierror, code);
}

REMOVED(address)
void pmpi_address_(const void *location, MPI_Fint *address, MPI_Fint *ierror)
{
    MPI_Aint value = 0;
    int code = MPI_Get_address(plf_address(location), &value);
    removed_give_integer("MPI_Address", code, value, address, ierror);
}

/* Of which a procedure below gives one, or the end. */
static int removed_read_extent(MPI_Fint type, MPI_Aint *lb, MPI_Aint *extent)
{
    *lb = *extent = 0;
    return MPI_Type_get_extent(plf_type_c(type), lb, extent);
}

REMOVED(type_extent)
void pmpi_type_extent_(const MPI_Fint *type, MPI_Fint *integer, MPI_Fint *ierror)
{
    MPI_Aint lb, extent;
    int code = removed_read_extent(*type, &lb, &extent);
    removed_give_integer("MPI_Type_extent", code, extent, integer, ierror);
}

REMOVED(type_lb)
void pmpi_type_lb_(const MPI_Fint *type, MPI_Fint *integer, MPI_Fint *ierror)
{
    MPI_Aint lb, extent;
    int code = removed_read_extent(*type, &lb, &extent);
    removed_give_integer("MPI_Type_lb", code, lb, integer, ierror);
}

REMOVED(type_ub)
void pmpi_type_ub_(const MPI_Fint *type, MPI_Fint *integer, MPI_Fint *ierror)
{
    MPI_Aint lb, extent;
    int code = removed_read_extent(*type, &lb, &extent);
    removed_give_integer("MPI_Type_ub", code, lb + extent, integer, ierror);
}

/* --- datatypes ---------------------------------------------------------------------------------------------------- */

REMOVED(type_hvector)
void pmpi_type_hvector_(const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Fint *stride,
                        const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint wide = *stride;
    pmpi_type_create_hvector_(count, blocklength, &wide, oldtype, newtype, ierror);
}

/* A copy of `count` displacements, which the caller frees; NULL: out of memory, which is raised. */
static MPI_Aint *removed_widen(const char *procedure, MPI_Fint count, const MPI_Fint *displacements, MPI_Fint *ierror)
{
    size_t length = count > 0 ? (size_t)count : 0;
    MPI_Aint *wide = malloc((length + 1) * sizeof *wide);
    if (!wide)
        plf_return(ierror, plf_raise_none(procedure, MPI_ERR_NO_MEM));
    for (size_t i = 0; wide && i < length; i++)
        wide[i] = displacements[i];
    return wide;
}

REMOVED(type_hindexed)
void pmpi_type_hindexed_(const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Fint *displacements,
                         const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint *wide = removed_widen("MPI_Type_hindexed", *count, displacements, ierror);
    if (wide)
        pmpi_type_create_hindexed_(count, lengths, wide, oldtype, newtype, ierror);
    free(wide);
}

REMOVED(type_struct)
void pmpi_type_struct_(const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Fint *displacements,
                       const MPI_Fint *types, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint *wide = removed_widen("MPI_Type_struct", *count, displacements, ierror);
    if (wide)
        pmpi_type_create_struct_(count, lengths, wide, types, newtype, ierror);
    free(wide);
}
