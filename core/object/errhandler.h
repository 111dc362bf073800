/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: the standard's four (null, are-fatal, abort, return); functions of the user, each for one kind of
 * object; and handlers of the registry (errhandler_registry.h), which fit all kinds.
 *
 * Functions here call user code: the caller must hold no lock.
 */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_H

#include "core/object/errhandler_registry.h"
#include "core/object/object.h"
#include "mpi-ext.h"
#include "mpi.h"

struct pl_info;

struct pl_errhandler {
    struct pl_object obj;
    enum pl_kind target;   /* PL_COMM, PL_WIN, PL_FILE or PL_SESSION; 0: any kind, for handlers of the registry */
    struct pl_named named; /* a handler of the registry; ops NULL: a function of the user */
    bool extended;         /* the function is called with extra_state */
    void *extra_state;
    MPIX_Destructor_function *destructor; /* NULL: none */
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
        MPI_Session_errhandler_function *session;
        MPIX_Comm_errhandler_function_x *comm_x;
        MPIX_Win_errhandler_function_x *win_x;
        MPIX_File_errhandler_function_x *file_x;
        MPIX_Session_errhandler_function_x *session_x;
        void (*any)(void);
    } call;
};

/* An error to handle. All pointers are borrowed. */
struct pl_raised {
    const char *function;
    enum pl_kind kind; /* of object; 0: none */
    void *object;      /* NULL: the error is of no object */
    int code;
    int *returned;       /* what the function is about to return: a user's handler may change it; NULL: it may not */
    const char *message; /* "MPI_Send: rank 7 is not ... (MPI_ERR_RANK)" */
};

void *pl_errhandler_predefined(uintptr_t constant);
void pl_errhandler_destroy(void *errhandler);

/* Creates an object with one handle for a handler of the registry; those of the standard are the predefined objects.
 * MPI_ERR_ARG, MPI_ERR_OTHER: see pl_named_open(). */
int pl_errhandler_create_named(const char *name, struct pl_errhandler **handler);

/* The handler that the info key "plenum_errhandler" names, which the caller releases; NULL: there is no such key.
 * `info` may be NULL. MPI_ERR_INFO_VALUE: the value names no handler. */
int pl_errhandler_from_info(struct pl_info *info, struct pl_errhandler **handler);

/* The next error that this thread raises is one of this object, which another thread may have freed: it is kept until
 * then. Stolen. */
void pl_errhandler_keep(void *object);

/* Releases what handlers of this thread need that were left by an exception or longjmp(). The thread's next error does
 * so, too. */
void pl_errhandler_forget_left(void);

/* Handles an error: invokes the handlers that the policy names for it; without such, `given`, or if that is NULL the
 * object's handler. Does not return from fatal handlers. */
void pl_errhandler_raise(const struct pl_raised *raised, struct pl_errhandler *given);

/* Invokes one handler. Errors inside handlers invoke handlers again, up to a depth of 16. */
void pl_errhandler_invoke(struct pl_errhandler *handler, const struct pl_raised *raised);

/* The same for an open handler of the registry. */
void pl_errhandler_invoke_named(const struct pl_named *named, const struct pl_raised *raised);

/* Fills in the report of an error. `name` receives the object's name and must live as long as `error`. */
void pl_errhandler_describe(const struct pl_raised *raised, char name[MPI_MAX_OBJECT_NAME],
                            struct plenum_error_report *error);

/* The handler for errors of an object: its own; that of MPI_FILE_NULL for files without an object; else MPI_COMM_SELF's
 * while the World is initialized; else the initial one. Retained for the caller. */
struct pl_errhandler *pl_errhandler_of(enum pl_kind kind, void *object);

/* Attaches `handler` to a communicator, session, window or file, or (PL_FILE, NULL) to MPI_FILE_NULL. Retains it and
 * releases the old one. */
void pl_errhandler_attach(enum pl_kind kind, void *object, struct pl_errhandler *handler);

/* Sets the handler for errors of no object: that of MPI_COMM_SELF while the World is initialized, NULL when it ends.
 * Retains it and releases the old one. */
void pl_errhandler_of_nothing(struct pl_errhandler *handler);

/* Detaches the handler of MPI_FILE_NULL when the last instance closes. The caller releases it. */
struct pl_errhandler *pl_errhandler_take_file_null(void);

/* The handler before initialization, after finalization, and of new instances: PLENUM_INITIAL_ERRHANDLER names it, by
 * default MPI_ERRORS_ARE_FATAL. The caller releases it. If its plugin cannot be used, returns an error and
 * MPI_ERRORS_ARE_FATAL. */
int pl_errhandler_initial(struct pl_errhandler **handler);

#endif
