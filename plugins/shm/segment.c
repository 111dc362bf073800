/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is shared: the own segment, and parts of others'.
 *
 * A segment is an anonymous memory file: no name that could be left behind, and not limited by the size of /dev/shm.
 * It is used from the front; what is given back is handed out again to whoever wants as much. Its size can never shrink
 * (it is sealed), so that memory which a peer has mapped stays readable whatever becomes of its owner.
 *
 * It gets its size at once, since a size alone costs nothing: a limit that the program sets to the size of its files
 * later (RLIMIT_FSIZE) does not take from one rank the memory that the others wait for, and where the limit is too low
 * from the start all ranks see it before they communicate.
 *
 * Others find it as /proc/<pid>/fd/<fd>. A pid and a descriptor number are soon used again for something else, so the
 * link is read before it is opened (opening a device or a pipe could have effects), and what was opened is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/shm/shm.h"

#define MEMFD_NAME "plenum"
#define MEMFD_LINK "/memfd:" MEMFD_NAME

enum {
    PATH_ROOM = 64,
    RESERVED = 1 << 30, /* bytes of size from the start ... */
    LEAST = 64 << 20,   /* ... or as many as the limit allows, but so many: rings to the ranks of a node, boards */
};

/* 4 KiB, or what else the kernel has: the same for all processes that share memory. */
static size_t region_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + region_page() - 1) & ~(region_page() - 1);
}

/* Bytes in the longest file that this process may make. One that is longer would bring SIGXFSZ, which ends it. */
static uint64_t region_longest(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur & ~(uint64_t)(region_page() - 1) : UINT64_MAX;
}

/* errno, or 0. */
static int set_size(struct pl_shm_region *region, uint64_t size)
{
    if (size > region_longest())
        return EFBIG;
    if (ftruncate(region->fd, (off_t)size) != 0)
        return errno;
    region->size = size;
    return 0;
}

int pl_shm_region_open(struct pl_shm_region *region, const struct pl_host *host)
{
    *region = (struct pl_shm_region){ .fd = -1 };
    if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1 && geteuid() != 0)
        return host->fail(PL_UNREACHABLE,
                          "transport shm: the process is not dumpable, so that others cannot open its memory");
    int fd = memfd_create(MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return host->fail(PL_UNREACHABLE, "transport shm: no anonymous memory: %s", strerror(errno));
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        int error = errno;
        close(fd);
        return host->fail(PL_UNREACHABLE, "transport shm: anonymous memory cannot be sealed: %s", strerror(error));
    }
    region->fd = fd;
    uint64_t most = region_longest();
    int error = most < LEAST ? EFBIG : set_size(region, most < RESERVED ? most : RESERVED);
    if (error) {
        pl_shm_region_close(region);
        return host->fail(PL_UNREACHABLE, "transport shm: no anonymous memory of %d MiB: %s%s", LEAST >> 20,
                          strerror(error), error == EFBIG ? " (ulimit -f)" : "");
    }
    return MPI_SUCCESS;
}

void pl_shm_region_close(struct pl_shm_region *region)
{
    close(region->fd);
    free(region->vacant);
    *region = (struct pl_shm_region){ .fd = -1 };
}

static uint64_t take_vacant(struct pl_shm_region *region, size_t bytes)
{
    for (size_t i = 0; i < region->vacancies; i++)
        if (region->vacant[i].bytes == bytes) {
            uint64_t offset = region->vacant[i].offset;
            region->vacant[i] = region->vacant[--region->vacancies];
            return offset;
        }
    return UINT64_MAX;
}

static void make_vacant(struct pl_shm_region *region, const struct pl_shm_span *span)
{
    if (region->vacancies == region->vacancies_room) {
        size_t room = region->vacancies_room ? region->vacancies_room * 2 : 8;
        struct pl_shm_span *more = realloc(region->vacant, room * sizeof *more);
        if (!more)
            return; /* lost until the segment is closed */
        region->vacant = more;
        region->vacancies_room = room;
    }
    region->vacant[region->vacancies++] = (struct pl_shm_span){ .offset = span->offset, .bytes = span->bytes };
}

