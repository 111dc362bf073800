/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plenum://backtrace: the line of plenum://log, and one line for each frame of the calling thread, from the MPI
 * function outwards. The first call of backtrace(3) loads a library. open() makes that call, so that an error
 * allocates nothing.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/log.h"
#include "plugins/errhandlers/error_log.h"

enum { FRAMES = 64 };

static int backtrace_open(const struct plenum_errhandler_host *host, const char *argument, void **state)
{
    (void)host, (void)argument, (void)state;
    void *frames[2];
    backtrace(frames, 2);
    return 0;
}

/* The symbol and file of a return address, which may be behind the end of its function; the byte before it is not. */
static Dl_info backtrace_look_up(void *address)
{
    Dl_info info = { 0 };
    if (!dladdr((char *)address - 1, &info))
        info = (Dl_info){ 0 };
    return info;
}

/* The frame of the MPI function: the outermost one of this library. 0 if the library is linked into the program. */
static int backtrace_first_frame(void *const *frames, int count)
{
    Dl_info own = { 0 };
    struct link_map *map = NULL;
    int i = 0;
    if (!dladdr1(__extension__(void *) backtrace_first_frame, &own, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        !map->l_name[0])
        return 0;
    while (i + 1 < count && backtrace_look_up(frames[i + 1]).dli_fbase == own.dli_fbase)
        i++;
    return i;
}

/* Logs "#2 solve+0x1c in ./a.out(+0x13b7)": addr2line accepts the second part. `name`: the name of a function without
 * a symbol, or NULL. */
static void backtrace_log_frame(int number, void *address, const char *name)
{
    char line[1024];
    Dl_info info = backtrace_look_up(address);
    int used = snprintf(line, sizeof line, "#%d ", number);
    if (info.dli_sname)
        used += snprintf(line + used, sizeof line - (size_t)used, "%.300s+0x%tx in ", info.dli_sname,
                         (char *)address - (char *)info.dli_saddr);
    else if (name)
        used += snprintf(line + used, sizeof line - (size_t)used, "%.300s in ", name);
    if (info.dli_fname)
        snprintf(line + used, sizeof line - (size_t)used, "%.500s(+0x%tx)", info.dli_fname,
                 (char *)address - (char *)info.dli_fbase);
    else
        snprintf(line + used, sizeof line - (size_t)used, "%p", address);
    pl_log_line("errhandler", line);
}

static int backtrace_handle(void *state, const struct plenum_error_report *error)
{
    (void)state;
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES), first = backtrace_first_frame(frames, count);
    pl_errhandler_log_error(error);
    for (int i = first; i < count; i++)
        backtrace_log_frame(i - first, frames[i], i == first && first > 0 ? error->function : NULL);
    return PLENUM_ERROR_RETURN;
}

extern const struct plenum_errhandler_ops pl_errhandler_backtrace;
const struct plenum_errhandler_ops pl_errhandler_backtrace = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "logs one line and the calling thread's stack, then the function returns the error code",
    .open = backtrace_open,
    .handle = backtrace_handle,
};
