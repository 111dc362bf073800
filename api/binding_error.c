/* SPDX-License-Identifier: BSD-3-Clause */
/* What a binding of another language needs to report errors as its users see them: mpi-ext.h. */
#include "api/call.h"
#include "api/pmpi.h"

#define NAMES(X) X(MPIX_Call_as) X(MPIX_Comm_raise) X(MPIX_File_raise) X(MPIX_Session_raise) X(MPIX_Win_raise)
NAMES(PL_WEAK)

void MPIX_Call_as(const char *function, const char *name)
{
    pl_call_as(function, name);
}

/* `call` has resolved its object. */
static int binding_raise(struct pl_call *call, int errorclass, const char *detail)
{
    if (detail)
        pl_call_error(call, errorclass, "%s", detail);
    else if (!call->err)
        call->err = errorclass;
    return pl_call_leave(call);
}

int MPIX_Comm_raise(MPI_Comm comm, const char *function, int errorclass, const char *detail, int collective)
{
    struct pl_call call = { .function = function ? function : "MPIX_Comm_raise", .together = collective != 0 };
    if (comm != MPI_COMM_NULL)
        pl_arg_comm(&call, comm);
    return binding_raise(&call, errorclass, detail);
}

int MPIX_File_raise(MPI_File file, const char *function, int errorclass, const char *detail, int collective)
{
    struct pl_call call = { .function = function ? function : "MPIX_File_raise", .together = collective != 0 };
    if (file == MPI_FILE_NULL)
        call.kind = PL_FILE;
    else
        pl_arg_file(&call, file);
    return binding_raise(&call, errorclass, detail);
}

int MPIX_Session_raise(MPI_Session session, const char *function, int errorclass, const char *detail)
{
    struct pl_call call = { .function = function ? function : "MPIX_Session_raise" };
    pl_arg_session(&call, session);
    return binding_raise(&call, errorclass, detail);
}

int MPIX_Win_raise(MPI_Win win, const char *function, int errorclass, const char *detail, int collective)
{
    struct pl_call call = { .function = function ? function : "MPIX_Win_raise", .together = collective != 0 };
    pl_arg_win(&call, win);
    return binding_raise(&call, errorclass, detail);
}

NAMES(PL_PMPI)
