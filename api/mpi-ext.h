/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file mpi-ext.h
 * What Plenum offers an MPI program beyond the standard; docs/extensions has a page with an example for each function.
 *
 * **Errors.** Functions return MPI_SUCCESS or an MPI error class, as those of mpi.h do, and raise an error before they
 * return it. The handler is that of the session among the arguments. Without a valid one it is that of MPI_COMM_SELF
 * while the World is initialized, else the initial handler (MPI_ERRORS_ARE_FATAL by default; MPI-5.0, section 9.3). So
 * an error is returned only where the handler returns. MPIX_Attach(), MPIX_Attach_exchange() and MPIX_Detach() always
 * return. MPI_Error_string() has the explanation. After an error nothing has changed and outputs keep their values.
 *
 * **Threads.** "Any thread" holds whatever the thread level is; "at any time" also before initialization and after
 * finalization. Callbacks run with no lock of the library held.
 *
 * **Profiling.** Each function has a second name with the prefix PMPIX_, and its first name is weak, so that a tool can
 * take its place (MPI-5.0, section 15.2).
 */
#ifndef PLENUM_MPI_EXT_H
#define PLENUM_MPI_EXT_H

#include "mpi.h"
#include "plenum-errhandler.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Defined as 1 where this header is Plenum's. @since 0.1 */
#define MPIX_PLENUM 1

/** Error class: other processes did not arrive within the time limit.
 *  MPI_Comm_create_from_group() and MPI_Intercomm_create_from_groups() return it when the info key
 *  `plenum_meet_timeout` or the variable `meet_timeout` limits them (docs/sessions.md), MPI_Comm_accept() when the info
 *  key `timeout` does (docs/dynamic.md). It adds to the classes of MPI-5.0, section 9.4. @since 0.1 */
#define MPIX_ERR_TIMEOUT 16001

/** Error class: a process that the operation needs has failed. MPI-5.0, section 9.4, has it by another name. @since 0.1
 */
#define MPIX_ERR_PROC_FAILED MPI_ERR_PROC_ABORTED

/** Error class: a process has failed that may be the source of a nonblocking receive from MPI_ANY_SOURCE. The request
 *  stays active; it may be waited for again once the failure is acknowledged (docs/fault-tolerance.md). @since 0.1 */
#define MPIX_ERR_PROC_FAILED_PENDING 16002

/** Error class: a member has revoked the communicator with MPIX_Comm_revoke(). @since 0.1 */
#define MPIX_ERR_REVOKED 16003

/* --- error handlers: docs/errors.md ---------------------------------------------------------------------------- */

/**
 * Gives an error handler of the registry, which fits communicators, windows, files and sessions alike.
 *
 * May block while the file of a plugin is loaded and while its `open` function runs; waits for no process. Any thread,
 * at any time. Related to MPI-5.0, section 9.3, and to the info key mpi_initial_errhandler of section 11.8.4, which has
 * the same names for the handlers of the standard.
 *
 * @param[in] name         mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log, plenum://backtrace,
 *                         plenum://callback, in upper or lower case; or plugin://NAME/ARGUMENT. Borrowed
 * @param[out] errhandler  owned by the caller, freed with MPI_Errhandler_free(); objects that it is attached to
 *                         retain it. The first three names give the predefined handlers
 * @retval MPI_SUCCESS     `errhandler` is set
 * @retval MPI_ERR_ARG     no such name, or an argument is NULL
 * @retval MPI_ERR_OTHER   the plugin does not exist, cannot be loaded or refuses; the message says why
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Errhandler_from_name(const char *name, MPI_Errhandler *errhandler);

/**
 * Takes an error as data.
 *
 * Runs in the thread that made the error, before the function that failed returns; several threads may be in it. May
 * block and call MPI, also MPIX_Errhandler_set_callback().
 *
 * @param[in] error    the error; it and all that it points to are borrowed until the callback returns
 * @param[in] context  of MPIX_Errhandler_set_callback()
 * @since 0.1
 */
typedef void(MPIX_Error_callback)(const struct plenum_error_report *error, void *context);

/**
 * Releases what a context pointer points to.
 *
 * Runs once, in the thread that drops the last reference, which may be any thread that calls MPI.
 *
 * @param[in] extra_state  the pointer that was given with the destructor; stolen
 * @since 0.1
 */
typedef void(MPIX_Destructor_function)(void *extra_state);

/**
 * Sets the callback that the handler plenum://callback calls: one for the process, which replaces the earlier one.
 *
 * Without a callback the errors go to the program that launched the job (PLENUM_EVENT_ERROR), or else to the log. Does
 * not block; the destructor of the earlier one may run in the call. Any thread, at any time. Related to MPI-5.0,
 * section 9.3, which has no handler for the whole process.
 *
 * @param[in] callback     NULL: none from now on; `destructor` and `context` are not used then
 * @param[in] destructor   called with `context` when this callback has been replaced and no thread runs it any
 *                         more; not when this call fails. NULL: none
 * @param[in] context      handed to `callback`; retained until the destructor is called
 * @retval MPI_SUCCESS     the callback is set
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Errhandler_set_callback(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context);

/**
 * Handles an error on a communicator.
 *
 * Runs in the thread that made the error; several threads may be in it. May block and call MPI. Its own errors are
 * handled in turn, down to the 16th inside one another.
 *
 * @param[in] comm         the communicator; MPI_COMM_SELF for an error that belongs to no object
 * @param[in] error_code   what the function that failed will return
 * @param[in] extra_state  of MPIX_Comm_create_errhandler_x(); borrowed
 * @since 0.1
 */
typedef void(MPIX_Comm_errhandler_function_x)(MPI_Comm comm, int error_code, void *extra_state);

/**
 * Handles an error on a file, as MPIX_Comm_errhandler_function_x does on a communicator.
 * @param[in] file         the file; MPI_FILE_NULL for an error that belongs to no open file
 * @param[in] error_code   what the function that failed will return
 * @param[in] extra_state  of MPIX_File_create_errhandler_x(); borrowed
 * @since 0.1
 */
