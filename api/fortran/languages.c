/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversions for C code that Fortran calls: handles, statuses, sentinels (MPI-5.0, section
 * 19.3). A handle in Fortran is
 * the integer of MPI_X_toint(), and the three forms of a status have one layout. mpi.h has macros for handles, so that
 * programs need this library for statuses alone; the functions are for programs that were compiled with another header.
 */
#include "api/fortran/fortran.h"

#define LANGUAGES_WEAK(name) __attribute__((weak, alias("PMPI_" #name)))

/* Parentheses keep the names from being taken for macros. */
#define LANGUAGES_HANDLE(Kind, handle)                                                                                 \
    MPI_Fint PMPI_##Kind##_c2f(handle object);                                                                         \
    MPI_Fint PMPI_##Kind##_c2f(handle object)                                                                          \
    {                                                                                                                  \
        return MPI_##Kind##_toint(object);                                                                             \
    }                                                                                                                  \
    handle PMPI_##Kind##_f2c(MPI_Fint object);                                                                         \
    handle PMPI_##Kind##_f2c(MPI_Fint object)                                                                          \
    {                                                                                                                  \
        return MPI_##Kind##_fromint(object);                                                                           \
    }                                                                                                                  \
    extern __typeof__(PMPI_##Kind##_c2f)(MPI_##Kind##_c2f) LANGUAGES_WEAK(Kind##_c2f);                                 \
    extern __typeof__(PMPI_##Kind##_f2c)(MPI_##Kind##_f2c) LANGUAGES_WEAK(Kind##_f2c);
LANGUAGES_HANDLE(Comm, MPI_Comm)
LANGUAGES_HANDLE(Errhandler, MPI_Errhandler)
LANGUAGES_HANDLE(File, MPI_File)
LANGUAGES_HANDLE(Group, MPI_Group)
LANGUAGES_HANDLE(Info, MPI_Info)
LANGUAGES_HANDLE(Message, MPI_Message)
LANGUAGES_HANDLE(Op, MPI_Op)
LANGUAGES_HANDLE(Request, MPI_Request)
LANGUAGES_HANDLE(Session, MPI_Session)
LANGUAGES_HANDLE(Type, MPI_Datatype)
LANGUAGES_HANDLE(Win, MPI_Win)

/* --- Statuses ---------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status), "the three forms of a status have one layout");
_Static_assert(sizeof(MPI_Fint[MPI_F_STATUS_SIZE]) == sizeof(MPI_Status),
               "the three forms of a status have one layout");

MPI_Fint *MPI_F_STATUS_IGNORE = mpifort_status_ignore_, *MPI_F_STATUSES_IGNORE = mpifort_statuses_ignore_;
MPI_F08_status *MPI_F08_STATUS_IGNORE = (MPI_F08_status *)mpifort_status_ignore_;
MPI_F08_status *MPI_F08_STATUSES_IGNORE = (MPI_F08_status *)mpifort_statuses_ignore_;

/* Copies a status. Converting a sentinel is an error, which is returned: no object belongs to it. */
static int status_convert(const void *from, void *to)
{
    if (!from || !to || from == mpifort_status_ignore_ || from == mpifort_statuses_ignore_ ||
        to == mpifort_status_ignore_ || to == mpifort_statuses_ignore_)
        return MPI_ERR_ARG;
    memmove(to, from, sizeof(MPI_Status));
    return MPI_SUCCESS;
}

#define LANGUAGES_STATUS(name, FROM, from, TO, to)                                                                     \
    int PMPI_Status_##name(const FROM *from, TO *to)                                                                   \
    {                                                                                                                  \
        return status_convert(from, to);                                                                               \
    }                                                                                                                  \
    extern __typeof__(PMPI_Status_##name) MPI_Status_##name LANGUAGES_WEAK(Status_##name);
LANGUAGES_STATUS(c2f, MPI_Status, c_status, MPI_Fint, f_status)
LANGUAGES_STATUS(f2c, MPI_Fint, f_status, MPI_Status, c_status)
LANGUAGES_STATUS(c2f08, MPI_Status, c_status, MPI_F08_status, f08_status)
LANGUAGES_STATUS(f082c, MPI_F08_status, f08_status, MPI_Status, c_status)
LANGUAGES_STATUS(f2f08, MPI_Fint, f_status, MPI_F08_status, f08_status)
LANGUAGES_STATUS(f082f, MPI_F08_status, f08_status, MPI_Fint, f_status)
