/* SPDX-License-Identifier: BSD-3-Clause */
/* See runtime_error.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/visible.h"
#include "world/runtime/runtime_error.h"

/* One line, whatever names of files and programs are in it. */
static _Thread_local char last_error[1024];

const char *plenum_error(void)
{
    return last_error;
}

enum plenum_error pl_rt_fail(enum plenum_error error, const char *format, ...)
{
    char text[sizeof last_error];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pl_visible(last_error, sizeof last_error, text);
    return error;
}

int pl_rt_fail_null(const char *what)
{
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "the %s is NULL", what);
}

/* A denied call or a missing file is not named after the program: only locate.c knows that it is about the program. */
static enum plenum_error rt_error_of(int number)
{
    switch (number) {
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
    char text[sizeof last_error];
    const char *reason = strerrordesc_np(number);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pl_rt_fail(PLENUM_OK, "%s", text);
    pl_visible_add_reason(last_error, sizeof last_error, reason ? reason : "unknown reason");
    return rt_error_of(number);
}