int pl_shm_span_create(struct pl_shm_region *region, const struct pl_host *host, size_t bytes, struct pl_shm_span *span)
{
    bytes = whole_pages(bytes);
    uint64_t offset = take_vacant(region, bytes);
    if (offset == UINT64_MAX) {
        offset = region->used;
        int error = offset + bytes > region->size ? set_size(region, offset + bytes) : 0;
        if (error)
            return host->fail(MPI_ERR_NO_MEM, "shared memory cannot grow to %llu bytes: %s%s",
                              (unsigned long long)(offset + bytes), strerror(error),
                              error == EFBIG ? " (ulimit -f)" : "");
        region->used = offset + bytes;
    }
    *span = (struct pl_shm_span){ .offset = offset, .bytes = bytes };
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, (off_t)offset);
    if (memory == MAP_FAILED) {
        int error = errno;
        make_vacant(region, span);
        return host->fail(MPI_ERR_NO_MEM, "cannot map %zu bytes of shared memory: %s", bytes, strerror(error));
    }
    span->memory = memory;
    return MPI_SUCCESS;
}

void pl_shm_span_release(struct pl_shm_region *region, struct pl_shm_span *span, bool reuse)
{
    if (!span->memory)
        return;
    munmap(span->memory, span->bytes);
    span->memory = NULL;
    if (reuse &&
        fallocate(region->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)span->offset, (off_t)span->bytes) == 0)
        make_vacant(region, span);
}

/* --- others' ---------------------------------------------------------------------------------------------------- */

static void descriptor_path(const struct pl_shm_address *address, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "/proc/%d/fd/%d", (int)address->pid, (int)address->fd);
}

/* NULL: the descriptor is a segment of this user that is at least so long. Else what is wrong. */
static const char *region_check(int fd, uint64_t bytes, ino_t *inode)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode) || (*inode && st.st_ino != *inode))
        return "it is something else";
    if (st.st_uid != geteuid())
        return "it belongs to another user";
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return "it is not sealed";
    if ((uint64_t)st.st_size < bytes)
        return "it is too short";
    if (!*inode) /* who looks at one that is known has no lock */
        *inode = st.st_ino;
    return NULL;
}

int pl_shm_map(const struct pl_host *host, const struct pl_shm_address *from, uint64_t offset, size_t bytes,
               ino_t *inode, void **memory)
{
    char path[PATH_ROOM], target[sizeof MEMFD_LINK];
    const char *wrong = NULL;
    descriptor_path(from, path);
    if (offset % region_page() || offset + bytes < offset || offset > INT64_MAX - bytes)
        return host->fail(PL_UNREACHABLE, "transport shm: process %d names memory at %llu", (int)from->pid,
                          (unsigned long long)offset);

    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return host->fail(PL_UNREACHABLE, "transport shm: cannot open the memory of process %d: %s", (int)from->pid,
                          strerror(errno));
    if ((size_t)length < sizeof MEMFD_LINK - 1 || memcmp(target, MEMFD_LINK, sizeof MEMFD_LINK - 1) != 0)
        return host->fail(PL_UNREACHABLE, "transport shm: descriptor %d of process %d is no shared memory",
                          (int)from->fd, (int)from->pid);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return host->fail(PL_UNREACHABLE, "transport shm: cannot open the memory of process %d: %s", (int)from->pid,
                          strerror(errno));
    wrong = region_check(fd, offset + bytes, inode);
    if (!wrong) {
        *memory = mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
        if (*memory == MAP_FAILED)
            wrong = strerror(errno);
    }
    close(fd);
    if (wrong)
        return host->fail(PL_UNREACHABLE, "transport shm: cannot use the memory of process %d: %s", (int)from->pid,
                          wrong);
    return MPI_SUCCESS;
}

void pl_shm_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, whole_pages(bytes));
}

/* A zombie has no descriptors; for other users than root its directory cannot even be read, as that of a process that
 * has changed its user. So only the state that everybody may read tells the two apart. */
static bool is_zombie(pid_t pid)
{
    char path[PATH_ROOM], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return true;
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && strchr("ZXx", name_end[2]);
}

bool pl_shm_alive(const struct pl_shm_address *address, ino_t inode)
{
    char path[PATH_ROOM];
    struct stat st;
    descriptor_path(address, path);
    if (stat(path, &st) == 0)
        return st.st_ino == inode;
    if (errno == EACCES || errno == EPERM)
        return !is_zombie(address->pid);
    return errno != ENOENT && errno != ESRCH;
}
