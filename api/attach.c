/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of processes that were not launched together (mpi-ext.h). Errors are returned, whatever handler is set. */
#include "core/job/attach.h"
#include "api/call.h"
#include "api/pmpi.h"
#include "mpi-ext.h"
#include "sessions/create/listener.h"

#define NAMES(X) X(MPIX_Attach) X(MPIX_Attach_exchange) X(MPIX_Detach)
NAMES(PL_WEAK)

static struct pl_call attach_returning(const char *function)
{
    return (struct pl_call){ .function = function, .handler = pl_errhandler_predefined((uintptr_t)MPI_ERRORS_RETURN) };
}

int MPIX_Attach(const char *directory, int rank, int size)
{
    struct pl_call call = attach_returning(__func__);
    pl_arg_output(&call, directory, "directory");
    if (!call.err)
        call.err = pl_attach_directory(directory, rank, size);
    return pl_call_leave(&call);
}

int MPIX_Attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size)
{
    struct pl_call call = attach_returning(__func__);
    if (!exchange)
        pl_call_error(&call, MPI_ERR_ARG, "the exchange callback is NULL");
    if (!call.err)
        call.err = pl_attach_exchange(exchange, context, rank, size, pl_listener_card);
    return pl_call_leave(&call);
}

int MPIX_Detach(void)
{
    struct pl_call call = attach_returning(__func__);
    call.err = pl_detach();
    return pl_call_leave(&call);
}

NAMES(PL_PMPI)
