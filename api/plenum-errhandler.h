/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plenum-errhandler.h
 * Errors as data, and the interface of error handlers that are plugins: docs/errors.md shows one.
 *
 * A handler `plugin://NAME/ARGUMENT` is the file NAME.so in the directory of plugins (PLENUM_PLUGIN_DIR, or plenum/
 * beside the library). It exports one symbol, a `const struct plenum_errhandler_ops plenum_errhandler`. Error handlers
 * of the standard: MPI-5.0, section 9.3.
 */
#ifndef PLENUM_ERRHANDLER_H
#define PLENUM_ERRHANDLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One error. It and all that it points to are borrowed until the function that was given it returns; no text is NULL.
 *  New fields are added at the end. @since 0.1 */
struct plenum_error_report {
    const char *kind;       /**< "communicator", "session", "window", "file"; "none": the error belongs to no object */
    const char *name;       /**< the object's name, a file's path; "" when it has none */
    void *handle;           /**< the object's handle (MPI_Comm, ...), NULL when there is none */
    const char *function;   /**< the MPI function that failed: "MPI_Send" */
    int code;               /**< the error code that the function returns */
    int error_class;        /**< its class */
    const char *class_name; /**< "MPI_ERR_RANK"; "" for a class that the program has added */
    const char *message;    /**< the whole message in words, without a newline; below MPI_MAX_ERROR_STRING bytes */
    int rank;               /**< of this process in its job, from 0; -1 before it is known and after finalization */
};

/** What becomes of the error when the handler is done. @since 0.1 */
enum plenum_error_action {
    PLENUM_ERROR_RETURN, /**< the function returns the code, as with MPI_ERRORS_RETURN; so does any other value */
    PLENUM_ERROR_ABORT,  /**< as with MPI_ERRORS_ABORT */
    PLENUM_ERROR_FATAL   /**< as with MPI_ERRORS_ARE_FATAL */
};

/** What the library offers to a handler. Borrowed; valid as long as the library is loaded. @since 0.1 */
struct plenum_errhandler_host {
    /** Writes one line to the log, whatever PLENUM_LOG says. Any thread, any time.
     *  @param[in] line  without a newline, NUL-terminated; borrowed */
    void (*log)(const char *line);

    /** Records the reason why `open` fails, which the user reads. Only in `open`, in its thread.
     *  @param[in] why  one line, NUL-terminated; copied */
    void (*refuse)(const char *why);
};

/** A handler: a constant table that the shared object exports as plenum_errhandler. @since 0.1 */
struct plenum_errhandler_ops {
    uint32_t abi;     /**< PLENUM_ERRHANDLER_ABI */
    const char *help; /**< what the handler does, in one line; lives as long as the shared object */

    /** Optional. Opens the handler, once for each time that it is chosen by name. May block. Calls no MPI function: a
     *  lock of the library may be held. Any thread, several at once.
     *  @param[in] host      borrowed
     *  @param[in] argument  what follows the name and a slash, "" if nothing does, NUL-terminated; borrowed until the
     *                       function returns
     *  @param[out] state    handed to the other functions, NULL if it is not set; owned by the handler
     *  @return 0; any other number, after plenum_errhandler_host::refuse, fails the choice with MPI_ERR_OTHER */
    int (*open)(const struct plenum_errhandler_host *host, const char *argument, void **state);

    /** Handles an error, in the thread that made it; several threads at once. May block and call MPI functions, whose
     *  errors are handled in turn, down to the 16th inside one another. No lock of the library is held.
     *  @param[in] state  of `open`; NULL without `open`
     *  @param[in] error  borrowed until the function returns
     *  @return an enum plenum_error_action */
    int (*handle)(void *state, const struct plenum_error_report *error);

    /** Optional. Closes the handler, once for each `open` that succeeded, when nothing uses it any more. Calls no MPI
     *  function: a lock of the library may be held. Any thread.
     *  @param[in] state  of `open`; stolen */
    void (*close)(void *state);
};

/** Version of the interface; a handler of another one is refused. @since 0.1 */
#define PLENUM_ERRHANDLER_ABI 1
/** The symbol that a handler exports: a constant struct plenum_errhandler_ops. @since 0.1 */
#define PLENUM_ERRHANDLER_SYMBOL "plenum_errhandler"

#ifdef __cplusplus
}
#endif
#endif