typedef void(MPIX_File_errhandler_function_x)(MPI_File file, int error_code, void *extra_state);

/**
 * Handles an error on a session, as MPIX_Comm_errhandler_function_x does on a communicator.
 * @param[in] session      the session; MPI_SESSION_NULL for an error of MPI_Session_init()
 * @param[in] error_code   what the function that failed will return
 * @param[in] extra_state  of MPIX_Session_create_errhandler_x(); borrowed
 * @since 0.1
 */
typedef void(MPIX_Session_errhandler_function_x)(MPI_Session session, int error_code, void *extra_state);

/**
 * Handles an error on a window, as MPIX_Comm_errhandler_function_x does on a communicator.
 * @param[in] win          the window
 * @param[in] error_code   what the function that failed will return
 * @param[in] extra_state  of MPIX_Win_create_errhandler_x(); borrowed
 * @since 0.1
 */
typedef void(MPIX_Win_errhandler_function_x)(MPI_Win win, int error_code, void *extra_state);

/**
 * Makes an error handler for communicators that gets a context pointer; MPICH has the same function.
 *
 * Does not block. Any thread, at any time. Related to MPI_Comm_create_errhandler(): MPI-5.0, section 9.3.1.
 *
 * @param[in] function     the handler
 * @param[in] destructor   called exactly once with `extra_state`, when the handler is freed and attached to nothing any
 *                         more, which may be in MPI_Finalize(); not when this call fails. NULL: none
 * @param[in] extra_state  handed to `function`; retained until the destructor is called
 * @param[out] errhandler  owned by the caller, freed with MPI_Errhandler_free(); objects that it is attached to
 *                         retain it
 * @retval MPI_SUCCESS     `errhandler` is set
 * @retval MPI_ERR_ARG     `function` or `errhandler` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_create_errhandler_x(MPIX_Comm_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler);

/**
 * Makes an error handler for files that gets a context pointer, as MPIX_Comm_create_errhandler_x() does.
 *
 * Does not block. Any thread, at any time. Related to MPI_File_create_errhandler(): MPI-5.0, section 9.3.3.
 *
 * @param[in] function     the handler
 * @param[in] destructor   as for MPIX_Comm_create_errhandler_x()
 * @param[in] extra_state  handed to `function`; retained until the destructor is called
 * @param[out] errhandler  owned by the caller, freed with MPI_Errhandler_free(); objects that it is attached to
 *                         retain it
 * @retval MPI_SUCCESS     `errhandler` is set
 * @retval MPI_ERR_ARG     `function` or `errhandler` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_File_create_errhandler_x(MPIX_File_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler);

/**
 * Makes an error handler for sessions that gets a context pointer, as MPIX_Comm_create_errhandler_x() does.
 *
 * Does not block. Any thread, at any time. Related to MPI_Session_create_errhandler(): MPI-5.0, section 9.3.4.
 *
 * @param[in] function     the handler
 * @param[in] destructor   as for MPIX_Comm_create_errhandler_x()
 * @param[in] extra_state  handed to `function`; retained until the destructor is called
 * @param[out] errhandler  owned by the caller, freed with MPI_Errhandler_free(); objects that it is attached to
 *                         retain it
 * @retval MPI_SUCCESS     `errhandler` is set
 * @retval MPI_ERR_ARG     `function` or `errhandler` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Session_create_errhandler_x(MPIX_Session_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                     void *extra_state, MPI_Errhandler *errhandler);

/**
 * Makes an error handler for windows that gets a context pointer, as MPIX_Comm_create_errhandler_x() does.
 *
 * Does not block. Any thread, at any time. Related to MPI_Win_create_errhandler(): MPI-5.0, section 9.3.2.
 *
 * @param[in] function     the handler
 * @param[in] destructor   as for MPIX_Comm_create_errhandler_x()
 * @param[in] extra_state  handed to `function`; retained until the destructor is called
 * @param[out] errhandler  owned by the caller, freed with MPI_Errhandler_free(); objects that it is attached to
 *                         retain it
 * @retval MPI_SUCCESS     `errhandler` is set
 * @retval MPI_ERR_ARG     `function` or `errhandler` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Win_create_errhandler_x(MPIX_Win_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                 void *extra_state, MPI_Errhandler *errhandler);

/**
 * Combines elements, as MPI_User_function_c does: inoutvec[i] = invec[i] op inoutvec[i].
 *
 * Runs in a thread that calls MPI, with no lock of the library held. Must not call MPI functions that communicate.
 *
 * @param[in] invec         [len] elements of `datatype`; borrowed
 * @param[in,out] inoutvec  [len] elements of `datatype`; borrowed
 * @param[in] len           number of elements
 * @param[in] datatype      that of the reduction; borrowed
 * @param[in] extra_state   of MPIX_Op_create_x(); borrowed
 * @since 0.1
 */
typedef void(MPIX_User_function_x)(void *invec, void *inoutvec, MPI_Count len, MPI_Datatype datatype,
                                   void *extra_state);

/**
 * Makes a reduction operation whose function gets a context pointer; MPICH has the same function.
 *
 * Does not block. Any thread, at any time. Related to MPI_Op_create_c(): MPI-5.0, section 6.9.5.
 *
 * @param[in] user_fn      combines elements
 * @param[in] destructor   called exactly once with `extra_state`, when the operation is freed and no communication uses
 *                         it any more; not when this call fails. NULL: none
 * @param[in] commute      true if the operation is commutative
 * @param[in] extra_state  handed to `user_fn`; retained until the destructor is called
 * @param[out] op          owned by the caller, freed with MPI_Op_free()
 * @retval MPI_SUCCESS     `op` is set
 * @retval MPI_ERR_ARG     `user_fn` or `op` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Op_create_x(MPIX_User_function_x *user_fn, MPIX_Destructor_function *destructor, int commute,
                     void *extra_state, MPI_Op *op);

/* --- handles of a binding ----------------------------------------------------------------------------------------- */

