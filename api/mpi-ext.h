/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file mpi-ext.h
 * What Plenum offers an MPI program beyond the standard. Functions return MPI error classes as those of mpi.h do, and
 * raise errors through the error handler of the session that they are given.
 */
#ifndef PLENUM_MPI_EXT_H
#define PLENUM_MPI_EXT_H

#include "mpi.h"
#include "plenum-errhandler.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Defined where this header is Plenum's. */
#define MPIX_PLENUM 1

/** Error class: others did not come in the time that was given to them (docs/sessions.md). */
#define MPIX_ERR_TIMEOUT 16001

/* --- error handlers: docs/errors.md ---------------------------------------------------------------------------- */

/**
 * An error handler of the registry: mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log,
 * plenum://backtrace, plenum://callback, or plugin://NAME/ARGUMENT. It fits every kind of object and is freed with
 * MPI_Errhandler_free(). Any thread, any time, also before initialization.
 * MPI_ERR_ARG: no such name. MPI_ERR_OTHER: the plugin is not there or refuses, the message says why.
 */
int MPIX_Errhandler_from_name(const char *name, MPI_Errhandler *errhandler);

/** Takes an error as data. Runs in the thread that made the error. */
typedef void (MPIX_Error_callback)(const struct plenum_error_report *error, void *context);
/** Gives back what a context pointer points to. */
typedef void (MPIX_Destructor_function)(void *extra_state);

/**
 * Where plenum://callback hands errors; one for the process. NULL: nowhere, they are logged then. `destructor` (NULL:
 * none) is called with the context when another callback, or none, has taken its place and no thread runs it any more.
 * Any thread, any time.
 */
int MPIX_Errhandler_set_callback(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context);

typedef void (MPIX_Comm_errhandler_function_x)(MPI_Comm comm, int error_code, void *extra_state);
typedef void (MPIX_File_errhandler_function_x)(MPI_File file, int error_code, void *extra_state);
typedef void (MPIX_Session_errhandler_function_x)(MPI_Session session, int error_code, void *extra_state);
typedef void (MPIX_Win_errhandler_function_x)(MPI_Win win, int error_code, void *extra_state);

/**
 * Error handlers with a context pointer, as MPICH has them. The destructor (NULL: none) is called exactly once, when
 * the handler is freed and attached to nothing any more; not when the call fails. Any thread, any time.
 */
int MPIX_Comm_create_errhandler_x(MPIX_Comm_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler);
int MPIX_File_create_errhandler_x(MPIX_File_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler);
int MPIX_Session_create_errhandler_x(MPIX_Session_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                     void *extra_state, MPI_Errhandler *errhandler);
int MPIX_Win_create_errhandler_x(MPIX_Win_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                 void *extra_state, MPI_Errhandler *errhandler);

/* --- process sets: docs/psets.md ------------------------------------------------------------------------------- */

/**
 * Publishes a process set of the job, or changes it: all its processes find it, members or not, with their next
 * question. Local: nobody is waited for. Groups made from an earlier version stay as they are. It stays when the
 * publisher ends.
 * @param pset_name  a URI such as "app://mesh/fine"
 * @param group      of this session; may be empty
 * MPI_ERR_ARG: no URI, or a set of another provider has the name. MPI_ERR_GROUP: of another session.
 * MPI_ERR_UNSUPPORTED_OPERATION: under another launcher than Plenum's. Any thread.
 */
int MPIX_Session_pset_publish(MPI_Session session, const char *pset_name, MPI_Group group);

/** Withdraws a set that any process of the job, or its engine, has published. MPI_ERR_ARG: there is none. Any
 * thread. */
int MPIX_Session_pset_withdraw(MPI_Session session, const char *pset_name);

/** Hears of a set that came or changed, with its new version, or went, with 0. Must not finalize the session. */
typedef void (MPIX_Session_pset_function)(MPI_Session session, const char *pset_name, MPI_Count version, void *context);

/**
 * Calls `callback` for each process set that comes, changes or goes from now on: while this process is in a call of the
 * session that makes progress, and at the latest in its next question for process sets; never from a signal or a thread
 * of the library. May call MPI. One callback a session, in place of the one before; NULL: none.
 */
int MPIX_Session_pset_watch(MPI_Session session, MPIX_Session_pset_function *callback, void *context);

/* --- pools of processes that nobody launched together: docs/attach.md -------------------------------------------- */

/**
 * Makes this process rank `rank` of a pool of `size` processes on this machine: "mpi://WORLD" and MPI_COMM_WORLD are
 * the pool then. Does not wait for others; they come, go, and come again as they like. To be called before the first
 * session and MPI_Init, or when all have been finalized; overrides any launcher. The three functions here return
 * errors, in words for MPI_Error_string(), and invoke no error handler. Any thread.
 * @param directory  where the members meet: of this user, on this machine; the file plenum-pool is kept there
 *                   meanwhile. Or a file of mode 0600, which is used and stays: /proc/PID/fd/N of somebody's memfd
 *                   leaves no name behind
 * MPI_ERR_RANK, MPI_ERR_ARG: not allowed. MPI_ERR_OTHER: another process is attached as this rank, or MPI is in use.
 */
int MPIX_Attach(const char *directory, int rank, int size);

/**
 * Brings `bytes` bytes of each member to all: `all` has the room of as many pieces as the pool has members, in the
 * order of ranks. Returns 0, or another number when that was not possible.
 */
typedef int (MPIX_Exchange_function)(const void *mine, void *all, int bytes, void *context);

/**
 * The same without a directory: the members meet through `exchange`, which is called twice by each. Collective: returns
 * when all have attached, and an error to all if one cannot. MPI_ERR_UNSUPPORTED_OPERATION: they are on several
 * machines.
 */
int MPIX_Attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size);

/** Leaves the pool: another may attach as this rank, or this process again. MPI_ERR_OTHER: sessions or the World are
 * open. */
int MPIX_Detach(void);

int PMPIX_Attach(const char *directory, int rank, int size);
int PMPIX_Attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size);
int PMPIX_Detach(void);

int PMPIX_Session_pset_publish(MPI_Session session, const char *pset_name, MPI_Group group);
int PMPIX_Session_pset_withdraw(MPI_Session session, const char *pset_name);
int PMPIX_Session_pset_watch(MPI_Session session, MPIX_Session_pset_function *callback, void *context);

int PMPIX_Errhandler_from_name(const char *name, MPI_Errhandler *errhandler);
int PMPIX_Errhandler_set_callback(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context);
int PMPIX_Comm_create_errhandler_x(MPIX_Comm_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                   void *extra_state, MPI_Errhandler *errhandler);
int PMPIX_File_create_errhandler_x(MPIX_File_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                   void *extra_state, MPI_Errhandler *errhandler);
int PMPIX_Session_create_errhandler_x(MPIX_Session_errhandler_function_x *function,
                                      MPIX_Destructor_function *destructor, void *extra_state,
                                      MPI_Errhandler *errhandler);
int PMPIX_Win_create_errhandler_x(MPIX_Win_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler);

#ifdef __cplusplus
}
#endif
#endif
