/* SPDX-License-Identifier: BSD-3-Clause */
/* See foreign.h. The names of a program's libraries are near the beginning of its file, after a zero byte each. */
#include "api/mpiexec/foreign.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"

#define OPEN_MPI "libmpi.so.40"
#define PMIX     "libpmix.so"

enum { BYTES_READ = 1 << 20 };

static const char *foreign_find(const char *data, size_t bytes, const char *name, size_t length)
{
    const char *found = memmem(data, bytes, name, length);
    return found ? found + 1 : NULL;
}

#define FIND(data, bytes, name) foreign_find(data, bytes, "\0" name, sizeof name)

/* Does `data` name another MPI library? Writes the name of its file to `text`. */
static bool foreign_name(const char *data, size_t bytes, char text[64])
{
    const char *found = FIND(data, bytes, "libmpi.so.");
    if (!found)
        found = FIND(data, bytes, "libmpich.so.");
    if (!found || FIND(data, bytes, "libmpi_abi.so."))
        return false;
    snprintf(text, 64, "%.*s", (int)strnlen(found, bytes - (size_t)(found - data)), found);
    return true;
}

/* Does it name PMIx, and no MPI library? */
static bool foreign_pmix(const char *data, size_t bytes, char text[64])
{
    if (!FIND(data, bytes, PMIX) || FIND(data, bytes, "libmpi_abi.so."))
        return false;
    strcpy(text, PMIX);
    return true;
}

/* Checks only programs that are named with a path. The others are found in PATH when the job starts. */
static bool foreign_check(const struct section *section, bool on_hosts, char text[64])
{
    char file[4096];
    const char *name = section->argc > 0 ? section->argv[0] : ""; /* none: a file describes the job */
    if (!strchr(name, '/'))
        return false;
    snprintf(file, sizeof file, "%s%s%s", section->wdir && *name != '/' ? section->wdir : "",
             section->wdir && *name != '/' ? "/" : "", name);
    char *data = pl_malloc(BYTES_READ);
    int fd = data ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t bytes = fd >= 0 ? read(fd, data, BYTES_READ) : -1;
    bool foreign = bytes > 4 && memcmp(data, "\177ELF", 4) == 0 &&
                   (foreign_name(data, (size_t)bytes, text) || (on_hosts && foreign_pmix(data, (size_t)bytes, text)));
    if (fd >= 0)
        close(fd);
    free(data);
    return foreign;
}

static void foreign_refuse(struct run *run, const char *program, const char *text)
{
    if (strcmp(text, PMIX) == 0)
        run_say(run,
                "%s is linked with %s, and has no PMIx server on other machines: use a launcher that has one, such as "
                "--launcher openmpi, or --pmix off to run it without",
                program, text);
    else
        run_say(
            run,
            "%s is linked with %s, another MPI library, and its processes cannot find each other on other machines: "
            "use the launcher of that library, or --pmix off to make each a job of one",
            program, text);
}

bool foreign_prepare(struct run *run)
{
    const struct options *o = run->options;
    char text[64];
    int ranks = 0;
    for (int i = 0; i < o->sections; i++)
        ranks += o->section[i].ranks;
    for (int i = 0; i < o->sections && ranks > 1; i++) {
        bool off = o->pmix == PLENUM_PMIX_OFF;
        if (!foreign_check(&o->section[i], run->on_hosts && !off, text))
            continue;
        if (run->on_hosts && !off) {
            foreign_refuse(run, o->section[i].argv[0], text);
            return false;
        }
        if (off)
            run_say(run,
                    "note: %s is linked with %s, another MPI library: with --pmix off its processes cannot find each "
                    "other, and each may be a job of one",
                    o->section[i].argv[0], text);
        else if (strncmp(text, OPEN_MPI, strlen(OPEN_MPI)) == 0)
            plenum_job_set(run->job, PLENUM_JOB_PMIX, PLENUM_PMIX_ON);
    }
    return true;
}
