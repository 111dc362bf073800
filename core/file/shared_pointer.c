/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file pointer, in shared memory or in a hidden file. See shared_pointer.h. */
#include "core/file/shared_pointer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_limit.h"
#include "core/base/memory_libc.h"
#include "core/coll/collective.h"
#include "core/file/file.h"

enum { PAGE = 4096 };

PL_COLD static int pointer_overflow(int64_t at, int64_t etypes)
{
    return pl_fail(MPI_ERR_ARG, "the shared file pointer is at etype %lld and cannot advance by %lld more",
                   (long long)at, (long long)etypes);
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

static bool pointer_map(struct pl_file_pointer *pointer, int fd)
{
    void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pointer->word = memory == MAP_FAILED ? NULL : memory;
    return pointer->word != NULL;
}

void pl_pointer_offer(struct pl_file_pointer *pointer, struct pl_file_notice *notice)
{
    struct stat st;
    *notice = (struct pl_file_notice){ .node = pl_locator_node(), .pid = (int32_t)getpid(), .fd = -1 };
    int fd = memfd_create("plenum-file-pointer", MFD_CLOEXEC);
    if (fd < 0)
        return;
    if (!pl_file_may_have(PAGE) || ftruncate(fd, PAGE) != 0 || fstat(fd, &st) != 0 || !pointer_map(pointer, fd)) {
        close(fd);
        return;
    }
    pointer->fd = fd;
    notice->fd = fd;
    notice->dev = (uint64_t)st.st_dev;
    notice->ino = (uint64_t)st.st_ino;
}

static bool pointer_is_offered(const struct stat *st, const struct pl_file_notice *notice)
{
    return (uint64_t)st->st_dev == notice->dev && (uint64_t)st->st_ino == notice->ino && st->st_size >= PAGE;
}

/* Compares device and inode: the other process may have closed the memory and opened a file as this descriptor. It does
 * so before it opens, too, since closing a file releases the record locks that this process has on it. */
bool pl_pointer_attach(struct pl_file_pointer *pointer, const struct pl_file_notice *notice)
{
    char path[64];
    struct stat st;
    if (notice->fd < 0 || notice->node != pl_locator_node())
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)notice->pid, (int)notice->fd);
    if (stat(path, &st) != 0 || !pointer_is_offered(&st, notice))
        return false;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool found = fstat(fd, &st) == 0 && pointer_is_offered(&st, notice) && pointer_map(pointer, fd);
    close(fd);
    return found;
}

static void pointer_unmap(struct pl_file_pointer *pointer)
{
    if (pointer->word && pointer->word != &pointer->own)
        munmap((void *)pointer->word, PAGE);
    pointer->word = NULL;
    if (pointer->fd >= 0)
        close(pointer->fd);
    pointer->fd = -1;
}

void pl_pointer_settle(struct pl_file_pointer *pointer, bool shared, int64_t first)
{
    bool owner = pointer->fd >= 0 || pointer->word == &pointer->own;
    pointer->first = first;
    if (!shared) {
        pointer_unmap(pointer);
        return;
    }
    if (owner)
        atomic_store(pointer->word, first);
    if (pointer->fd >= 0)
        close(pointer->fd);
    pointer->fd = -1;
}

/* --- the hidden file ---------------------------------------------------------------------------------------------- */

/* "dir/.name.plenum-<id>", for free(). */
static char *hidden_file_path(const struct pl_file *file)
{
    const char *slash = strrchr(file->name, '/');
    int directory = slash ? (int)(slash - file->name) + 1 : 0;
    char *path;
    pl_asprintf(&path, "%.*s.%s.plenum-%llx-%x", directory, file->name, file->name + directory,
                (unsigned long long)file->comm->id.home, (unsigned)file->comm->id.serial);
    return path;
}

static int hidden_file_open(const struct pl_file *file, int *fd)
{
    char *path = hidden_file_path(file);
    if (!path)
        return pl_fail_memory("the name of the hidden file of a shared file pointer");
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = *fd >= 0 ? MPI_SUCCESS : pl_file_fail(errno, "keep the shared file pointer in", path);
    free(path);
    return rc;
}

