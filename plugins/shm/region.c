/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions as memory files.
 *
 * A region gets its size at once, since only pages that are used take memory. A file size limit (RLIMIT_FSIZE) that the
 * program sets later then does not deprive one rank of memory that the others wait for. Where the limit is too low from
 * the start, all ranks see that before they communicate.
 *
 * Other processes find it as /proc/<pid>/fd/<fd>. Pids and descriptor numbers are soon reused for something else. So
 * the link is read before it is opened, and the opened file is checked. Opening a device or a pipe could have effects,
 * and closing a file releases the record locks that this process has on it (core/job/attach_file.h).
 */
#include "plugins/shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_limit.h"
#include "core/base/proc_stat.h"

#define MEMFD_NAME "plenum"
#define MEMFD_LINK "/memfd:" MEMFD_NAME " (deleted)"

enum {
    PATH_BYTES = 64,
    SIZE_WANTED = 1 << 30, /* bytes of size from the start, or as many as the limit allows, ... */
    SIZE_MIN = 64 << 20,   /* ... but at least these: for the rings to the ranks of a node, and collective areas */
};

/* The same for all processes that share memory. */
static size_t region_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t pl_shm_region_round_up(size_t bytes)
{
    return (bytes + region_page() - 1) & ~(region_page() - 1);
}

/* Bytes in the longest region that this process may create. */
static uint64_t region_size_limit(void)
{
    return pl_file_limit() & ~(uint64_t)(region_page() - 1);
}

/* 0, or an errno. */
static int region_set_size(struct pl_shm_region *region, uint64_t size)
{
    if (size > region_size_limit())
        return EFBIG;
    if (ftruncate(region->fd, (off_t)size) != 0)
        return errno;
    region->size = size;
    return 0;
}

int pl_shm_region_open(struct pl_shm_region *region, const struct pl_transport_host *host)
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
    uint64_t limit = region_size_limit();
    int error = limit < SIZE_MIN ? EFBIG : region_set_size(region, limit < SIZE_WANTED ? limit : SIZE_WANTED);
    if (error) {
        pl_shm_region_close(region);
        return host->fail(PL_UNREACHABLE, "transport shm: no anonymous memory of %d MiB: %s%s", SIZE_MIN >> 20,
                          strerror(error), error == EFBIG ? " (ulimit -f)" : "");
    }
    return MPI_SUCCESS;
}

void pl_shm_region_close(struct pl_shm_region *region)
{
    close(region->fd);
    PL_VEC_FINI(&region->vacant);
    *region = (struct pl_shm_region){ .fd = -1 };
}

static uint64_t region_take_vacant(struct pl_shm_region *region, size_t bytes)
{
    for (size_t i = 0; i < region->vacant.count; i++)
        if (region->vacant.items[i].bytes == bytes) {
            uint64_t offset = region->vacant.items[i].offset;
            region->vacant.items[i] = region->vacant.items[--region->vacant.count];
            return offset;
        }
    return UINT64_MAX;
}

/* Without memory for it the span is not reused until the region is closed. */
static void region_add_vacant(struct pl_shm_region *region, const struct pl_shm_span *span)
{
    struct pl_shm_span *vacant = PL_VEC_PUSH(&region->vacant);
    if (vacant)
        *vacant = (struct pl_shm_span){ .offset = span->offset, .bytes = span->bytes };
}

/* The machine has less memory than that: the kernel gives it all the same, and kills a process that uses it. Unless it
 * is told otherwise, it refuses private memory by the same rule. */
static bool region_is_too_much(size_t bytes, uint64_t *there)
{
    struct sysinfo info;
    *there = UINT64_MAX;
    if (bytes > SIZE_WANTED && sysinfo(&info) == 0)
        *there = ((uint64_t)info.totalram + info.totalswap) * info.mem_unit;
    return bytes > *there;
}

