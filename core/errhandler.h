/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers: the standard's four (null, are-fatal, abort, return) and the user's, each for one kind of object. */
#ifndef PLENUM_CORE_ERRHANDLER_H
#define PLENUM_CORE_ERRHANDLER_H

#include "core/object.h"
#include "mpi.h"

struct pl_errhandler {
    struct pl_object obj;
    enum pl_kind target; /* PL_COMM, PL_WIN, PL_FILE or PL_SESSION; 0: fits all (predefined) */
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
        MPI_Session_errhandler_function *session;
        void (*any)(void);
    } call;
};

void *pl_errhandler_predefined(uintptr_t constant);
void pl_errhandler_destroy(void *errhandler);

/* Invokes `handler` for `code` on an object (its kind and object; NULL object: the error belongs to none). With the
 * fatal ones it does not return. User code runs: hold no lock. */
void pl_errhandler_invoke(struct pl_errhandler *handler, enum pl_kind kind, void *object, int code, const char *message);

/* The handler to invoke for an error on an object: its own; for files without an object that of MPI_FILE_NULL; else
 * MPI_COMM_SELF's while the World is initialized; else the initial one. Retained for the caller. */
struct pl_errhandler *pl_errhandler_of(enum pl_kind kind, void *object);

/* Attaches `handler` to a communicator, a session, or (PL_FILE, NULL) MPI_FILE_NULL. Retains it, lets go of the old. */
void pl_errhandler_attach(enum pl_kind kind, void *object, struct pl_errhandler *handler);

/* The handler that applies before initialization, after finalization, and to new instances: from
 * PLENUM_INITIAL_ERRHANDLER, MPI_ERRORS_ARE_FATAL by default. Borrowed. */
struct pl_errhandler *pl_errhandler_initial(void);

#endif
