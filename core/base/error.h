/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors inside the library are MPI error classes. The function that detects an error records the detail with
 * pl_fail(). The detail belongs to the thread and stays until the next error; MPI_Error_string() returns it for that
 * class. No locking.
 */
#ifndef PLENUM_CORE_BASE_ERROR_H
#define PLENUM_CORE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi.h"

#include "core/base/compiler.h"

/* Results that never leave the library. Negative, so that they are not error classes. */
enum {
    PL_AGAIN = -1,       /* nothing was done; try again later */
    PL_PENDING = -2,     /* accepted; completion is reported later */
    PL_UNREACHABLE = -3, /* this transport cannot reach that peer; another may */
};

enum { PL_DETAIL_MAX = MPI_MAX_ERROR_STRING - 128 };

/* Records the detail of an error and returns its class. The text names the argument or object, its value and the
 * allowed values, without the function's name (the call adds it) and without a newline. Callers pass the class on
 * without calling it again, so the first detail is kept. */
PL_COLD PL_PRINTF(2, 3) int pl_fail(int class, const char *format, ...);

/* The same for a function with a `...` of its own. */
PL_COLD PL_PRINTF(2, 0) void pl_error_record(int class, const char *format, va_list arguments);

/* The same with errno's text after the message: "cannot map the job segment: Permission denied". */
PL_COLD PL_PRINTF(2, 3) int pl_fail_errno(int class, const char *format, ...);

/* Out of memory for `what`: MPI_ERR_NO_MEM. */
PL_COLD int pl_fail_memory(const char *what);

/* Notes that all processes that take part in the call get the error that this thread recorded last: none of them waits
 * for this one. Returns the class. */
int pl_error_agreed(int class);
bool pl_error_is_agreed(void);

/* The detail that this thread recorded last, or "", and its class. Borrowed until the next pl_fail(). */
const char *pl_error_detail(int *class);

/* Forgets the recorded detail. */
void pl_error_clear(void);

/* Writes the message of a failing call, "function: detail (MPI_ERR_X)", and keeps it for pl_error_string() of
 * `code`. */
void pl_error_publish(const char *function, int code, char message[MPI_MAX_ERROR_STRING]);

/* The text for a code: the message last published for it in this thread, else its explanation. */
void pl_error_string(int code, char text[MPI_MAX_ERROR_STRING]);

/* Name of a class ("MPI_ERR_RANK"), NULL if it is not a class; its explanation in plain words. */
const char *pl_error_class_name(int class);
const char *pl_error_class_text(int class);

/* The class of a name ("MPI_ERR_RANK"); MPI_ERR_UNKNOWN for any other text. */
int pl_error_class_from_name(const char *name);

#endif
