/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes and codes, and error handlers. The functions of classes and codes, MPI_Session_create_errhandler,
 * MPI_Session_call_errhandler and MPI_Errhandler_free may be called before MPI_Init and after MPI_Finalize.
 */
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/base/error_codes.h"

/* --- classes and codes --------------------------------------------------------------------------------------- */

int MPI_Error_class(int errorcode, int *errorclass)
{
    struct pl_call call = PL_CALL(MPI_Error_class);
    pl_arg_output(&call, errorclass, "errorclass");
    if (!pl_error_code_valid(errorcode))
        pl_call_error(&call, MPI_ERR_ARG, "errorcode %d is not an error code", errorcode);
    if (!call.err)
        *errorclass = pl_error_code_class(errorcode);
    return pl_call_leave(&call);
}

int MPI_Error_string(int errorcode, char *string, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Error_string);
    char text[MPI_MAX_ERROR_STRING];
    pl_arg_output(&call, string, "string");
    pl_arg_output(&call, resultlen, "resultlen");
    if (!pl_error_code_valid(errorcode))
        pl_call_error(&call, MPI_ERR_ARG, "errorcode %d is not an error code", errorcode);
    if (!call.err) {
        pl_error_string(errorcode, text);
        strcpy(string, text);
        *resultlen = (int)strlen(text);
    }
    return pl_call_leave(&call);
}

int MPI_Add_error_class(int *errorclass)
{
    struct pl_call call = PL_CALL(MPI_Add_error_class);
    pl_arg_output(&call, errorclass, "errorclass");
    if (!call.err)
        call.err = pl_error_add_class(errorclass);
    return pl_call_leave(&call);
}

int MPI_Add_error_code(int errorclass, int *errorcode)
{
    struct pl_call call = PL_CALL(MPI_Add_error_code);
    pl_arg_output(&call, errorcode, "errorcode");
    if (!call.err)
        call.err = pl_error_add_code(errorclass, errorcode);
    return pl_call_leave(&call);
}

int MPI_Add_error_string(int errorcode, const char *string)
{
    struct pl_call call = PL_CALL(MPI_Add_error_string);
    pl_arg_output(&call, string, "string");
    if (!call.err)
        call.err = pl_error_add_text(errorcode, string);
    return pl_call_leave(&call);
}

int MPI_Remove_error_class(int errorclass)
{
    struct pl_call call = PL_CALL(MPI_Remove_error_class);
    call.err = pl_error_remove_class(errorclass);
    return pl_call_leave(&call);
}

int MPI_Remove_error_code(int errorcode)
{
    struct pl_call call = PL_CALL(MPI_Remove_error_code);
    call.err = pl_error_remove_code(errorcode);
    return pl_call_leave(&call);
}

int MPI_Remove_error_string(int errorcode)
{
    struct pl_call call = PL_CALL(MPI_Remove_error_string);
    call.err = pl_error_remove_text(errorcode);
    return pl_call_leave(&call);
}

/* --- the four actions on an error handler, for each kind of object ------------------------------------------- */

static int mpi_error_create(struct pl_call *call, enum pl_kind target, void (*function)(void),
                            MPI_Errhandler *errhandler)
{
    pl_arg_output(call, errhandler, "errhandler");
    if (!function)
        pl_call_error(call, MPI_ERR_ARG, "the error handling function is NULL");
    if (!call->err) {
        struct pl_errhandler *made = pl_object_create(PL_ERRHANDLER);
        if (made) {
            made->target = target;
            made->call.any = function;
            *errhandler = pl_object_handle(made);
        } else {
            call->err = MPI_ERR_NO_MEM;
        }
    }
    return pl_call_leave(call);
}

/* `call` has resolved its object, here and below. */
static int mpi_error_set(struct pl_call *call, MPI_Errhandler errhandler)
{
    struct pl_errhandler *handler = pl_arg_errhandler(call, errhandler, call->kind);
    if (!call->err)
        pl_errhandler_attach(call->kind, call->object, handler);
    return pl_call_leave(call);
}

static int mpi_error_get(struct pl_call *call, MPI_Errhandler *errhandler)
{
    pl_arg_output(call, errhandler, "errhandler");
    if (!call->err) {
        struct pl_errhandler *handler = pl_errhandler_of(call->kind, call->object);
        *errhandler = pl_object_handle(pl_handle_share(handler));
        pl_object_release(handler);
    }
    return pl_call_leave(call);
}

