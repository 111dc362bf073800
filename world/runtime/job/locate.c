/* SPDX-License-Identifier: BSD-3-Clause */
/* See locate.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/job/locate.h"
#include "world/runtime/runtime_error.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static int locate_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a path");
}

/* directory/name, relative to `wdir` unless the directory is absolute; NULL: out of memory. */
static char *locate_join(const char *wdir, const char *directory, size_t length, const char *name)
{
    char *file;
    int n = length > 0 && directory[0] == '/' ? pl_asprintf(&file, "%.*s/%s", (int)length, directory, name)
            : length > 0                      ? pl_asprintf(&file, "%s/%.*s/%s", wdir, (int)length, directory, name)
                                              : pl_asprintf(&file, "%s/%s", wdir, name);
    return n < 0 ? NULL : file;
}

int pl_locate_wdir(const char *directory, char **absolute)
{
    struct stat st;
    bool absolute_already = directory && directory[0] == '/';
    char *here = absolute_already ? NULL : pl_getcwd();
    if (!here && !absolute_already) {
        pl_rt_fail_errno("cannot get the name of the current directory");
        return PLENUM_ERR_WDIR;
    }
    char *path = !directory         ? pl_strdup(here)
                 : absolute_already ? pl_strdup(directory)
                                    : locate_join(here, "", 0, directory);
    free(here);
    if (!path)
        return locate_no_memory();
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    else if (access(path, X_OK) == 0) {
        *absolute = path;
        return PLENUM_OK;
    }
    pl_rt_fail_errno("cannot use the working directory \"%s\"", directory ? directory : path);
    free(path);
    return PLENUM_ERR_WDIR;
}

/* 0, or the errno with which execve() would fail. */
static int locate_try(const char *file)
{
    struct stat st;
    if (stat(file, &st) != 0)
        return errno;
    return S_ISDIR(st.st_mode) ? EISDIR : access(file, X_OK) == 0 ? 0 : errno;
}

static enum plenum_error locate_error_of(int why)
{
    switch (why) {
    case ENOENT:
    case ENOTDIR: return PLENUM_ERR_NOT_FOUND;
    case ENOMEM: return PLENUM_ERR_MEMORY;
    default: return PLENUM_ERR_NOT_EXECUTABLE;
    }
}

static int locate_refuse(const char *name, int why, const char *wdir, bool searched)
{
    if (searched && why == ENOENT) {
        char *here = locate_join(wdir, "", 0, name);
        bool meant = here && locate_try(here) == 0;
        free(here);
        return pl_rt_fail(PLENUM_ERR_NOT_FOUND, "cannot find the program \"%s\" in PATH%s%s%s", name,
                          meant ? " (for the one in the working directory, write ./" : "", meant ? name : "",
                          meant ? ")" : "");
    }
    if (why == EISDIR)
        return pl_rt_fail(PLENUM_ERR_NOT_EXECUTABLE, "cannot run \"%s\": it is a directory", name);
    bool below = wdir && name[0] != '/';
    return pl_rt_fail(locate_error_of(why), "cannot run the program \"%s\"%s%s%s: %s", name,
                      below ? " in the directory \"" : "", below ? wdir : "", below ? "\"" : "", strerrordesc_np(why));
}

/* Searches a list of directories. *why: the errno of a file that exists but cannot be executed, else unchanged. */
static char *locate_search(const char *name, const char *wdir, const char *path, int *why)
{
    for (const char *at = path; at;) {
        size_t length = strcspn(at, ":");
        char *file = locate_join(wdir, at, length, name);
        int failure = file ? locate_try(file) : ENOMEM;
        if (failure == 0)
            return file;
        free(file);
        if (failure == EACCES)
            *why = failure;
        at = at[length] ? at + length + 1 : NULL;
    }
    return NULL;
}

int pl_locate_program(const char *name, const char *wdir, const char *first, const char *path, char **file)
{
    int why = ENOENT;
    if (!strchr(name, '/')) {
        *file = locate_search(name, wdir, first, &why);
        if (!*file)
            *file = locate_search(name, wdir, path ? path : DEFAULT_PATH, &why);
        return *file ? PLENUM_OK : locate_refuse(name, why, wdir, true);
    }
    char *found = name[0] == '/' ? pl_strdup(name) : locate_join(wdir, "", 0, name);
    if (!found)
        return locate_no_memory();
    why = locate_try(found);
    if (why) {
        free(found);
        return locate_refuse(name, why, wdir, false);
    }
    *file = found;
    return PLENUM_OK;
}
