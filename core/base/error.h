/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors inside the library are MPI error classes. The first to detect an error records the detail with pl_fail();
 * the detail stays with the thread until the next error, and MPI_Error_string() gives it out for that class.
 */
#ifndef PLENUM_CORE_BASE_ERROR_H
#define PLENUM_CORE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi.h"

/* Results that never leave the library. Negative, so that no error class collides. */
enum {
    PL_AGAIN = -1,       /* nothing was done; ask again later */
    PL_PENDING = -2,     /* accepted; completion is reported later */
    PL_UNREACHABLE = -3, /* this transport cannot reach that peer; another may */
};

enum { PL_DETAIL_MAX = MPI_MAX_ERROR_STRING - 128 };

/* Records the detail of an error and returns its class. The text says which argument or thing, its value, and what
 * was allowed, without the function's name (the call adds it) and without a newline.
 * Keeps the first detail when `class` is passed on by callers, since only the one who detects the error calls it. */
int pl_fail(int class, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The same for a function that has its own `...`. */
void pl_error_record(int class, const char *format, va_list arguments) __attribute__((format(printf, 2, 0), cold));

/* The same with errno's text behind the message: "cannot map the job segment: Permission denied". */
int pl_fail_errno(int class, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Out of memory for `what`: MPI_ERR_NO_MEM. */
int pl_fail_memory(const char *what) __attribute__((cold));

/* The detail that this thread recorded last, "" if none, and its class. Borrowed until the next pl_fail(). */
const char *pl_error_detail(int *class);

/* Forgets the recorded detail. */
void pl_error_clear(void);

/* Makes "function: detail (MPI_ERR_X)" of a failing call, gives it out, and keeps it where pl_error_string() finds it
 * for `code`. */
void pl_error_publish(const char *function, int code, char message[MPI_MAX_ERROR_STRING]);

/* The text for a code: what was published for it last in this thread, else its explanation. */
void pl_error_string(int code, char text[MPI_MAX_ERROR_STRING]);

/* Name of a class ("MPI_ERR_RANK"), NULL for a number that is none; its explanation in plain words. */
const char *pl_error_class_name(int class);
const char *pl_error_class_text(int class);

/* The class of a name ("MPI_ERR_RANK"); MPI_ERR_UNKNOWN for a text that is no name. */
int pl_error_class_from_name(const char *name);

/* The class of a code that the user may have added; MPI_ERR_UNKNOWN's value for an unknown code. */
int pl_error_code_class(int code);

/* May MPI hand out this code: predefined, or added by the user. */
bool pl_error_code_valid(int code);

#endif
