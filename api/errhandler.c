/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers beyond the standard (mpi-ext.h): by name, with a context pointer, with a callback. */
#include "api/call.h"
#include "api/pmpi.h"
#include "core/object/errhandler_callback.h"

#define NAMES(X)                                                                                                       \
    X(MPIX_Comm_create_errhandler_x)                                                                                   \
    X(MPIX_Errhandler_from_name)                                                                                       \
    X(MPIX_Errhandler_set_callback)                                                                                    \
    X(MPIX_File_create_errhandler_x) X(MPIX_Session_create_errhandler_x) X(MPIX_Win_create_errhandler_x)
NAMES(PL_WEAK)

int MPIX_Errhandler_from_name(const char *name, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPIX_Errhandler_from_name);
    struct pl_errhandler *made;
    pl_arg_output(&call, name, "name");
    pl_arg_output(&call, errhandler, "errhandler");
    if (!call.err)
        call.err = pl_errhandler_create_named(name, &made);
    if (!call.err)
        *errhandler = pl_object_handle(made);
    return pl_call_leave(&call);
}

int MPIX_Errhandler_set_callback(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context)
{
    struct pl_call call = PL_CALL(MPIX_Errhandler_set_callback);
    call.err = pl_error_callback_set(callback, destructor, context);
    return pl_call_leave(&call);
}

static int mpi_errhandler_create(struct pl_call *call, enum pl_kind target, void (*function)(void),
                                 MPIX_Destructor_function *destructor, void *extra_state, MPI_Errhandler *errhandler)
{
    pl_arg_output(call, errhandler, "errhandler");
    if (!function)
        pl_call_error(call, MPI_ERR_ARG, "the error handling function is NULL");
    struct pl_errhandler *made = call->err ? NULL : pl_object_create(PL_ERRHANDLER);
    if (made) {
        made->target = target;
        made->extended = true;
        made->extra_state = extra_state;
        made->destructor = destructor;
        made->call.any = function;
        *errhandler = pl_object_handle(made);
    } else if (!call->err) {
        call->err = MPI_ERR_NO_MEM;
    }
    return pl_call_leave(call);
}

int MPIX_Comm_create_errhandler_x(MPIX_Comm_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPIX_Comm_create_errhandler_x);
    return mpi_errhandler_create(&call, PL_COMM, (void (*)(void))function, destructor, extra_state, errhandler);
}

int MPIX_File_create_errhandler_x(MPIX_File_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPIX_File_create_errhandler_x);
    return mpi_errhandler_create(&call, PL_FILE, (void (*)(void))function, destructor, extra_state, errhandler);
}

int MPIX_Session_create_errhandler_x(MPIX_Session_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                     void *extra_state, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPIX_Session_create_errhandler_x);
    return mpi_errhandler_create(&call, PL_SESSION, (void (*)(void))function, destructor, extra_state, errhandler);
}

int MPIX_Win_create_errhandler_x(MPIX_Win_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                 void *extra_state, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPIX_Win_create_errhandler_x);
    return mpi_errhandler_create(&call, PL_WIN, (void (*)(void))function, destructor, extra_state, errhandler);
}

NAMES(PL_PMPI)