/**
 * Tells how MPI_X_fromint() and MPI_X_toint() compute, so that a binding can do it itself: the handle of an integer `n`
 * from `first` on is the address `*base + (n - first) * unit`, as long as `*base` is not 0. Smaller integers that are
 * not negative are the handles themselves: the constants of the ABI.
 *
 * `*base` is 0 while the process has no object, and may change after the last one is freed: read it each time,
 * atomically if the process has several threads. A handle that was freed is refused as one of MPI_X_fromint() is.
 * Does not block. Any thread, at any time. Related to MPI_Comm_fromint(): MPI-5.0, section 20.5.
 *
 * @param[out] base   a place that is valid as long as the library is loaded
 * @param[out] first  the first integer that is not a constant
 * @param[out] unit   bytes
 * @retval MPI_SUCCESS  all are set
 * @retval MPI_ERR_ARG  one of them is NULL
 * @since 0.1
 */
int MPIX_Handle_layout(const MPI_Aint **base, int *first, int *unit);

/* --- errors of a binding ------------------------------------------------------------------------------------------ */

/**
 * Gives a function another name in the messages of its errors: that under which the user of a binding has called it.
 *
 * Holds for the calling thread until it calls this again. Does not block. Any thread, at any time. The standard has
 * nothing like it.
 *
 * @param[in] function  as C names it ("MPI_Send_c"); borrowed until the next call. NULL: no function has another name
 * @param[in] name      its name in messages ("MPI_Send"); borrowed until the next call. NULL: its own
 * @since 0.1
 */
void MPIX_Call_as(const char *function, const char *name);

/**
 * Raises an error that a binding has found before it calls the C function, as that function would raise it: with words,
 * through the same handler.
 *
 * The error handler may end the job. If it returns, this does not block. Any thread, at any time. Related to
 * MPI_Comm_call_errhandler(): MPI-5.0, section 9.5.
 *
 * @param[in] comm        its error handler is called; MPI_COMM_NULL: that of errors without an object; borrowed
 * @param[in] function    the function's name in the message, NULL: this one's; borrowed
 * @param[in] errorclass  the error class, such as MPI_ERR_NO_MEM
 * @param[in] detail      why, in words, without a newline, NULL: the words of the class; borrowed
 * @param[in] collective  true if the others may wait for this process. After MPI_ERR_NO_MEM they get an error then
 * @return `errorclass`, or what the error handler has put in its place; MPI_ERR_COMM if there is no such object
 * @since 0.1
 */
int MPIX_Comm_raise(MPI_Comm comm, const char *function, int errorclass, const char *detail, int collective);
/**
 * Like MPIX_Comm_raise(), for a file; MPI_FILE_NULL has a handler of its own.
 *
 * @param[in] file  its error handler is called; borrowed
 * @param[in] function    the function's name in the message, NULL: this one's; borrowed
 * @param[in] errorclass  the error class
 * @param[in] detail      why, in words, or NULL; borrowed
 * @param[in] collective  true if the others may wait for this process
 * @return `errorclass`, or what the error handler has put in its place; MPI_ERR_FILE if there is no such object
 * @since 0.1
 */
int MPIX_File_raise(MPI_File file, const char *function, int errorclass, const char *detail, int collective);
/**
 * Like MPIX_Comm_raise(), for a session.
 *
 * @param[in] session  its error handler is called; borrowed
 * @param[in] function    the function's name in the message, NULL: this one's; borrowed
 * @param[in] errorclass  the error class
 * @param[in] detail      why, in words, or NULL; borrowed
 * @return `errorclass`, or what the error handler has put in its place; MPI_ERR_SESSION if there is no such object
 * @since 0.1
 */
int MPIX_Session_raise(MPI_Session session, const char *function, int errorclass, const char *detail);
/**
 * Like MPIX_Comm_raise(), for a window.
 *
 * @param[in] win  its error handler is called; borrowed
 * @param[in] function    the function's name in the message, NULL: this one's; borrowed
 * @param[in] errorclass  the error class
 * @param[in] detail      why, in words, or NULL; borrowed
 * @param[in] collective  true if the others may wait for this process
 * @return `errorclass`, or what the error handler has put in its place; MPI_ERR_WIN if there is no such object
 * @since 0.1
 */
int MPIX_Win_raise(MPI_Win win, const char *function, int errorclass, const char *detail, int collective);

/* --- attributes: MPI-5.0, section 19.3.7 ------------------------------------------------------------------------- */

/**
 * Makes a key for attributes of communicators, for a binding of another language; MPICH has the same function.
 *
 * The callbacks get attributes as values: the integer that MPIX_Comm_set_attr_as_fortran() has set, in the place of a
 * pointer, or the pointer that C has set. A copy is of the language of its original.
 *
 * Does not block. Any thread, at any time. Related to MPI_Comm_create_keyval(): MPI-5.0, sections 7.7.2 and 19.3.7.
 *
 * @param[in] comm_copy_attr_fn    copies an attribute, or MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN
 * @param[in] comm_delete_attr_fn  deletes an attribute, or MPI_COMM_NULL_DELETE_FN
 * @param[in] destructor    called exactly once with `extra_state`, when the key is freed and no object has an attribute
 *                          with it any more; not when this call fails. NULL: none
 * @param[out] comm_keyval  owned by the caller, freed with MPI_Comm_free_keyval(); attributes retain it
 * @param[in] extra_state   handed to the callbacks; retained until the destructor is called
 * @retval MPI_SUCCESS     `comm_keyval` is set
 * @retval MPI_ERR_ARG     `comm_keyval` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_create_keyval_x(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                              MPI_Comm_delete_attr_function *comm_delete_attr_fn, MPIX_Destructor_function *destructor,
                              int *comm_keyval, void *extra_state);

/**
 * Sets an attribute to an integer, as MPI_COMM_SET_ATTR of Fortran does.
 *
 * MPI_Comm_get_attr() gives a pointer to the integer, an MPI_Aint; it is valid until the attribute is set again or
 * deleted. Runs callbacks, and blocks if these do. Threads: as MPI_Comm_set_attr(): MPI-5.0, sections 7.7.2 and 19.3.7.
 *
 * @param[in] comm           the communicator; borrowed
 * @param[in] comm_keyval    key of any language
 * @param[in] attribute_val  the integer, as a pointer
 * @retval MPI_SUCCESS     the attribute is set
 * @retval MPI_ERR_COMM    `comm` is not valid
 * @retval MPI_ERR_KEYVAL  `comm_keyval` is not a key for communicators, or is predefined
 * @retval MPI_ERR_NO_MEM  out of memory; a callback may return any other class
 * @since 0.1
 */
