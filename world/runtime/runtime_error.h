/* SPDX-License-Identifier: BSD-3-Clause */
/* The last error of each thread, in words, as plenum_error() returns it. Thread-safe. */
#ifndef PLENUM_WORLD_RUNTIME_RUNTIME_ERROR_H
#define PLENUM_WORLD_RUNTIME_RUNTIME_ERROR_H

#include "api/plenum.h"

#include "core/base/compiler.h"

/* Records the line and returns `error`. */
PL_COLD PL_PRINTF(2, 3) enum plenum_error pl_rt_fail(enum plenum_error error, const char *format, ...);

/* An argument is NULL: `what` names it. Returns PLENUM_ERR_ARGUMENT. */
PL_COLD int pl_rt_fail_null(const char *what);

/* pl_rt_fail() with errno's text at the end. errno also chooses the error. */
PL_COLD PL_PRINTF(1, 2) enum plenum_error pl_rt_fail_errno(const char *format, ...);

#endif
