/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that the Fortran procedures find themselves, through the handler that C would call for them. */
#include "api/fortran/raise.h"

#include "api/fortran/extension.h"

/* Why the procedures of this library fail before they call C. */
static const char *raise_detail(int class)
{
    switch (class) {
    case MPI_ERR_ARG:
        return "the value does not fit into an INTEGER, as this removed procedure needs it; call the one that "
               "replaced it, as MPI_Get_address";
    case MPI_ERR_NO_MEM: return "out of memory for an argument of Fortran";
    case MPI_ERR_BUFFER: return "the array section has gaps; memory that stays in use must be in one piece";
    case MPI_ERR_TYPE:
        return "the array section has gaps, which needs a basic datatype and a count of whole elements here; pass "
               "memory in one piece";
    default: return "the array section cannot be described by a datatype";
    }
}

int plf_raise_none(const char *procedure, int class)
{
    return plf_raise_comm(MPI_COMM_NULL, procedure, class, PLF_ALONE);
}

int plf_raise_comm(MPI_Comm comm, const char *procedure, int class, enum plf_part part)
{
    if (PLF_HAS(MPIX_Comm_raise))
        return MPIX_Comm_raise(comm, procedure, class, raise_detail(class), part == PLF_TOGETHER);
    int started = 1, ended = 0;
    if (comm == MPI_COMM_NULL) {
        comm = MPI_COMM_SELF;
        MPI_Initialized(&started);
        MPI_Finalized(&ended);
    }
    if (started && !ended)
        MPI_Comm_call_errhandler(comm, class);
    return class;
}

int plf_raise_file(MPI_File file, const char *procedure, int class, enum plf_part part)
{
    if (PLF_HAS(MPIX_File_raise))
        return MPIX_File_raise(file, procedure, class, raise_detail(class), part == PLF_TOGETHER);
    MPI_File_call_errhandler(file, class);
    return class;
}

int plf_raise_session(MPI_Session session, const char *procedure, int class)
{
    if (PLF_HAS(MPIX_Session_raise))
        return MPIX_Session_raise(session, procedure, class, raise_detail(class));
    MPI_Session_call_errhandler(session, class);
    return class;
}

int plf_raise_win(MPI_Win win, const char *procedure, int class, enum plf_part part)
{
    if (PLF_HAS(MPIX_Win_raise))
        return MPIX_Win_raise(win, procedure, class, raise_detail(class), part == PLF_TOGETHER);
    MPI_Win_call_errhandler(win, class);
    return class;
}

void plf_call_as(const char *function, const char *procedure)
{
    if (PLF_HAS(MPIX_Call_as))
        MPIX_Call_as(function, procedure);
}