int MPIX_Comm_set_attr_as_fortran(MPI_Comm comm, int comm_keyval, void *attribute_val);

/**
 * Gets an attribute as an integer, as MPI_COMM_GET_ATTR of Fortran does: what Fortran has set, or a pointer of C as an
 * address. The predefined attributes are their values, not pointers.
 *
 * Does not block. Threads: as MPI_Comm_get_attr(): MPI-5.0, sections 7.7.2 and 19.3.7.
 *
 * @param[in] comm        the communicator; borrowed
 * @param[in] comm_keyval     key of any language
 * @param[out] attribute_val  an MPI_Aint; set if there is such an attribute
 * @param[out] flag           true if there is
 * @retval MPI_SUCCESS     `flag` is set
 * @retval MPI_ERR_COMM    `comm` is not valid
 * @retval MPI_ERR_KEYVAL  `comm_keyval` is not a key for communicators
 * @retval MPI_ERR_ARG     an output is NULL
 * @since 0.1
 */
int MPIX_Comm_get_attr_as_fortran(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag);

/**
 * Makes a key for attributes of datatypes, as MPIX_Comm_create_keyval_x() does for those of communicators.
 *
 * Does not block. Any thread, at any time. Related to MPI_Type_create_keyval(): MPI-5.0, sections 7.7.4 and 19.3.7.
 *
 * @param[in] type_copy_attr_fn    copies an attribute, or MPI_TYPE_DUP_FN, MPI_TYPE_NULL_COPY_FN
 * @param[in] type_delete_attr_fn  deletes an attribute, or MPI_TYPE_NULL_DELETE_FN
 * @param[in] destructor    as for MPIX_Comm_create_keyval_x()
 * @param[out] type_keyval  owned by the caller, freed with MPI_Type_free_keyval(); attributes retain it
 * @param[in] extra_state   handed to the callbacks; retained until the destructor is called
 * @retval MPI_SUCCESS     `type_keyval` is set
 * @retval MPI_ERR_ARG     `type_keyval` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Type_create_keyval_x(MPI_Type_copy_attr_function *type_copy_attr_fn,
                              MPI_Type_delete_attr_function *type_delete_attr_fn, MPIX_Destructor_function *destructor,
                              int *type_keyval, void *extra_state);

/**
 * Sets an attribute to an integer, as MPIX_Comm_set_attr_as_fortran() does.
 *
 * Runs callbacks, and blocks if these do. Threads: as MPI_Type_set_attr(): MPI-5.0, sections 7.7.4 and 19.3.7.
 *
 * @param[in] datatype       the datatype; borrowed
 * @param[in] type_keyval    key of any language
 * @param[in] attribute_val  the integer, as a pointer
 * @retval MPI_SUCCESS     the attribute is set
 * @retval MPI_ERR_TYPE    `datatype` is not valid
 * @retval MPI_ERR_KEYVAL  `type_keyval` is not a key for datatypes, or is predefined
 * @retval MPI_ERR_NO_MEM  out of memory; a callback may return any other class
 * @since 0.1
 */
int MPIX_Type_set_attr_as_fortran(MPI_Datatype datatype, int type_keyval, void *attribute_val);

/**
 * Gets an attribute as an integer, as MPI_TYPE_GET_ATTR of Fortran does: what Fortran has set, or a pointer of C as an
 * address. The predefined attributes are their values, not pointers.
 *
 * Does not block. Threads: as MPI_Type_get_attr(): MPI-5.0, sections 7.7.4 and 19.3.7.
 *
 * @param[in] datatype        the datatype; borrowed
 * @param[in] type_keyval     key of any language
 * @param[out] attribute_val  an MPI_Aint; set if there is such an attribute
 * @param[out] flag           true if there is
 * @retval MPI_SUCCESS     `flag` is set
 * @retval MPI_ERR_TYPE    `datatype` is not valid
 * @retval MPI_ERR_KEYVAL  `type_keyval` is not a key for datatypes
 * @retval MPI_ERR_ARG     an output is NULL
 * @since 0.1
 */
int MPIX_Type_get_attr_as_fortran(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag);

