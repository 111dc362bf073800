/* SPDX-License-Identifier: BSD-3-Clause */
/* See foreign.h. The names of a program's libraries are near the beginning of its file, after a zero byte each. All
 * of the standard ABI have one name: the loader tells which file it finds, and only ours has our extensions. */
#include "api/mpiexec/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/memory.h"

#define OPEN_MPI "libmpi.so.40"
#define PMIX     "libpmix.so"
#define ABI      "libmpi_abi.so."

enum { BYTES_READ = 1 << 20, TEXT_BYTES = 4096 };

static const char *foreign_find(const char *data, size_t bytes, const char *name, size_t length)
{
    const char *found = memmem(data, bytes, name, length);
    return found ? found + 1 : NULL;
}

#define FIND(data, bytes, name) foreign_find(data, bytes, "\0" name, sizeof name)

/* Does `data` name another MPI library? Writes the name of its file to `text`. */
static bool foreign_name(const char *data, size_t bytes, char text[TEXT_BYTES])
{
    const char *found = FIND(data, bytes, "libmpi.so.");
    if (!found)
        found = FIND(data, bytes, "libmpich.so.");
    if (!found || FIND(data, bytes, ABI))
        return false;
    snprintf(text, TEXT_BYTES, "%.*s", (int)strnlen(found, bytes - (size_t)(found - data)), found);
    return true;
}

/* Does it name PMIx, and no MPI library? */
static bool foreign_pmix(const char *data, size_t bytes, char text[TEXT_BYTES])
{
    if (!FIND(data, bytes, PMIX) || FIND(data, bytes, ABI))
        return false;
    strcpy(text, PMIX);
    return true;
}

/* --- libraries of the standard ABI ------------------------------------------------------------------------------- */

/* The loader that the file asks for; NULL: none, the program is linked statically. */
static const char *foreign_loader(const char *data, size_t bytes)
{
    ElfW(Ehdr) top;
    ElfW(Phdr) header;
    if (bytes < sizeof top)
        return NULL;
    memcpy(&top, data, sizeof top);
    for (size_t i = 0; i < top.e_phnum; i++) {
        if (top.e_phoff > bytes || top.e_phoff + (i + 1) * sizeof header > bytes)
            return NULL;
        memcpy(&header, data + top.e_phoff + i * sizeof header, sizeof header);
        if (header.p_type == PT_INTERP && header.p_filesz > 1 && header.p_offset < bytes &&
            header.p_filesz <= bytes - header.p_offset)
            return data[header.p_offset + header.p_filesz - 1] == '\0' ? data + header.p_offset : NULL;
    }
    return NULL;
}

static const char *foreign_setting(const struct settings *settings, const char *name, const char *value)
{
    for (int i = 0; i < settings->count; i++)
        if (strcmp(settings->item[i].name, name) == 0)
            value = settings->item[i].value;
    return value;
}

/* What the loader prints when it lists the libraries of a file. It runs nothing of them. */
static size_t foreign_list(const char *loader, const char *file, const char *path, char *list, size_t bytes)
{
    char variable[TEXT_BYTES];
    char *argv[] = { (char *)loader, "--list", (char *)file, NULL }, *env[] = { variable, NULL };
    int ends[2];
    pid_t pid;
    size_t used = 0;
    if (snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=%s", path ? path : "") >= (int)sizeof variable ||
        pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int err = posix_spawn(&pid, loader, &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ssize_t got = err ? 0 : read(ends[0], list, bytes);
    while (got > 0) {
        used += (size_t)got;
        got = read(ends[0], list + used, bytes - used);
    }
    close(ends[0]);
    if (!err)
        waitpid(pid, NULL, 0);
    return used;
}

static bool foreign_is_ours(const char *library)
{
    static const char extension[] = "MPIX_Session_pset_publish";
    struct stat st;
    int fd = open(library, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    bool sized = fstat(fd, &st) == 0 && st.st_size > 0;
    void *data = sized ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (data == MAP_FAILED)
        return true;
    bool ours = memmem(data, (size_t)st.st_size, extension, sizeof extension) != NULL;
    munmap(data, (size_t)st.st_size);
    return ours;
}

/* Is the program linked with a library of the standard ABI, and finds another one than ours? Writes its file to `text`.
 * False in case of doubt. */
static bool foreign_abi(const struct options *o, const struct section *section, const char *file, const char *data,
                        size_t bytes, char text[TEXT_BYTES])
{
    static const char name[] = "LD_LIBRARY_PATH", arrow[] = " => ";
    const char *loader = FIND(data, bytes, ABI) ? foreign_loader(data, bytes) : NULL;
    const char *path = foreign_setting(&section->env, name, foreign_setting(&o->env, name, getenv(name)));
    char *list = loader ? pl_malloc(BYTES_READ) : NULL;
    size_t used = list ? foreign_list(loader, file, path, list, BYTES_READ - 1) : 0;
    bool foreign = false;
    if (used) {
        list[used] = '\0';
        char *at = strstr(list, ABI), *found = at ? strstr(at, arrow) : NULL;
        char *end = found ? strstr(found, " (") : NULL;
        if (end && end < found + TEXT_BYTES && !memchr(at, '\n', (size_t)(end - at))) {
            found += sizeof arrow - 1;
            snprintf(text, TEXT_BYTES, "%.*s", (int)(end - found), found);
            foreign = !foreign_is_ours(text);
        }
    }
    free(list);
    return foreign;
}

/* --- programs ---------------------------------------------------------------------------------------------------- */

/* Checks only programs that are named with a path. The others are found in PATH when the job starts. */
static bool foreign_check(const struct run *run, const struct section *section, bool off, char text[TEXT_BYTES])
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
                   (foreign_name(data, (size_t)bytes, text) ||
                    (run->on_hosts && !off && foreign_pmix(data, (size_t)bytes, text)) ||
                    ((run->on_hosts || off) && foreign_abi(run->options, section, file, data, (size_t)bytes, text)));
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
    char text[TEXT_BYTES];
    int ranks = 0;
    for (int i = 0; i < o->sections; i++)
        ranks += o->section[i].ranks;
    for (int i = 0; i < o->sections && ranks > 1; i++) {
        bool off = o->pmix == PLENUM_PMIX_OFF;
        if (!foreign_check(run, &o->section[i], off, text))
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