/* Reads the value, and writes the sum or `etypes` itself. Closing the descriptor releases the lock. */
static int hidden_file_update(const struct pl_file *file, int fd, bool add, int64_t etypes, int64_t *before)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    while (fcntl(fd, F_OFD_SETLKW, &whole) != 0)
        if (errno != EINTR)
            return pl_file_fail(errno, "lock the hidden file with the shared file pointer of", file->name);
    int64_t value = 0, after = etypes;
    ssize_t length = pread(fd, &value, sizeof value, 0);
    *before = length == (ssize_t)sizeof value ? value : file->pointer.first;
    if (length < 0)
        return pl_file_fail(errno, "read the shared file pointer of", file->name);
    if (add && __builtin_add_overflow(*before, etypes, &after))
        return pointer_overflow(*before, etypes);
    bool changes = !add || etypes != 0;
    if (changes && (!pl_file_may_have(sizeof after) || pwrite(fd, &after, sizeof after, 0) != (ssize_t)sizeof after))
        return pl_file_fail(errno, "write the shared file pointer of", file->name);
    return MPI_SUCCESS;
}

static int hidden_file_change(const struct pl_file *file, bool add, int64_t etypes, int64_t *before)
{
    int fd = -1, rc = hidden_file_open(file, &fd);
    if (rc)
        return rc;
    rc = hidden_file_update(file, fd, add, etypes, before);
    close(fd);
    return rc;
}

void pl_pointer_release(struct pl_file *file, bool last)
{
    char *path = last && !file->pointer.word ? hidden_file_path(file) : NULL;
    if (path)
        unlink(path);
    free(path);
    pointer_unmap(&file->pointer);
}

/* --- using the pointer -------------------------------------------------------------------------------------------- */

int pl_pointer_add(struct pl_file *file, int64_t etypes, int64_t *before)
{
    _Atomic int64_t *word = file->pointer.word;
    int64_t after;
    if (!word)
        return hidden_file_change(file, true, etypes, before);
    *before = atomic_load(word);
    do
        if (__builtin_add_overflow(*before, etypes, &after))
            return pointer_overflow(*before, etypes);
    while (!atomic_compare_exchange_weak(word, before, after));
    return MPI_SUCCESS;
}

int pl_pointer_set(struct pl_file *file, int64_t etypes)
{
    int64_t before;
    if (!file->pointer.word)
        return hidden_file_change(file, false, etypes, &before);
    atomic_store(file->pointer.word, etypes);
    return MPI_SUCCESS;
}

/* The first process advances the pointer for all. */
int pl_pointer_add_ordered(struct pl_file *file, int64_t etypes, int64_t *before)
{
    struct pl_comm *comm = file->comm;
    struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    int64_t *counts = pl_malloc((size_t)comm->size * sizeof *counts), start[2] = { 0 };
    if (!counts)
        return pl_fail_memory("an ordered access");
    int rc = pl_allgather(comm, &etypes, 1, type, counts, 1, type);
    int64_t own = 0, total = 0;
    bool fits = true;
    for (int i = 0; i < comm->size && !rc; i++) {
        own = i == comm->rank ? total : own;
        fits &= !__builtin_add_overflow(total, counts[i], &total);
    }
    free(counts);
    if (rc)
        return rc;
    if (comm->rank == 0)
        start[0] = fits ? pl_pointer_add(file, total, &start[1])
                        : pl_fail(MPI_ERR_ARG, "the counts of all processes add up to more etypes than fit 63 bits");
    rc = pl_bcast(comm, start, 2, type, 0);
    if (rc == MPI_SUCCESS && start[0])
        rc = comm->rank == 0 ? (int)start[0] : pl_fail((int)start[0], "rank 0 cannot advance the shared file pointer");
    if (rc == MPI_SUCCESS) /* else their sum may not fit */
        *before = start[1] + own;
    return rc;
}
