/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plenum://backtrace: the line of plenum://log, and one line for each frame of the thread that made the error, from the
 * MPI function outwards. backtrace(3) loads a library the first time that it is called: open() does that, so that in
 * an error nothing is allocated.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "plugins/errhandlers/line.h"

enum { FRAMES = 64 };

static int open_backtrace(const struct plenum_errhandler_host *host, const char *argument, void **state)
{
    (void)host, (void)argument, (void)state;
    void *frames[2];
    backtrace(frames, 2);
    return 0;
}

/* What the address belongs to; a return address may be behind the end of its function, the byte before it is not. */
static Dl_info look_up(void *address)
{
    Dl_info info = { 0 };
    if (!dladdr((char *)address - 1, &info))
        info = (Dl_info){ 0 };
    return info;
}

/* The frame of the MPI function; 0 when none of them has a name, in a program that has none. */
static int first_frame(void *const *frames, int count)
{
    for (int i = 0; i < count; i++) {
        Dl_info info = look_up(frames[i]);
        const char *name = info.dli_sname ? info.dli_sname : "";
        if (strncmp(name, "MPI", 3) == 0 || strncmp(name, "PMPI", 4) == 0)
            return i;
    }
    return 0;
}

/* "#2 solve+0x1c in ./a.out(+0x13b7)": addr2line understands the latter. */
static void log_frame(int number, void *address)
{
    char line[1024];
    Dl_info info = look_up(address);
    int used = snprintf(line, sizeof line, "#%d ", number);
    if (info.dli_sname)
        used += snprintf(line + used, sizeof line - (size_t)used, "%.300s+0x%tx in ", info.dli_sname, (char *)address - (char *)info.dli_saddr);
    if (info.dli_fname)
        snprintf(line + used, sizeof line - (size_t)used, "%.500s(+0x%tx)", info.dli_fname, (char *)address - (char *)info.dli_fbase);
    else
        snprintf(line + used, sizeof line - (size_t)used, "%p", address);
    pl_log_line("errhandler", line);
}

static int handle(void *state, const struct plenum_error_report *error)
{
    (void)state;
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES), first = first_frame(frames, count);
    pl_errhandler_log_error(error);
    for (int i = first; i < count; i++)
        log_frame(i - first, frames[i]);
    return PLENUM_ERROR_RETURN;
}

extern const struct plenum_errhandler_ops pl_errhandler_backtrace;
const struct plenum_errhandler_ops pl_errhandler_backtrace = {
    .abi = PLENUM_ERRHANDLER_ABI, .help = "logs one line and the calling thread's stack, then the function returns the error code",
    .open = open_backtrace, .handle = handle,
};
