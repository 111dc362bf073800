/* SPDX-License-Identifier: BSD-3-Clause */
/* The last error of each thread, in words, as plenum_error() returns it. Thread-safe. */
#ifndef PLENUM_WORLD_RUNTIME_ERROR_H
#define PLENUM_WORLD_RUNTIME_ERROR_H

#include "api/plenum.h"

/* Records the line and returns `error`. */
enum plenum_error pl_rt_fail(enum plenum_error error, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* An argument is NULL: `what` names it. Returns PLENUM_ERR_ARGUMENT. */
int pl_rt_fail_null(const char *what) __attribute__((cold));

/* pl_rt_fail() with errno's text at the end. errno also chooses the error. */
enum plenum_error pl_rt_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#endif
