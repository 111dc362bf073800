/* SPDX-License-Identifier: BSD-3-Clause */
/* Files as a whole: opening and closing, sizes, system errors, agreements. See file.h. */
#include "core/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/file_limit.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"

/* --- errors and agreements ---------------------------------------------------------------------------------------- */

static int file_error_class(int error)
{
    switch (error) {
    case ENOENT: return MPI_ERR_NO_SUCH_FILE;
    case EEXIST: return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    case EROFS: return MPI_ERR_READ_ONLY;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL: return MPI_ERR_BAD_FILE;
    case ENOSPC:
    case EFBIG: return MPI_ERR_NO_SPACE;
    case EDQUOT: return MPI_ERR_QUOTA;
    case ETXTBSY:
    case EBUSY: return MPI_ERR_FILE_IN_USE;
    case ESPIPE: return MPI_ERR_UNSUPPORTED_OPERATION;
    case ENOMEM: return MPI_ERR_NO_MEM;
    default: return MPI_ERR_IO;
    }
}

int pl_file_fail(int error, const char *what, const char *name)
{
    errno = error;
    return pl_fail_errno(file_error_class(error), "cannot %s %s", what, name);
}

int pl_file_same(struct pl_comm *comm, int error, MPI_Offset value, const char *what)
{
    int64_t range[] = { value, ~value, ~(int64_t)error }; /* the complements make MIN find the maximum */
    if (comm->size == 1)
        return error;
    int rc = pl_allreduce(comm, MPI_IN_PLACE, range, 3, pl_type_predefined((uintptr_t)MPI_INT64_T),
                          pl_op_predefined((uintptr_t)MPI_MIN));
    if (rc)
        return rc;
    if (error)
        return pl_error_agreed(error);
    if (~range[2])
        return pl_error_agreed(pl_fail((int)~range[2], "the call failed on another process, which reports the reason"));
    if (range[0] == ~range[1])
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_NOT_SAME,
                   "%s is %lld here and between %lld and %lld on the other processes; it must be the same on all", what,
                   (long long)value, (long long)range[0], (long long)~range[1]);
}

int pl_file_agree(struct pl_comm *comm, int error)
{
    return pl_file_same(comm, error, 0, "");
}

int pl_file_tell(struct pl_comm *comm, int error)
{
    int told = error;
    if (comm->size == 1)
        return error;
    int rc = pl_bcast(comm, &told, 1, pl_type_predefined((uintptr_t)MPI_INT), 0);
    if (rc)
        return rc;
    if (comm->rank == 0 || !told)
        return pl_error_agreed(told);
    return pl_error_agreed(pl_fail(told, "the call failed on rank 0, which reports the reason"));
}

