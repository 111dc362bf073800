/* SPDX-License-Identifier: BSD-3-Clause */
/* See runtime_error.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "world/runtime/runtime_error.h"

static _Thread_local char last_error[1024];

const char *plenum_error(void)
{
    return last_error;
}

enum plenum_error pl_rt_fail(enum plenum_error error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return error;
}

int pl_rt_fail_null(const char *what)
{
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the %s is NULL", what);
}

static enum plenum_error rt_error_of(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR: return PLENUM_ERR_NOT_FOUND;
    case EACCES:
    case EPERM: return PLENUM_ERR_NOT_EXECUTABLE;
    case EMFILE:
    case ENFILE:
    case EAGAIN: return PLENUM_ERR_LIMIT;
    case ENOMEM: return PLENUM_ERR_MEMORY;
    default: return PLENUM_ERR_SYSTEM;
    }
}

enum plenum_error pl_rt_fail_errno(const char *format, ...)
{
    int number = errno;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof last_error)
        snprintf(last_error + used, sizeof last_error - (size_t)used, ": %s", strerrordesc_np(number));
    return rt_error_of(number);
}
