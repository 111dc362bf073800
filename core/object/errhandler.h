/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: the standard's four (null, are-fatal, abort, return), the user's functions, each for one kind of
 * object, and those of the registry (core/object/errhandler_registry.h), which fit all kinds.
 *
 * User code runs in here: hold no lock.
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
    enum pl_kind target;   /* PL_COMM, PL_WIN, PL_FILE or PL_SESSION; 0: fits all (those of the registry) */
    struct pl_named named; /* of the registry; ops NULL: a function of the user */
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

/* An error on its way out. Everything is borrowed. */
struct pl_raised {
    const char *function;
    enum pl_kind kind; /* of object; 0: none */
    void *object;      /* NULL: the error belongs to none */
    int code;
    const char *message; /* "MPI_Send: rank 7 is not ... (MPI_ERR_RANK)" */
};

void *pl_errhandler_predefined(uintptr_t constant);
void pl_errhandler_destroy(void *errhandler);

/* A handler of the registry, with one handle; the standard ones are the predefined objects. MPI_ERR_ARG,
 * MPI_ERR_OTHER. */
int pl_errhandler_create_named(const char *name, struct pl_errhandler **handler);

/* The handler that the info key "plenum_errhandler" chooses, to release; NULL: there is no such key. `info` may be
 * NULL. MPI_ERR_INFO_VALUE: the value is no handler. */
int pl_errhandler_from_info(struct pl_info *info, struct pl_errhandler **handler);

/* The one way out of errors: what the policy says about this one, or else `given`, or else (NULL) the object's handler.
 * With the fatal ones it does not return. */
void pl_errhandler_raise(const struct pl_raised *raised, struct pl_errhandler *given);

/* Invokes one handler. A handler whose own errors invoke handlers ever again is left alone from the 16th time on. */
void pl_errhandler_invoke(struct pl_errhandler *handler, const struct pl_raised *raised);

/* The same for a bare handler of the registry. */
void pl_errhandler_invoke_named(const struct pl_named *named, const struct pl_raised *raised);

/* The error as data. `name` is room for the object's name and must live as long as `error`. */
void pl_errhandler_describe(const struct pl_raised *raised, char name[MPI_MAX_OBJECT_NAME],
                            struct plenum_error_report *error);

/* The handler to invoke for an error on an object: its own; for files without an object that of MPI_FILE_NULL; else
 * MPI_COMM_SELF's while the World is initialized; else the initial one. Retained for the caller. */
struct pl_errhandler *pl_errhandler_of(enum pl_kind kind, void *object);

/* Attaches `handler` to a communicator, session, window or file, or (PL_FILE, NULL) to MPI_FILE_NULL. Retains it, lets
 * go of the old. */
void pl_errhandler_attach(enum pl_kind kind, void *object, struct pl_errhandler *handler);

/* The handler for errors of no object, from the beginning of the World to its end (NULL). In between the one of
 * MPI_COMM_SELF, when that is set. Retains it, lets go of the old. */
void pl_errhandler_of_nothing(struct pl_errhandler *handler);

/* Takes MPI_FILE_NULL its handler, which goes with the last instance. To release. */
struct pl_errhandler *pl_errhandler_take_file_null(void);

/* The handler that applies before initialization, after finalization, and to new instances: from
 * PLENUM_INITIAL_ERRHANDLER, MPI_ERRORS_ARE_FATAL by default. To release. On an error, of a plugin that cannot be used,
 * it is MPI_ERRORS_ARE_FATAL too. */
int pl_errhandler_initial(struct pl_errhandler **handler);

#endif
