/* SPDX-License-Identifier: BSD-3-Clause */
/* Files are read and written in place, not mapped: a reader that finds an entry reads it again, to be sure that it is
 * still the same one. Entries of other processes of the user are checked like any foreign data, and a file of
 * theirs may be of any length. */
#include "core/job/services_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_limit.h"

#define FILE_NAME "plenum-names.1" /* with the version of the entries */
#define FILE_LINK "/memfd:" FILE_NAME " (deleted)"

enum { ENTRIES_MAX = 1 << 14 }; /* of one process; no file is searched further */

static int services_fd = -1;

static off_t services_file_offset(int number)
{
    return (off_t)number * (off_t)sizeof(struct pl_service_entry);
}

static bool services_file_read_entry(int fd, int number, struct pl_service_entry *entry)
{
    return pread(fd, entry, sizeof *entry, services_file_offset(number)) == (ssize_t)sizeof *entry;
}

bool pl_services_file_read(int number, struct pl_service_entry *entry)
{
    return services_fd >= 0 && services_file_read_entry(services_fd, number, entry);
}

int pl_services_file_add(const struct pl_service_entry *entry, int *number)
{
    struct pl_service_entry there;
    if (services_fd < 0 && (services_fd = memfd_create(FILE_NAME, MFD_CLOEXEC)) < 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot create the memory file for published names");
    *number = 0;
    while (services_file_read_entry(services_fd, *number, &there) && there.state != PL_SERVICE_FREE)
        ++*number;
    if (*number >= ENTRIES_MAX)
        return pl_fail(MPI_ERR_SERVICE, "this process has published %d names, and can publish no more", ENTRIES_MAX);
    if (!pl_file_may_have((uint64_t)services_file_offset(*number + 1)))
        return pl_fail(MPI_ERR_NO_MEM,
                       "published names need a memory file of %lld bytes, more than the limit allows "
                       "(ulimit -f)",
                       (long long)services_file_offset(*number + 1));
    there = *entry;
    there.state = PL_SERVICE_FREE; /* until the entry is complete */
    if (pwrite(services_fd, &there, sizeof there, services_file_offset(*number)) != (ssize_t)sizeof there)
        return pl_fail_errno(MPI_ERR_NO_MEM, "cannot write a published name");
    pl_services_file_set_state(*number, (enum pl_service_state)entry->state);
    return MPI_SUCCESS;
}

void pl_services_file_set_state(int number, enum pl_service_state state)
{
    uint32_t word = state;
    if (pwrite(services_fd, &word, sizeof word, services_file_offset(number)) != (ssize_t)sizeof word)
        return; /* cannot happen: the memory exists already */
}

void pl_services_file_close(void)
{
    if (services_fd >= 0)
        close(services_fd);
    services_fd = -1;
}

/* --- all processes' files ---------------------------------------------------------------------------------------- */

struct search {
    const char *name;
    bool (*see)(void *context, const struct pl_service_entry *entry);
    void *context;
    pid_t pid; /* the owner of the file */
    bool ended;
};

static bool search_matches(const struct search *search, const struct pl_service_entry *entry)
{
    return entry->state != PL_SERVICE_FREE && entry->owner == search->pid &&
           memchr(entry->name, '\0', PL_SERVICE_NAME_MAX) && memchr(entry->value, '\0', PL_SERVICE_VALUE_MAX) &&
           strcmp(entry->name, search->name) == 0;
}

static void search_file(struct search *search, int fd)
{
    struct pl_service_entry entry, again;
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return;
    for (int i = 0; i < ENTRIES_MAX && !search->ended && services_file_read_entry(fd, i, &entry); i++)
        if (search_matches(search, &entry) && services_file_read_entry(fd, i, &again) &&
            search_matches(search, &again) && again.ticket == entry.ticket)
            search->ended = !search->see(search->context, &again);
}

/* Searches the descriptors of a process for such a file. */
static void search_process(struct search *search, int proc, const char *pid)
{
    char path[32], link[sizeof FILE_LINK + 1];
    struct dirent *entry;
    snprintf(path, sizeof path, "%.20s/fd", pid);
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    search->pid = (pid_t)strtol(pid, NULL, 10);
    while (!search->ended && (entry = readdir(dir)) != NULL) {
        ssize_t length = readlinkat(fd, entry->d_name, link, sizeof link);
        if (length != (ssize_t)sizeof FILE_LINK - 1 || memcmp(link, FILE_LINK, sizeof FILE_LINK - 1) != 0)
            continue;
        int file = openat(fd, entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (file < 0)
            continue;
        search_file(search, file);
        close(file);
    }
    closedir(dir);
}

void pl_services_file_scan(const char *name, bool (*see)(void *context, const struct pl_service_entry *entry),
                           void *context)
{
    struct search search = { .name = name, .see = see, .context = context };
    struct dirent *entry;
    struct stat st;
    DIR *proc = opendir("/proc");
    while (proc && !search.ended && (entry = readdir(proc)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && fstatat(dirfd(proc), entry->d_name, &st, 0) == 0 &&
            st.st_uid == geteuid())
            search_process(&search, dirfd(proc), entry->d_name);
    if (proc)
        closedir(proc);
}