static int mpi_error_invoke(struct pl_call *call, int errorcode)
{
    if (!call->err) {
        char message[MPI_MAX_ERROR_STRING];
        pl_error_string(errorcode, message);
        struct pl_raised raised = { .function = call->function,
                                    .kind = call->kind,
                                    .object = call->object,
                                    .code = errorcode,
                                    .message = message };
        pl_errhandler_raise(&raised, NULL);
    }
    return pl_call_leave(call);
}

/* --- communicators ------------------------------------------------------------------------------------------- */

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Comm_create_errhandler);
    return mpi_error_create(&call, PL_COMM, (void (*)(void))comm_errhandler_fn, errhandler);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    struct pl_call call = PL_CALL(MPI_Comm_set_errhandler);
    pl_arg_comm(&call, comm);
    return mpi_error_set(&call, errhandler);
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_errhandler);
    pl_arg_comm(&call, comm);
    return mpi_error_get(&call, errhandler);
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    struct pl_call call = PL_CALL(MPI_Comm_call_errhandler);
    pl_arg_comm(&call, comm);
    return mpi_error_invoke(&call, errorcode);
}

/* --- windows ------------------------------------------------------------------------------------------------- */

int MPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Win_create_errhandler);
    return mpi_error_create(&call, PL_WIN, (void (*)(void))win_errhandler_fn, errhandler);
}

int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    struct pl_call call = PL_CALL(MPI_Win_set_errhandler);
    pl_arg_win(&call, win);
    return mpi_error_set(&call, errhandler);
}

int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Win_get_errhandler);
    pl_arg_win(&call, win);
    return mpi_error_get(&call, errhandler);
}

int MPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    struct pl_call call = PL_CALL(MPI_Win_call_errhandler);
    pl_arg_win(&call, win);
    return mpi_error_invoke(&call, errorcode);
}

/* --- files: MPI_FILE_NULL has a handler of its own, which new files get -------------------------------------- */

static void resolve_file(struct pl_call *call, MPI_File file)
{
    if (file == MPI_FILE_NULL)
        call->kind = PL_FILE;
    else
        pl_arg_file(call, file);
}

int MPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_File_create_errhandler);
    return mpi_error_create(&call, PL_FILE, (void (*)(void))file_errhandler_fn, errhandler);
}

int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    struct pl_call call = PL_CALL(MPI_File_set_errhandler);
    resolve_file(&call, file);
    return mpi_error_set(&call, errhandler);
}

int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_File_get_errhandler);
    resolve_file(&call, file);
    return mpi_error_get(&call, errhandler);
}

int MPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    struct pl_call call = PL_CALL(MPI_File_call_errhandler);
    resolve_file(&call, fh);
    return mpi_error_invoke(&call, errorcode);
}

/* --- sessions ------------------------------------------------------------------------------------------------ */

int MPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Session_create_errhandler);
    return mpi_error_create(&call, PL_SESSION, (void (*)(void))session_errhandler_fn, errhandler);
}

int MPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    struct pl_call call = PL_CALL(MPI_Session_set_errhandler);
    pl_arg_session(&call, session);
    return mpi_error_set(&call, errhandler);
}

int MPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Session_get_errhandler);
    pl_arg_session(&call, session);
    return mpi_error_get(&call, errhandler);
}

int MPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    struct pl_call call = PL_CALL(MPI_Session_call_errhandler);
    pl_arg_session(&call, session);
    return mpi_error_invoke(&call, errorcode);
}

int MPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    struct pl_call call = PL_CALL(MPI_Errhandler_free);
    pl_arg_output(&call, errhandler, "errhandler");
    struct pl_errhandler *handler = call.err ? NULL : pl_object_get(PL_ERRHANDLER, *errhandler, "errhandler");
    if (handler) {
        pl_handle_drop(handler);
        *errhandler = MPI_ERRHANDLER_NULL;
    } else if (!call.err) {
        call.err = MPI_ERR_ERRHANDLER;
    }
    return pl_call_leave(&call);
}

PL_NAMES_ERROR(PL_PMPI)