int pl_file_check_random(const struct pl_file *file)
{
    if (!(file->amode & MPI_MODE_SEQUENTIAL))
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "%s is open with MPI_MODE_SEQUENTIAL: only the shared file pointer can be used", file->name);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static int file_check_amode(int amode)
{
    const int ways = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
    const int known = ways | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                      MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    int way = amode & ways;
    if (amode & ~known)
        return pl_fail(MPI_ERR_AMODE, "amode has unknown bits: 0x%x", (unsigned)(amode & ~known));
    if (way != MPI_MODE_RDONLY && way != MPI_MODE_WRONLY && way != MPI_MODE_RDWR)
        return pl_fail(MPI_ERR_AMODE, "amode needs exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
    if (way == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return pl_fail(MPI_ERR_AMODE, "amode combines MPI_MODE_RDONLY with MPI_MODE_CREATE or MPI_MODE_EXCL");
    if (way == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
        return pl_fail(MPI_ERR_AMODE, "amode combines MPI_MODE_RDWR with MPI_MODE_SEQUENTIAL");
    return MPI_SUCCESS;
}

/* Skips the name of a kind of file system, which some users write for other MPIs. */
static const char *without_prefix(const char *name)
{
    return strncmp(name, "ufs:", 4) == 0 || strncmp(name, "nfs:", 4) == 0 ? name + 4 : name;
}

/* `who` is "", or the other process that cannot open it, and a space. */
static int file_cannot_open(const struct pl_file *file, int error, int number, const char *who)
{
    if (number == ESPIPE)
        return pl_fail(error, "%scannot open %s: it is not seekable", who, file->name);
    errno = number;
    return pl_fail_errno(error, "%scannot open %s", who, file->name);
}

/* O_NONBLOCK, since opening a pipe would wait. `created`: rank 0 has created the file. `number`: the errno. */
static int file_open_descriptor(struct pl_file *file, bool created, struct stat *st, int *number)
{
    int flags = O_CLOEXEC | O_NONBLOCK;
    flags |= file->amode & MPI_MODE_RDONLY ? O_RDONLY : file->amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDWR;
    if (!created && (file->amode & MPI_MODE_CREATE))
        flags |= O_CREAT | (file->amode & MPI_MODE_EXCL ? O_EXCL : 0);
    do
        file->fd = open(file->name, flags, 0666);
    while (file->fd < 0 && errno == EINTR);
    *number = file->fd < 0 || fstat(file->fd, st) != 0 ? errno : S_ISDIR(st->st_mode) ? EISDIR : 0;
    if (!*number && lseek(file->fd, 0, SEEK_CUR) < 0)
        *number = errno;
    file->limit = !*number && S_ISREG(st->st_mode) ? pl_file_limit() : UINT64_MAX;
    return *number ? file_cannot_open(file, file_error_class(*number), *number, "") : MPI_SUCCESS;
}

/* The first process's message to the others when it has opened the file, or could not. */
struct opened {
    int32_t error, number;
    int64_t size;
    struct pl_file_notice notice;
};

/* The first process opens the file, or creates it, before the others open it. */
static int file_open_together(struct pl_file *file)
{
    struct pl_comm *comm = file->comm;
    struct opened opened = { .notice.fd = -1 };
    struct stat st = { 0 };
    int rc = MPI_SUCCESS, number;
    if (comm->rank == 0) {
        opened.error = rc = file_open_descriptor(file, false, &st, &number);
        opened.number = number;
        opened.size = st.st_size;
        if (comm->size > 1 && !rc)
            pl_pointer_offer(&file->pointer, &opened.notice);
        else
            file->pointer.word = &file->pointer.own;
    }
    int told = pl_bcast(comm, &opened, sizeof opened, PL_TYPE_BYTE, 0);
    if (told || rc)
        return rc ? rc : told;
    if (opened.error)
        return file_cannot_open(file, opened.error, opened.number, "rank 0 ");
    bool shared = true;
    if (comm->rank != 0) {
        rc = file_open_descriptor(file, true, &st, &number);
        shared = pl_pointer_attach(&file->pointer, &opened.notice);
    } else {
        shared = file->pointer.word != NULL;
    }
    int results[2] = { rc, !shared };
    told = pl_allreduce(comm, MPI_IN_PLACE, results, 2, pl_type_predefined((uintptr_t)MPI_INT),
                        pl_op_predefined((uintptr_t)MPI_MAX));
    file->position = file->amode & MPI_MODE_APPEND ? opened.size : 0;
    pl_pointer_settle(&file->pointer, told == MPI_SUCCESS && !results[1], file->position);
    if (rc == MPI_SUCCESS && told == MPI_SUCCESS && results[0])
        rc = pl_fail(results[0], "another process cannot open %s, and reports the reason", file->name);
    return rc ? rc : told;
}

/* The communicator of a file. It does not copy the parent's attributes, whose callbacks must not see it. A process by
 * itself does nothing collective here: many threads may open files on MPI_COMM_SELF at once. */
static int file_make_comm(struct pl_comm *parent, const char *name, struct pl_comm **comm)
{
    int rc = parent->size == 1 ? pl_comm_create(parent->instance, parent, parent->group, NULL, pl_comm_new_id(), comm)
                               : pl_comm_create_members(parent, parent->group, comm);
    if (rc)
        return rc;
    (*comm)->role.serves = "file";
    size_t length = strlen(name), most = MPI_MAX_OBJECT_NAME - 1;
    pl_comm_set_name(*comm, length > most ? name + length - most : name); /* the end says more than the beginning */
    return MPI_SUCCESS;
}

static int file_prepare(const char *name, int amode, struct pl_file **file)
{
    struct pl_file *made = pl_object_create(PL_FILE);
    if (!made)
        return MPI_ERR_NO_MEM;
    pl_lock_init(&made->lock, PL_RANK_OBJECT, true);
    pl_lock_init(&made->turn, PL_RANK_OBJECT, true);
    pl_list_init(&made->child.link);
    made->child.object = made;
    made->child.orphan = pl_file_orphan;
    made->amode = amode;
    made->fd = made->pointer.fd = -1;
    made->errhandler = pl_errhandler_of(PL_FILE, NULL);
    made->name = pl_strdup(without_prefix(name));
    struct pl_type *byte = pl_type_predefined((uintptr_t)MPI_BYTE);
    int rc = made->name ? pl_view_init(0, byte, byte, &pl_datarep_native, true, &made->view)
                        : pl_fail_memory("the name of a file");
    *file = made;
    return rc;
}

int pl_file_open(struct pl_comm *comm, int error, const char *name, int amode, struct pl_info *info,
                 struct pl_file **file)
{
    struct pl_file *made = NULL;
    int rc = pl_file_same(comm, error ? error : pl_comm_reserve(comm), amode, "amode");
    if (rc == MPI_SUCCESS)
        rc = file_check_amode(amode);
    if (rc) {
        pl_memory_free_reserve();
        return rc;
    }
    rc = pl_file_agree(comm, file_prepare(name, amode, &made));
    if (rc == MPI_SUCCESS)
        rc = file_make_comm(comm, name, &made->comm);
    if (rc == MPI_SUCCESS) {
        pl_file_hints_default(made);
        pl_instance_add(made->comm->instance, &made->child);
        rc = file_open_together(made);
    }
    if (rc == MPI_SUCCESS)
        rc = pl_file_hints_set(made, info);
    if (rc && made && made->comm)
        pl_comm_break_for_all(made->comm, rc);
    if (rc)
        pl_object_release(made);
    else
        *file = made;
    pl_memory_free_reserve();
    return rc;
}

/* --- closing ------------------------------------------------------------------------------------------------------ */

static int file_flush(const struct pl_file *file)
{
    while (fsync(file->fd) != 0) {
        if (errno == EINVAL || errno == EROFS) /* it cannot be synchronized: /dev/null */
            break;
        if (errno != EINTR)
            return pl_file_fail(errno, "synchronize", file->name);
    }
    return MPI_SUCCESS;
}

/* No process returns before all have written. Processes that share memory share the system's cache of the file, so one
 * of them synchronizes for all. */
static int file_synchronize(struct pl_file *file)
{
    struct pl_comm *comm = file->comm;
    int dirty = atomic_exchange(&file->dirty, false), rc = MPI_SUCCESS;
    if (!file->pointer.word)
        return pl_file_agree(comm, dirty ? file_flush(file) : MPI_SUCCESS);
    if (comm->size > 1)
        rc = pl_allreduce(comm, MPI_IN_PLACE, &dirty, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    if (rc || !dirty)
        return rc;
    return pl_file_tell(comm, comm->rank == 0 ? file_flush(file) : MPI_SUCCESS);
}

static void file_close_descriptor(struct pl_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* After all have closed the file, the first process deletes what must go and tells the others the result. */
int pl_file_close(struct pl_file *file)
{
    bool removed = file->amode & MPI_MODE_DELETE_ON_CLOSE;
    int rc = removed ? MPI_SUCCESS : file_synchronize(file), together = MPI_SUCCESS;
    file_close_descriptor(file);
    if (removed || !file->pointer.word) {
        together = pl_barrier(file->comm);
        int gone =
            together == MPI_SUCCESS && removed && file->comm->rank == 0 ? pl_file_delete(file->name) : MPI_SUCCESS;
        pl_pointer_release(file, file->comm->rank == 0);
        together = together ? together : pl_file_tell(file->comm, gone);
    }
    return rc ? rc : together;
}

void pl_file_orphan(void *object)
{
    struct pl_file *file = object;
    file_close_descriptor(file);
    if ((file->amode & MPI_MODE_DELETE_ON_CLOSE) && file->comm->rank == 0)
        unlink(file->name);
    pl_pointer_release(file, file->comm->rank == 0);
    while (atomic_load(&file->obj.handles) > 0)
        pl_handle_drop(file);
}

void pl_file_destroy(void *object)
{
    struct pl_file *file = object;
    if (file->comm) {
        pl_instance_remove(file->comm->instance, &file->child);
        pl_pointer_release(file, false);
        pl_comm_free(file->comm);
    }
    file_close_descriptor(file);
    if (file->view.etype)
        pl_view_fini(&file->view);
    pl_object_release(file->info);
    pl_object_release(file->errhandler);
    free(file->name);
    pl_lock_fini(&file->lock);
    pl_lock_fini(&file->turn);
}

static struct pl_errhandler **file_errhandler(void *object, struct pl_lock **lock)
{
    struct pl_file *file = object;
    *lock = &file->lock;
    return &file->errhandler;
}

static void file_error_name(void *file, char *name, size_t capacity)
{
    snprintf(name, capacity, "%s", ((struct pl_file *)file)->name);
}

static int file_job_rank(void *file)
{
    return pl_instance_rank(((struct pl_file *)file)->comm->instance);
}

static PL_NORETURN void file_end(void *file, bool members_only, int code, const char *message)
{
    (void)file, (void)members_only;
    pl_process_abort(code, "file", message);
}

const struct pl_kind_errors pl_file_errors = {
    .slot = file_errhandler,
    .name = file_error_name,
    .rank = file_job_rank,
    .end = file_end,
};

int pl_file_delete(const char *name)
{
    const char *path = without_prefix(name);
    return unlink(path) == 0 ? MPI_SUCCESS : pl_file_fail(errno, "delete", path);
}

/* --- the whole file ----------------------------------------------------------------------------------------------- */

static int file_check_resize(const struct pl_file *file, MPI_Offset size)
{
    if (size < 0)
        return pl_fail(MPI_ERR_ARG, "size is %lld; it must not be negative", (long long)size);
    if (file->amode & MPI_MODE_RDONLY)
        return pl_fail(MPI_ERR_READ_ONLY, "%s is open with MPI_MODE_RDONLY", file->name);
    return pl_file_check_random(file);
}

static int file_resize(struct pl_file *file, MPI_Offset size,
                       int (*change)(const struct pl_file *file, MPI_Offset size))
{
    int rc = pl_file_same(file->comm, MPI_SUCCESS, size, "size");
    if (rc == MPI_SUCCESS)
        rc = file_check_resize(file, size);
    if (rc)
        return rc;
    atomic_store_explicit(&file->dirty, true, memory_order_relaxed);
    return pl_file_tell(file->comm, file->comm->rank == 0 ? change(file, size) : MPI_SUCCESS);
}

/* The kernel would raise SIGXFSZ where a file grows beyond the limit. */
static int file_check_growth(const struct pl_file *file, MPI_Offset size)
{
    struct stat st;
    bool may = pl_file_may_have((uint64_t)size) || (fstat(file->fd, &st) == 0 && st.st_size >= size);
    return may ? MPI_SUCCESS : pl_file_fail(EFBIG, "set the size of", file->name);
}

static int file_truncate(const struct pl_file *file, MPI_Offset size)
{
    int rc = file_check_growth(file, size);
    if (rc)
        return rc;
    while (ftruncate(file->fd, (off_t)size) != 0)
        if (errno != EINTR)
            return pl_file_fail(errno, "set the size of", file->name);
    return MPI_SUCCESS;
}

int pl_file_set_size(struct pl_file *file, MPI_Offset size)
{
    return file_resize(file, size, file_truncate);
}

static int file_allocate(const struct pl_file *file, MPI_Offset size)
{
    int error, rc = file_check_growth(file, size);
    if (rc)
        return rc;
    do
        error = size > 0 ? posix_fallocate(file->fd, 0, (off_t)size) : 0;
    while (error == EINTR);
    return error ? pl_file_fail(error, "allocate the space of", file->name) : MPI_SUCCESS;
}

int pl_file_preallocate(struct pl_file *file, MPI_Offset size)
{
    return file_resize(file, size, file_allocate);
}

int pl_file_get_size(const struct pl_file *file, MPI_Offset *size)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return pl_file_fail(errno, "find the size of", file->name);
    *size = st.st_size;
    return MPI_SUCCESS;
}

int pl_file_sync(struct pl_file *file)
{
    return file_synchronize(file);
}

int pl_file_set_atomicity(struct pl_file *file, bool atomic)
{
    int rc = pl_file_same(file->comm, MPI_SUCCESS, atomic, "flag");
    if (rc == MPI_SUCCESS)
        file->atomic = atomic;
    return rc;
}