int pl_shm_span_create(struct pl_shm_region *region, const struct pl_transport_host *host, size_t bytes,
                       struct pl_shm_span *span)
{
    uint64_t there;
    bytes = pl_shm_region_round_up(bytes);
    if (region_is_too_much(bytes, &there))
        return host->fail(MPI_ERR_NO_MEM, "%zu bytes of shared memory are more than the machine's %llu", bytes,
                          (unsigned long long)there);
    uint64_t offset = region_take_vacant(region, bytes);
    if (offset == UINT64_MAX) {
        offset = region->used;
        int error = offset + bytes > region->size ? region_set_size(region, offset + bytes) : 0;
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
        region_add_vacant(region, span);
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
        region_add_vacant(region, span);
}

/* --- other engines' regions -------------------------------------------------------------------------------------- */

static void region_path(const struct pl_shm_address *address, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/proc/%d/fd/%d", (int)address->pid, (int)address->fd);
}

/* NULL: the descriptor is a region of this user with at least this many bytes. Else what is wrong. */
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
    if (!*inode) /* not stored again: a caller that knows it need not hold the lock */
        *inode = st.st_ino;
    return NULL;
}

/* The class of an errno: a shortage of memory or descriptors may pass, everything else stays as it is. */
static int region_class_of(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN ? MPI_ERR_NO_MEM : PL_UNREACHABLE;
}

int pl_shm_region_map(const struct pl_transport_host *host, const struct pl_shm_address *from, uint64_t offset,
                      size_t bytes, ino_t *inode, void **memory)
{
    char path[PATH_BYTES], target[sizeof MEMFD_LINK + 1];
    const char *wrong = NULL;
    region_path(from, path);
    if (offset % region_page() || offset + bytes < offset || offset > INT64_MAX - bytes)
        return host->fail(PL_UNREACHABLE, "transport shm: process %d names memory at %llu", (int)from->pid,
                          (unsigned long long)offset);

    ssize_t length = readlink(path, target, sizeof target);
    if (length < 0)
        return host->fail(PL_UNREACHABLE, "transport shm: cannot open the memory of process %d: %s", (int)from->pid,
                          strerror(errno));
    if ((size_t)length != sizeof MEMFD_LINK - 1 || memcmp(target, MEMFD_LINK, sizeof MEMFD_LINK - 1) != 0)
        return host->fail(PL_UNREACHABLE, "transport shm: descriptor %d of process %d is not shared memory",
                          (int)from->fd, (int)from->pid);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), class = PL_UNREACHABLE;
    if (fd < 0)
        return host->fail(region_class_of(errno), "transport shm: cannot open the memory of process %d: %s",
                          (int)from->pid, strerror(errno));
    wrong = region_check(fd, offset + bytes, inode);
    if (!wrong) {
        *memory = mmap(NULL, pl_shm_region_round_up(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
        if (*memory == MAP_FAILED) {
            class = region_class_of(errno);
            wrong = strerror(errno);
        }
    }
    close(fd);
    if (wrong)
        return host->fail(class, "transport shm: cannot use the memory of process %d: %s", (int)from->pid, wrong);
    return MPI_SUCCESS;
}

void pl_shm_region_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, pl_shm_region_round_up(bytes));
}

/* A zombie has no descriptors. For users other than root its directory cannot be read either, just like the one of a
 * process that has changed its user. Only the state in /proc/<pid>/stat, readable by all users, tells the two apart. */
static bool region_is_zombie(pid_t pid)
{
    struct pl_proc_stat stat;
    int error = pl_proc_stat_read(pid, &stat);
    return error ? pl_proc_stat_is_absent(error) : pl_proc_stat_is_zombie(&stat);
}

/* Does the process still have the file in its memory? A program may close all descriptors, as daemons do; what it has
 * mapped stays until it ends or executes another program. */
static bool region_is_mapped(pid_t pid, ino_t inode)
{
    char path[PATH_BYTES], line[512];
    bool found = false, whole = true;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long long number;
        if (whole && sscanf(line, "%*s %*s %*s %*s %llu", &number) == 1)
            found = number == inode && strstr(line, MEMFD_LINK);
        whole = strchr(line, '\n') != NULL;
    }
    if (maps)
        fclose(maps);
    return found;
}

bool pl_shm_region_is_open(const struct pl_shm_address *address, ino_t inode)
{
    char path[PATH_BYTES];
    struct stat st;
    region_path(address, path);
    if (stat(path, &st) == 0)
        return st.st_ino == inode;
    if (errno == EACCES || errno == EPERM)
        return !region_is_zombie(address->pid);
    return errno != ENOENT && errno != ESRCH;
}

bool pl_shm_region_is_alive(const struct pl_shm_address *address, ino_t inode)
{
    return pl_shm_region_is_open(address, inode) || region_is_mapped(address->pid, inode);
}
