/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of pools, and the record locks in them. Byte r is rank r's; the byte MAKER is locked by who makes, enters
 * or leaves a file that has a name, so that it is made once and removed by the last.
 */
#include "core/job/attach_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/job/card.h"
#include "core/job/sets.h"

enum {
    MAKER = 1 << 24,
    MAKER_WAIT_MS = 5000,
    TABLE_ROOM = 16384, /* for published process sets */
};

/* --- locks ----------------------------------------------------------------------------------------------------- */

static int record_lock(int fd, int type, off_t byte)
{
    struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    return fcntl(fd, F_SETLK, &lock);
}

/* The pid of another process that has a lock in the range, -1 when it cannot be told; 0: nobody. */
static pid_t locked_by(int fd, off_t byte, off_t length)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = length };
    if (fcntl(fd, F_GETLK, &lock) != 0)
        return -1;
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid > 0 ? lock.l_pid : -1;
}

/* Others hold it for a moment only; one that is stopped in that moment must not stop this process for ever. */
static int become_maker(int fd, const char *path)
{
    for (int waited = 0; record_lock(fd, F_WRLCK, MAKER) != 0; waited++) {
        if (errno != EACCES && errno != EAGAIN)
            return pl_fail_errno(MPI_ERR_OTHER, "\"%.300s\" cannot be locked, so a pool cannot be in that file system",
                                 path);
        if (waited >= MAKER_WAIT_MS)
            return pl_fail(MPI_ERR_OTHER, "\"%.300s\": process %d has been entering or leaving this pool for %d s",
                           path, (int)locked_by(fd, MAKER, 1), MAKER_WAIT_MS / 1000);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return MPI_SUCCESS;
}

/* --- the segment ------------------------------------------------------------------------------------------------- */

static size_t table_offset(int size)
{
    return (sizeof(struct pl_job_segment) + (size_t)size * sizeof(struct pl_job_rank) + 63) / 64 * 64;
}

static uint32_t table_room(int size)
{
    return (TABLE_ROOM + 8 * (uint32_t)size + 63) / 64 * 64;
}

/* An empty pool of `size` places, in a file whose old contents count for nothing. */
static int write_pool(int fd, int size, uint64_t cookie)
{
    struct pl_job_table table = { .room = table_room(size), .size = (uint32_t)size };
    struct pl_job_segment head = {
        .magic = PL_JOB_MAGIC,
        .version = PL_JOB_VERSION,
        .size = (uint32_t)size,
        .cookie = cookie,
        .universe = (uint32_t)size,
        .table = (uint32_t)table_offset(size),
        .bytes = table_offset(size) + PL_JOB_TABLE_BYTES(table.room),
    };
    snprintf(head.nspace, sizeof head.nspace, "pool-%016llx", (unsigned long long)cookie);
    bool written = ftruncate(fd, 0) == 0 &&
                   fallocate(fd, 0, 0, (off_t)head.bytes) == 0 && /* a full disk is no SIGBUS later */
                   pwrite(fd, &table, sizeof table, (off_t)head.table) == (ssize_t)sizeof table &&
                   pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
    return written ? MPI_SUCCESS : pl_fail_errno(MPI_ERR_OTHER, "cannot make a pool of %d processes", size);
}

/* The pool in a file, mapped. Not recorded: `why` is not NULL when it is none. */
static int map_pool(int fd, struct pl_seat *seat, const char **why)
{
    struct stat st;
    *why = NULL;
    if (fstat(fd, &st) != 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot look at the file of a pool");
    *why = "it is shorter than its header";
    if ((size_t)st.st_size < sizeof(struct pl_job_segment))
        return MPI_ERR_OTHER;
    *why = NULL;
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot map the file of a pool");
    seat->job = at;
    seat->bytes = (size_t)st.st_size;
    *why = pl_job_segment_check(seat->job, seat->bytes, seat->job->cookie, 0);
    if (!*why && strncmp(seat->job->nspace, "pool-", 5) != 0)
        *why = "it is the segment of a job";
    if (!*why)
        return MPI_SUCCESS;
    munmap(at, seat->bytes);
    seat->job = NULL;
    return MPI_ERR_OTHER;
}

/* --- ranks ------------------------------------------------------------------------------------------------------- */

static int fail_taken(const struct pl_seat *seat, int rank)
{
    pid_t pid = locked_by(seat->fd, rank, 1);
    return pl_fail(MPI_ERR_OTHER, "rank %d of the pool%s%.300s belongs to process %d, which is attached", rank,
                   seat->path ? " in " : "", seat->path ? seat->path : "", (int)pid);
}

/* It has neither left nor been replaced, and is not there. */
static bool attach_file_died(const struct pl_seat *seat, int rank)
{
    const struct pl_job_rank *peer = &seat->job->ranks[rank];
    if (atomic_load(&peer->owner) <= 0 || locked_by(seat->fd, rank, 1) != 0)
        return false;
    /* It may have left, or another taken its place, between the two questions. */
    return atomic_load(&peer->owner) > 0 && locked_by(seat->fd, rank, 1) == 0;
}

int pl_seat_claim(struct pl_seat *seat, int rank)
{
    struct pl_job_rank *own = &seat->job->ranks[rank];
    seat->settled = pl_calloc(seat->job->size, sizeof *seat->settled);
    if (!seat->settled)
        return pl_fail_memory("a place in a pool");
    if (record_lock(seat->fd, F_WRLCK, rank) != 0)
        return fail_taken(seat, rank);
    for (int r = 0; r < (int)seat->job->size; r++)
        if (r != rank && attach_file_died(seat, r))
            seat->settled[r] = (uint32_t)atomic_load(&seat->job->ranks[r].gone) + 1;
    if (atomic_load(&own->owner) > 0)
        atomic_fetch_add(&own->gone, 1); /* who had it died with it */
    for (int i = 0; i < PL_CARD_SLOTS; i++)
        pl_job_card_withdraw(&own->card[i]);
    atomic_store(&own->state, PL_PROC_STARTED);
    atomic_fetch_add(&own->claims, 1);
    atomic_store(&own->owner, (int32_t)getpid());
    seat->rank = rank;
    return MPI_SUCCESS;
}

uint32_t pl_seat_deaths(const struct pl_seat *seat, int rank)
{
    uint32_t now = (uint32_t)atomic_load(&seat->job->ranks[rank].gone);
    return now < seat->settled[rank] ? seat->settled[rank] : now;
}

int pl_seat_card(const struct pl_seat *seat, int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    const struct pl_job_card *from = &seat->job->ranks[rank].card[slot];
    if (rank != seat->rank && attach_file_died(seat, rank))
        return pl_seat_alive(seat, rank) ? pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has died", rank)
                                         : PL_AGAIN;
    return pl_job_card_read(from, card, length) ? MPI_SUCCESS : PL_AGAIN;
}

int pl_seat_alive(const struct pl_seat *seat, int rank)
{
    bool news = rank != seat->rank && attach_file_died(seat, rank) &&
                (uint32_t)atomic_load(&seat->job->ranks[rank].gone) >= seat->settled[rank];
    return news ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

void pl_seat_leave(struct pl_seat *seat)
{
    if (seat->rank >= 0) {
        struct pl_job_rank *own = &seat->job->ranks[seat->rank];
        for (int i = 0; i < PL_CARD_SLOTS; i++)
            pl_job_card_withdraw(&own->card[i]);
        atomic_store(&own->owner, 0);
    }
    if (seat->path && seat->removed_by_last && become_maker(seat->fd, seat->path) == MPI_SUCCESS &&
        locked_by(seat->fd, 0, MAKER) == 0)
        unlink(seat->path);
    if (seat->job)
        munmap(seat->job, seat->bytes);
    if (seat->fd >= 0)
        close(seat->fd);
    free(seat->path);
    free(seat->settled);
    *seat = (struct pl_seat){ .fd = -1, .rank = -1 };
}

/* Without a trace: it was never entered. */
static void attach_file_drop(struct pl_seat *seat)
{
    free(seat->path);
    seat->path = NULL;
    pl_seat_leave(seat);
}

/* --- with a name ------------------------------------------------------------------------------------------------- */

static int check_file(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot look at \"%.300s\"", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return pl_fail(
            MPI_ERR_OTHER,
            "\"%.300s\" is no file of this user alone (owner %u, mode %04o), so no pool is trusted to be in it: "
            "remove it, or use another directory",
            path, (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777));
    return MPI_SUCCESS;
}

/* The file with its maker's lock. It may have been removed by the last who left while this process waited for the
 * lock. */
static int open_locked(struct pl_seat *seat)
{
    int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | (seat->removed_by_last ? O_CREAT | O_NOFOLLOW : 0);
    for (;;) {
        struct stat st;
        seat->fd = open(seat->path, flags, 0600);
        if (seat->fd < 0)
            return pl_fail_errno(MPI_ERR_OTHER, "cannot open the pool's file \"%.300s\"", seat->path);
        int rc = check_file(seat->fd, seat->path);
        if (rc == MPI_SUCCESS)
            rc = become_maker(seat->fd, seat->path);
        if (rc || !seat->removed_by_last || (fstat(seat->fd, &st) == 0 && st.st_nlink > 0))
            return rc;
        close(seat->fd);
    }
}

/* What is in the file counts while somebody is attached; what the dead left behind is used again if it fits. */
static int attach_file_enter(struct pl_seat *seat, int size)
{
    const char *why;
    int rc = map_pool(seat->fd, seat, &why);
    if (rc == MPI_SUCCESS && (int)seat->job->size == size)
        return MPI_SUCCESS;
    if (rc && !why)
        return rc;
    pid_t pid = locked_by(seat->fd, 0, MAKER);
    if (pid != 0)
        return rc ? pl_fail(MPI_ERR_OTHER, "\"%.300s\", where process %d is attached, is no pool that can be used: %s",
                            seat->path, (int)pid, why)
                  : pl_fail(MPI_ERR_ARG,
                            "size is %d, but the pool in \"%.300s\", where process %d is attached, has %d places", size,
                            seat->path, (int)pid, (int)seat->job->size);
    if (seat->job)
        munmap(seat->job, seat->bytes);
    seat->job = NULL;
    uint64_t cookie;
    if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a pool");
    rc = write_pool(seat->fd, size, cookie);
    if (rc)
        return rc;
    rc = map_pool(seat->fd, seat, &why);
    return rc && why ? pl_fail(MPI_ERR_INTERN, "\"%.300s\" was made and is no pool: %s", seat->path, why) : rc;
}

int pl_seat_in_directory(const char *directory, int rank, int size, struct pl_seat *seat)
{
    struct stat st;
    *seat = (struct pl_seat){ .fd = -1, .rank = -1 };
    seat->removed_by_last = stat(directory, &st) != 0 || !S_ISREG(st.st_mode); /* else it is the file itself */
    if (asprintf(&seat->path, seat->removed_by_last ? "%s/%s" : "%s", directory, PL_ATTACH_FILE) < 0) {
        seat->path = NULL;
        return pl_fail_memory("the name of a pool's file");
    }
    int rc = open_locked(seat);
    if (rc == MPI_SUCCESS)
        rc = attach_file_enter(seat, size);
    if (rc == MPI_SUCCESS)
        rc = pl_seat_claim(seat, rank);
    if (rc == MPI_SUCCESS)
        record_lock(seat->fd, F_UNLCK, MAKER);
    else
        attach_file_drop(seat);
    return rc;
}

/* --- without a name ---------------------------------------------------------------------------------------------- */

int pl_seat_make(int size, uint64_t cookie, struct pl_seat *seat)
{
    const char *why;
    *seat = (struct pl_seat){ .rank = -1 };
    seat->fd = memfd_create("plenum-pool", MFD_CLOEXEC);
    if (seat->fd < 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot make the memory of a pool");
    int rc = write_pool(seat->fd, size, cookie);
    if (rc == MPI_SUCCESS)
        rc = map_pool(seat->fd, seat, &why);
    if (rc)
        attach_file_drop(seat);
    return rc;
}

int pl_seat_open(int pid, int fd, int size, uint64_t cookie, struct pl_seat *seat)
{
    char path[48];
    const char *why = NULL;
    *seat = (struct pl_seat){ .rank = -1 };
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    seat->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (seat->fd < 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot open the pool's memory, %s", path);
    int rc = map_pool(seat->fd, seat, &why);
    if (rc == MPI_SUCCESS && ((int)seat->job->size != size || seat->job->cookie != cookie))
        rc = pl_fail(MPI_ERR_OTHER, "%s is the memory of another pool", path);
    else if (rc && why)
        rc = pl_fail(MPI_ERR_OTHER, "%s is not the memory of a pool: %s", path, why);
    if (rc)
        attach_file_drop(seat);
    return rc;
}