/**
 * Makes a key for attributes of windows, as MPIX_Comm_create_keyval_x() does for those of communicators.
 *
 * Does not block. Any thread, at any time. Related to MPI_Win_create_keyval(): MPI-5.0, sections 7.7.3 and 19.3.7.
 *
 * @param[in] win_copy_attr_fn    copies an attribute, or MPI_WIN_DUP_FN, MPI_WIN_NULL_COPY_FN
 * @param[in] win_delete_attr_fn  deletes an attribute, or MPI_WIN_NULL_DELETE_FN
 * @param[in] destructor    as for MPIX_Comm_create_keyval_x()
 * @param[out] win_keyval  owned by the caller, freed with MPI_Win_free_keyval(); attributes retain it
 * @param[in] extra_state   handed to the callbacks; retained until the destructor is called
 * @retval MPI_SUCCESS     `win_keyval` is set
 * @retval MPI_ERR_ARG     `win_keyval` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Win_create_keyval_x(MPI_Win_copy_attr_function *win_copy_attr_fn,
                             MPI_Win_delete_attr_function *win_delete_attr_fn, MPIX_Destructor_function *destructor,
                             int *win_keyval, void *extra_state);

/**
 * Sets an attribute to an integer, as MPIX_Comm_set_attr_as_fortran() does.
 *
 * Runs callbacks, and blocks if these do. Threads: as MPI_Win_set_attr(): MPI-5.0, sections 7.7.3 and 19.3.7.
 *
 * @param[in] win       the window; borrowed
 * @param[in] win_keyval    key of any language
 * @param[in] attribute_val  the integer, as a pointer
 * @retval MPI_SUCCESS     the attribute is set
 * @retval MPI_ERR_WIN    `win` is not valid
 * @retval MPI_ERR_KEYVAL  `win_keyval` is not a key for windows, or is predefined
 * @retval MPI_ERR_NO_MEM  out of memory; a callback may return any other class
 * @since 0.1
 */
int MPIX_Win_set_attr_as_fortran(MPI_Win win, int win_keyval, void *attribute_val);

/**
 * Gets an attribute as an integer, as MPI_WIN_GET_ATTR of Fortran does: what Fortran has set, or a pointer of C as an
 * address. The predefined attributes are their values, not pointers.
 *
 * Does not block. Threads: as MPI_Win_get_attr(): MPI-5.0, sections 7.7.3 and 19.3.7.
 *
 * @param[in] win        the window; borrowed
 * @param[in] win_keyval     key of any language
 * @param[out] attribute_val  an MPI_Aint; set if there is such an attribute
 * @param[out] flag           true if there is
 * @retval MPI_SUCCESS     `flag` is set
 * @retval MPI_ERR_WIN    `win` is not valid
 * @retval MPI_ERR_KEYVAL  `win_keyval` is not a key for windows
 * @retval MPI_ERR_ARG     an output is NULL
 * @since 0.1
 */
int MPIX_Win_get_attr_as_fortran(MPI_Win win, int win_keyval, void *attribute_val, int *flag);

/* --- process sets: docs/psets.md ------------------------------------------------------------------------------- */

/**
 * Publishes a process set of the job, or changes one that is published.
 *
 * All processes of the job, members or not, see it in their next query. Groups that were made from an earlier version
 * stay as they are. The set stays when the publisher ends. A callback of MPIX_Session_pset_watch() may run in
 * the call.
 *
 * Local: waits for no process. While several publish at the same time it tries again, for about a second at most; the
 * providers of process sets are opened first, which may read files. Any thread. Related to MPI-5.0, section 11.3.2,
 * which has process sets and no function that makes one.
 *
 * @param[in] session     borrowed
 * @param[in] pset_name   a URI such as "app://mesh/fine", of at most 1023 bytes, NUL-terminated; copied
 * @param[in] group       the members, in their order; made from this session, may be empty; borrowed
 * @retval MPI_SUCCESS      the set is published
 * @retval MPI_ERR_SESSION  `session` is not valid
 * @retval MPI_ERR_ARG      `pset_name` is NULL or not a URI, or belongs to another provider; or the variable
 *                          pset_providers is wrong
 * @retval MPI_ERR_GROUP    `group` is not valid, comes from another session or the World, or has a member of another
 *                          job
 * @retval MPI_ERR_OTHER    the published sets exceed their space, too many processes publish at the same time, or a
 *                          plugin of pset_providers cannot be loaded
 * @retval MPI_ERR_NO_MEM   out of memory
 * @retval MPI_ERR_UNSUPPORTED_OPERATION  the job was started by another launcher than Plenum's
 * @since 0.1
 */
int MPIX_Session_pset_publish(MPI_Session session, const char *pset_name, MPI_Group group);

/**
 * Withdraws a set that any process of the job, or the program that launched it, has published.
 *
 * Groups that were made from it stay as they are. Blocks as MPIX_Session_pset_publish() does. Any thread. Related to
 * MPI-5.0, section 11.3.2.
 *
 * @param[in] session     borrowed
 * @param[in] pset_name   name of the set, NUL-terminated; borrowed
 * @retval MPI_SUCCESS      the set is withdrawn
 * @retval MPI_ERR_SESSION  `session` is not valid
 * @retval MPI_ERR_ARG      the set is not published, belongs to another provider, or `pset_name` cannot be that of a
 *                          set; or too many processes publish at the same time, or the variable pset_providers is wrong
 * @retval MPI_ERR_OTHER    a plugin of pset_providers cannot be loaded
 * @retval MPI_ERR_NO_MEM   out of memory
 * @retval MPI_ERR_UNSUPPORTED_OPERATION  the job was started by another launcher than Plenum's
 * @since 0.1
 */
int MPIX_Session_pset_withdraw(MPI_Session session, const char *pset_name);

/**
 * Is told of a process set that was added, changed or withdrawn.
 *
 * Runs in a thread of the program that is in a call of the session, one call at a time; never in a signal handler or a
 * thread of the library. May block and call MPI, also MPIX_Session_pset_watch(). Must not finalize the session.
 *
 * @param[in] session    the session that watches
 * @param[in] pset_name  name of the set; borrowed until the callback returns
 * @param[in] version    version of the set, different after each change; 0: the set is gone
 * @param[in] context    of MPIX_Session_pset_watch()
 * @since 0.1
 */
typedef void(MPIX_Session_pset_function)(MPI_Session session, const char *pset_name, MPI_Count version, void *context);

