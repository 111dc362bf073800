/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plenum-errhandler.h
 * Errors as data, and the interface of error handlers that are plugins: docs/errors.md shows one.
 *
 * A handler `plugin://NAME/ARGUMENT` is the file NAME.so in the directory of plugins (PLENUM_PLUGIN_DIR, or plenum/
 * beside the library). It exports one symbol, a `const struct plenum_errhandler_ops plenum_errhandler`.
 */
#ifndef PLENUM_ERRHANDLER_H
#define PLENUM_ERRHANDLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One error. Everything is borrowed, and stays valid until the function that was given it returns. */
struct plenum_error_report {
    const char *kind;       /**< "communicator", "session", "window", "file"; "none": the error belongs to no object */
    const char *name;       /**< the object's name, "" when it has none */
    void *handle;           /**< the object's handle (MPI_Comm, ...), NULL when there is none */
    const char *function;   /**< "MPI_Send" */
    int code;               /**< what the function returns */
    int error_class;        /**< its class */
    const char *class_name; /**< "MPI_ERR_RANK"; "" for a class that the program has added */
    const char *message;    /**< the whole message in words, without a newline */
    int rank;               /**< of this process in its job, -1 when it is not known yet, or any more */
};

/** What becomes of the error when the handler is done. */
enum plenum_error_action {
    PLENUM_ERROR_RETURN, /**< the function returns the code, as with MPI_ERRORS_RETURN */
    PLENUM_ERROR_ABORT,  /**< as with MPI_ERRORS_ABORT */
    PLENUM_ERROR_FATAL   /**< as with MPI_ERRORS_ARE_FATAL */
};

/** What the library offers to a handler. */
struct plenum_errhandler_host {
    void (*log)(const char *line);   /**< one line to the log, whatever PLENUM_LOG says; any thread, any time */
    void (*refuse)(const char *why); /**< within open(): the reason, which the user reads */
};

/** A handler. Its functions hold no lock of the library. */
struct plenum_errhandler_ops {
    uint32_t abi;     /**< PLENUM_ERRHANDLER_ABI */
    const char *help; /**< what it does, in one line */
    /**
     * Optional. Once for each time that the handler is chosen. `argument` is what stands behind the name ("" if nothing
     * does), borrowed; `*state` is handed to the other functions. May block; calls no MPI function. 0, or anything else
     * when it cannot do what is asked, after host->refuse().
     */
    int (*open)(const struct plenum_errhandler_host *host, const char *argument, void **state);
    /** An error, in the thread that made it; several threads at once. Returns an enum plenum_error_action. */
    int (*handle)(void *state, const struct plenum_error_report *error);
    /** Optional. Once for each open(), when nothing uses the handler any more. Calls no MPI function. */
    void (*close)(void *state);
};

#define PLENUM_ERRHANDLER_ABI    1
#define PLENUM_ERRHANDLER_SYMBOL "plenum_errhandler"

#ifdef __cplusplus
}
#endif
#endif