/**
 * Calls `callback` for each process set that is added, changed or withdrawn from now on.
 *
 * It is called while this process is in a call of the session that makes progress, and at the latest in its next query
 * for process sets. There is one callback for a session, which replaces the earlier one, until the session is
 * finalized.
 *
 * With NULL it blocks until a callback that another thread runs returns; after that the library no longer uses the
 * context. After a change from one callback to another the earlier one may still run for a moment. Otherwise it waits
 * for no process; the providers of process sets are opened, which may read files. Threads: as the thread level of the
 * session says. Related to MPI-5.0, sections 11.3.2 and 11.3.3.
 *
 * @param[in] session   borrowed
 * @param[in] callback  NULL: none from now on
 * @param[in] context   handed to `callback`; the caller frees it, after the session's end or a call with NULL
 * @retval MPI_SUCCESS      the callback is set
 * @retval MPI_ERR_SESSION  `session` is not valid
 * @retval MPI_ERR_ARG      the variable pset_providers, or the file of process sets, is wrong
 * @retval MPI_ERR_OTHER    a plugin of pset_providers cannot be loaded; a provider may report any other class
 * @retval MPI_ERR_NO_MEM   out of memory
 * @since 0.1
 */
int MPIX_Session_pset_watch(MPI_Session session, MPIX_Session_pset_function *callback, void *context);

/* --- pools of processes that were not launched together: docs/attach.md ------------------------------------------ */

/**
 * Makes this process rank `rank` of a pool of `size` processes on this machine: "mpi://WORLD" and MPI_COMM_WORLD then
 * stand for the pool.
 *
 * Call it while MPI is not in use in the process: before the first session and MPI_Init(), or when all have been
 * finalized. It overrides any launcher. Members may leave and come again.
 *
 * Does not wait for the other members, except for at most 5 seconds while another one enters or leaves the same pool.
 * Any thread; of several calls at the same time one succeeds. Returns errors and raises none, unless the policy of
 * error handlers names a handler for them. Replaces process startup: MPI-5.0, sections 11.5 and 11.10.2.
 *
 * @param[in] directory  a directory of this user on a file system of this machine, as an absolute path; copied. The
 *                       members find each other in its file plenum-pool, which is created when it is needed and removed
 *                       by the last member. Or a file of mode 0600, which is used and stays, such as /proc/PID/fd/N of
 *                       a memfd
 * @param[in] rank       from 0 to `size` - 1
 * @param[in] size       processes in the pool, 1 to 4096; the same for all members
 * @retval MPI_SUCCESS     the process is attached
 * @retval MPI_ERR_ARG     `directory` is NULL or empty, `size` is out of its range or not that of the members that are
 *                         attached, or a mistake in the configuration
 * @retval MPI_ERR_RANK    `rank` is out of its range
 * @retval MPI_ERR_OTHER   Another process is attached as this rank. This process is attached already. MPI is in use.
 *                         The file cannot be opened or locked, or is not of this user alone. Another member has been
 *                         entering or leaving for 5 seconds.
 * @retval MPI_ERR_NO_MEM  out of memory
 * @retval MPI_ERR_INTERN  the library has created a file that it cannot use
 * @since 0.1
 */
int MPIX_Attach(const char *directory, int rank, int size);

/**
 * Brings some bytes of each member to all members.
 *
 * MPIX_Attach_exchange() calls it in the calling thread, in every member: twice, and a third time with more bytes if
 * the members are on several machines. It may block until all members have called it.
 *
 * @param[in] mine     [bytes] what this member gives; borrowed
 * @param[out] all     [size * bytes] what all members give, in the order of ranks; borrowed
 * @param[in] bytes    bytes of each member, the same in all members
 * @param[in] context  of MPIX_Attach_exchange()
 * @return 0; any other number if that was not possible
 * @since 0.1
 */
typedef int(MPIX_Exchange_function)(const void *mine, void *all, int bytes, void *context);

/**
 * Attaches as MPIX_Attach() does, without a directory: the members find each other through `exchange`. They may be on
 * several machines; then there are sessions and no World.
 *
 * Collective over the members: blocks until all have called it, for as long as `exchange` does. An error of one member
 * becomes an error of all, unless it is found outside of the exchange. A member with a wrong argument, or one that is
 * attached or uses MPI, returns before it; a mistake in the configuration is found after it. Any thread; of several
 * calls in a process at the same time one succeeds. Returns errors and raises none, unless the policy of error handlers
 * names a handler for them. Replaces process startup: MPI-5.0, sections 11.5 and 11.10.2.
 *
 * @param[in] exchange  called two or three times in each member; used during the call only
 * @param[in] context   handed to `exchange`; borrowed
 * @param[in] rank      from 0 to `size` - 1, another in each member
 * @param[in] size      processes in the pool, 1 to 4096; the same for all members
 * @retval MPI_SUCCESS     all members are attached
 * @retval MPI_ERR_ARG     `exchange` is NULL or has not brought what the members gave, `size` is out of its range, or a
 *                         mistake in the configuration
 * @retval MPI_ERR_RANK    `rank` is out of its range
 * @retval MPI_ERR_OTHER   `exchange` has failed; another member cannot attach; this process is attached already, or
 *                         uses MPI; a system call failed
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size);

/**
 * Leaves the pool: another process may then attach as this rank, or this process again.
 *
 * Sessions and the World must be finalized. Does not wait for the other members, except for at most 5 seconds while
 * another one enters or leaves the same pool. Any thread. Returns errors and raises none, unless the policy of error
 * handlers names a handler for them. Has no counterpart in the standard.
 *
 * @retval MPI_SUCCESS    the process is no longer attached
 * @retval MPI_ERR_OTHER  sessions or the World are open; the process is not attached by MPIX_Attach() or
 *                        MPIX_Attach_exchange(); or it is a forked child of one that is
 * @since 0.1
 */
int MPIX_Detach(void);

/* --- processes that have failed: docs/fault-tolerance.md -------------------------------------------------------- */

/**
 * Revokes a communicator: from now on all operations in it fail with MPIX_ERR_REVOKED on all members, also those that
 * wait already.
 *
 * Only MPIX_Comm_agree(), MPIX_Comm_iagree(), MPIX_Comm_shrink(), MPIX_Comm_ishrink(), the functions that ask about
 * failed members, MPI_Comm_free() and local queries work in it. Does not block: the other members hear of it as soon as
 * they make progress, even if this process ends meanwhile. One member calls it, or several; twice does no harm. Any
 * thread. Related to MPI-5.0, section 9.5, which leaves open what works after an error.
 *
 * @param[in] comm         any communicator
 * @retval MPI_SUCCESS     the communicator is revoked here
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @since 0.1
 */
int MPIX_Comm_revoke(MPI_Comm comm);

/**
 * Asks whether a communicator is revoked, as far as this process knows.
 *
 * Does not block; makes progress. Any thread.
 *
 * @param[in] comm         any communicator
 * @param[out] flag        1: it is revoked; else 0
 * @retval MPI_SUCCESS     `flag` is set
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `flag` is NULL
 * @since 0.1
 */
int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag);

/**
 * Gives the members of a communicator that have failed, as far as this process knows.
 *
 * Asks the system first; does not block. The order is that in which this process has noticed the failures: a later call
 * gives the same members and then further ones. Members of an intercommunicator's remote group count, too. Any thread.
 *
 * @param[in] comm         any communicator
 * @param[out] failedgrp   owned by the caller, freed with MPI_Group_free(); MPI_GROUP_EMPTY: none has failed
 * @retval MPI_SUCCESS     `failedgrp` is set
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `failedgrp` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);

/**
 * Tells the library that the program knows of the first failures in a communicator.
 *
 * Receives from MPI_ANY_SOURCE work again once all that this process knows of are acknowledged, and MPIX_Comm_agree()
 * returns no error for failures that all members have acknowledged. Does not block. Any thread.
 *
 * @param[in] comm         any communicator
 * @param[in] num_to_ack   of the group of MPIX_Comm_get_failed(), how many of its first members the program knows of;
 *                         more than there are means all; fewer than are acknowledged change nothing
 * @param[out] num_acked   how many are acknowledged now
 * @retval MPI_SUCCESS     `num_acked` is set
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `num_to_ack` is negative, or `num_acked` is NULL
 * @since 0.1
 */
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);

/**
 * Tells the library that the program knows of all failures that this process has noticed, as MPIX_Comm_ack_failed()
 * does. An earlier name of it.
 * @param[in] comm         any communicator
 * @retval MPI_SUCCESS     the failures are acknowledged
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @since 0.1
 */
int MPIX_Comm_failure_ack(MPI_Comm comm);

/**
 * Gives the members whose failure is acknowledged.
 *
 * Does not block. Any thread.
 *
 * @param[in] comm         any communicator
 * @param[out] failedgrp   owned by the caller, freed with MPI_Group_free(); MPI_GROUP_EMPTY: none
 * @retval MPI_SUCCESS     `failedgrp` is set
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `failedgrp` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);

/**
 * Agrees with all members that live, also while others fail, and in revoked communicators.
 *
 * Blocks until each member has called it or has failed. The members call MPIX_Comm_agree(), MPIX_Comm_iagree(),
 * MPIX_Comm_shrink() and MPIX_Comm_ishrink() on one communicator in the same order, one thread at a time. The outcome
 * is the same on all members that live, the error too. After it MPIX_Comm_get_failed() has all members without a part
 * in it.
 *
 * @param[in] comm         any communicator
 * @param[in,out] flag     this member's flags; then those that are set on all members with a part in it (bitwise AND);
 *                         in an intercommunicator, on those of the other group
 * @retval MPI_SUCCESS     `flag` is set
 * @retval MPIX_ERR_PROC_FAILED  `flag` is set; a member has failed that not all others have acknowledged
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `flag` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_agree(MPI_Comm comm, int *flag);

/**
 * Starts MPIX_Comm_agree() without waiting for it. Does not block.
 * @param[in] comm         any communicator
 * @param[in,out] flag     as for MPIX_Comm_agree(); borrowed until the request is complete
 * @param[out] request     owned by the caller, completed by the functions of MPI-5.0, section 3.7; its errors are those
 *                         of MPIX_Comm_agree()
 * @retval MPI_SUCCESS     `request` is set
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `flag` or `request` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);

/**
 * Makes a communicator of the members that live, in the same order; also of a revoked communicator. From an
 * intercommunicator it makes one with the living of both groups.
 *
 * Blocks, and is called, as MPIX_Comm_agree() is. All members that live get the same groups. A member that fails later
 * is in it, and has failed there.
 *
 * @param[in] comm         any communicator
 * @param[out] newcomm     owned by the caller; has the error handler of `comm`, and no attributes, topology or name
 * @retval MPI_SUCCESS     `newcomm` is set
 * @retval MPIX_ERR_PROC_FAILED  the other members could not reach this one, and go on without it; or all members of the
 *                         other group have failed
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `newcomm` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);

/**
 * Starts MPIX_Comm_shrink() without waiting for it. Does not block.
 * @param[in] comm         any communicator
 * @param[out] newcomm     as for MPIX_Comm_shrink(); set when the request is complete, borrowed until then
 * @param[out] request     owned by the caller, completed by the functions of MPI-5.0, section 3.7; its errors are those
 *                         of MPIX_Comm_shrink()
 * @retval MPI_SUCCESS     `request` is set
 * @retval MPI_ERR_COMM    `comm` is not a communicator
 * @retval MPI_ERR_ARG     `newcomm` or `request` is NULL
 * @retval MPI_ERR_NO_MEM  out of memory
 * @since 0.1
 */
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);

/* --- the second names -------------------------------------------------------------------------------------------- */

/** @copydoc MPIX_Attach() */
int PMPIX_Attach(const char *directory, int rank, int size);
/** @copydoc MPIX_Attach_exchange() */
int PMPIX_Attach_exchange(MPIX_Exchange_function *exchange, void *context, int rank, int size);
/** @copydoc MPIX_Detach() */
int PMPIX_Detach(void);

/** @copydoc MPIX_Session_pset_publish() */
int PMPIX_Session_pset_publish(MPI_Session session, const char *pset_name, MPI_Group group);
/** @copydoc MPIX_Session_pset_withdraw() */
int PMPIX_Session_pset_withdraw(MPI_Session session, const char *pset_name);
/** @copydoc MPIX_Session_pset_watch() */
int PMPIX_Session_pset_watch(MPI_Session session, MPIX_Session_pset_function *callback, void *context);

/** @copydoc MPIX_Comm_create_keyval_x() */
int PMPIX_Comm_create_keyval_x(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                               MPI_Comm_delete_attr_function *comm_delete_attr_fn, MPIX_Destructor_function *destructor,
                               int *comm_keyval, void *extra_state);
/** @copydoc MPIX_Comm_set_attr_as_fortran() */
int PMPIX_Comm_set_attr_as_fortran(MPI_Comm comm, int comm_keyval, void *attribute_val);
/** @copydoc MPIX_Comm_get_attr_as_fortran() */
int PMPIX_Comm_get_attr_as_fortran(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag);
/** @copydoc MPIX_Type_create_keyval_x() */
int PMPIX_Type_create_keyval_x(MPI_Type_copy_attr_function *type_copy_attr_fn,
                               MPI_Type_delete_attr_function *type_delete_attr_fn, MPIX_Destructor_function *destructor,
                               int *type_keyval, void *extra_state);
/** @copydoc MPIX_Type_set_attr_as_fortran() */
int PMPIX_Type_set_attr_as_fortran(MPI_Datatype datatype, int type_keyval, void *attribute_val);
/** @copydoc MPIX_Type_get_attr_as_fortran() */
int PMPIX_Type_get_attr_as_fortran(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag);
/** @copydoc MPIX_Win_create_keyval_x() */
int PMPIX_Win_create_keyval_x(MPI_Win_copy_attr_function *win_copy_attr_fn,
                              MPI_Win_delete_attr_function *win_delete_attr_fn, MPIX_Destructor_function *destructor,
                              int *win_keyval, void *extra_state);
/** @copydoc MPIX_Win_set_attr_as_fortran() */
int PMPIX_Win_set_attr_as_fortran(MPI_Win win, int win_keyval, void *attribute_val);
/** @copydoc MPIX_Win_get_attr_as_fortran() */
int PMPIX_Win_get_attr_as_fortran(MPI_Win win, int win_keyval, void *attribute_val, int *flag);
/** @copydoc MPIX_Handle_layout() */
int PMPIX_Handle_layout(const MPI_Aint **base, int *first, int *unit);
/** @copydoc MPIX_Call_as() */
void PMPIX_Call_as(const char *function, const char *name);
/** @copydoc MPIX_Comm_raise() */
int PMPIX_Comm_raise(MPI_Comm comm, const char *function, int errorclass, const char *detail, int collective);
/** @copydoc MPIX_File_raise() */
int PMPIX_File_raise(MPI_File file, const char *function, int errorclass, const char *detail, int collective);
/** @copydoc MPIX_Session_raise() */
int PMPIX_Session_raise(MPI_Session session, const char *function, int errorclass, const char *detail);
/** @copydoc MPIX_Win_raise() */
int PMPIX_Win_raise(MPI_Win win, const char *function, int errorclass, const char *detail, int collective);
/** @copydoc MPIX_Op_create_x() */
int PMPIX_Op_create_x(MPIX_User_function_x *user_fn, MPIX_Destructor_function *destructor, int commute,
                      void *extra_state, MPI_Op *op);
/** @copydoc MPIX_Errhandler_from_name() */
int PMPIX_Errhandler_from_name(const char *name, MPI_Errhandler *errhandler);
/** @copydoc MPIX_Errhandler_set_callback() */
int PMPIX_Errhandler_set_callback(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context);
/** @copydoc MPIX_Comm_create_errhandler_x() */
int PMPIX_Comm_create_errhandler_x(MPIX_Comm_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                   void *extra_state, MPI_Errhandler *errhandler);
/** @copydoc MPIX_File_create_errhandler_x() */
int PMPIX_File_create_errhandler_x(MPIX_File_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                   void *extra_state, MPI_Errhandler *errhandler);
/** @copydoc MPIX_Session_create_errhandler_x() */
int PMPIX_Session_create_errhandler_x(MPIX_Session_errhandler_function_x *function,
                                      MPIX_Destructor_function *destructor, void *extra_state,
                                      MPI_Errhandler *errhandler);
/** @copydoc MPIX_Win_create_errhandler_x() */
int PMPIX_Win_create_errhandler_x(MPIX_Win_errhandler_function_x *function, MPIX_Destructor_function *destructor,
                                  void *extra_state, MPI_Errhandler *errhandler);
/** @copydoc MPIX_Comm_revoke() */
int PMPIX_Comm_revoke(MPI_Comm comm);
/** @copydoc MPIX_Comm_is_revoked() */
int PMPIX_Comm_is_revoked(MPI_Comm comm, int *flag);
/** @copydoc MPIX_Comm_get_failed() */
int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);
/** @copydoc MPIX_Comm_ack_failed() */
int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
/** @copydoc MPIX_Comm_failure_ack() */
int PMPIX_Comm_failure_ack(MPI_Comm comm);
/** @copydoc MPIX_Comm_failure_get_acked() */
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);
/** @copydoc MPIX_Comm_agree() */
int PMPIX_Comm_agree(MPI_Comm comm, int *flag);
/** @copydoc MPIX_Comm_iagree() */
int PMPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);
/** @copydoc MPIX_Comm_shrink() */
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
/** @copydoc MPIX_Comm_ishrink() */
int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);

#ifdef __cplusplus
}
#endif
#endif
