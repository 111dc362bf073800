/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record locks in the file of a pool: byte r belongs to rank r. A process that creates, enters or leaves a named file
 * locks the byte MAKER, so that one process creates the file and the last one removes it.
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
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_limit.h"
#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/job/card.h"
#include "core/job/sets.h"

enum {
    MAKER = 1 << 24,
    MAKER_WAIT_MS = 5000,
    TABLE_CAPACITY = 16384, /* for published process sets */
};

/* --- locks ----------------------------------------------------------------------------------------------------- */

static int pool_lock(int fd, int type, off_t byte)
{
    struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    return fcntl(fd, F_SETLK, &lock);
}

/* The pid of another process that has a lock in the range; -1: it is unknown; 0: there is none. */
static pid_t pool_locked_by(int fd, off_t byte, off_t length)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = length };
    if (fcntl(fd, F_GETLK, &lock) != 0)
        return -1;
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid > 0 ? lock.l_pid : -1;
}

/* Processes hold it briefly; one that is stopped while it does must not block this process forever. */
static int pool_lock_maker(int fd, const char *path)
{
    for (int64_t deadline = pl_deadline_after_ms(MAKER_WAIT_MS); pool_lock(fd, F_WRLCK, MAKER) != 0;) {
        if (errno != EACCES && errno != EAGAIN)
            return pl_fail_errno(MPI_ERR_OTHER, "\"%.300s\" cannot be locked, so its file system cannot hold a pool",
                                 path);
        if (pl_deadline_passed(deadline))
            return pl_fail(MPI_ERR_OTHER, "\"%.300s\": process %d has been entering or leaving this pool for %d s",
                           path, (int)pool_locked_by(fd, MAKER, 1), MAKER_WAIT_MS / 1000);
        pl_clock_sleep_ns(PL_NS_PER_MS);
    }
    return MPI_SUCCESS;
}

/* --- the segment ------------------------------------------------------------------------------------------------- */

static size_t pool_table_offset(int size)
{
    return (sizeof(struct pl_job_shared) + (size_t)size * sizeof(struct pl_job_rank) + 63) / 64 * 64;
}

static uint32_t pool_table_capacity(int size)
{
    return (TABLE_CAPACITY + 8 * (uint32_t)size + 63) / 64 * 64;
}

/* The pages of the description. */
static size_t pool_description_bytes(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (sizeof(struct pl_job_segment) + page - 1) / page * page;
}

/* Writes an empty pool of `size` ranks; the old contents of the file are lost. */
static int pool_write(int fd, int size, uint64_t cookie)
{
    struct pl_job_segment head = {
        .magic = PL_JOB_MAGIC,
        .version = PL_JOB_VERSION,
        .size = (uint32_t)size,
        .cookie = cookie,
        .universe = (uint32_t)size,
        .bytes = pool_description_bytes(),
        .shared_bytes = pool_table_offset(size) + PL_JOB_TABLE_BYTES(pool_table_capacity(size)),
        .tenant_bytes = pool_table_offset(size) + PL_JOB_TABLE_BYTES(pool_table_capacity(size)),
        .tenants = 1,
        .shared_fd = -1,
        .table = pool_table_offset(size),
        .table_capacity = pool_table_capacity(size),
    };
    snprintf(head.nspace, sizeof head.nspace, "pool-%016llx", (unsigned long long)cookie);
    uint64_t bytes = head.bytes + head.shared_bytes;
    if (!pl_file_may_have(bytes))
        return pl_fail(MPI_ERR_OTHER,
                       "a pool of %d processes needs a file of %llu bytes, more than the limit allows "
                       "(ulimit -f)",
                       size, (unsigned long long)bytes);
    bool written = ftruncate(fd, 0) == 0 &&
                   /* a full disk must not raise SIGBUS later */
                   fallocate(fd, 0, 0, (off_t)bytes) == 0 && pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
    return written ? MPI_SUCCESS : pl_fail_errno(MPI_ERR_OTHER, "cannot create a pool of %d processes", size);
}

static void pool_unmap(struct pl_seat *seat)
{
    if (seat->job)
        munmap((void *)seat->job, seat->bytes);
    if (seat->shared)
        munmap(seat->shared, seat->shared_bytes);
    seat->job = NULL;
    seat->shared = NULL;
}

/* Maps both parts, as long as the file of `bytes` bytes says that they are. */
static int pool_map_parts(int fd, size_t bytes, struct pl_seat *seat)
{
    seat->bytes = pool_description_bytes();
    seat->shared_bytes = bytes - seat->bytes;
    void *job = mmap(NULL, seat->bytes, PROT_READ, MAP_SHARED, fd, 0);
    seat->job = job == MAP_FAILED ? NULL : job;
    void *shared = mmap(NULL, seat->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)seat->bytes);
    seat->shared = shared == MAP_FAILED ? NULL : shared;
    return seat->job && seat->shared ? MPI_SUCCESS : pl_fail_errno(MPI_ERR_OTHER, "cannot map the file of a pool");
}

/* Maps the pool in a file. If the file is not a pool, `*why` is the reason, and the error is not recorded. */
static int pool_map(int fd, struct pl_seat *seat, const char **why)
{
    struct stat st;
    *why = NULL;
    if (fstat(fd, &st) != 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot examine the file of a pool");
    *why = "it is shorter than its header";
    if (st.st_size <= (off_t)pool_description_bytes())
        return MPI_ERR_OTHER;
    *why = NULL;
    int rc = pool_map_parts(fd, (size_t)st.st_size, seat);
    if (rc == MPI_SUCCESS)
        *why = pl_job_segment_check(seat->job, seat->bytes, seat->job->cookie, 0);
    if (!rc && !*why && (seat->job->shared_bytes != seat->shared_bytes || strncmp(seat->job->nspace, "pool-", 5) != 0))
        *why = "it is not a pool";
    if (!rc && !*why)
        return MPI_SUCCESS;
    pool_unmap(seat);
    return MPI_ERR_OTHER;
}

/* --- ranks ------------------------------------------------------------------------------------------------------- */

/* Is the file at this path the pool's? */
static bool seat_file_is_at(const struct pl_seat *seat, const char *path)
{
    struct stat own, other;
    return fstat(seat->fd, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

/* Has the owner's process the pool's file as the descriptor that it has noted? No: a process that cannot be asked. */
static bool seat_owner_has_file(const struct pl_seat *seat, int rank)
{
    const struct pl_job_rank *peer = &seat->shared->ranks[rank];
    int32_t owner = atomic_load(&peer->owner), fd = atomic_load(&peer->fd);
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)owner, (int)fd);
    return owner > 0 && seat_file_is_at(seat, path);
}

static bool seat_rank_is_abandoned(const struct pl_seat *seat, int rank)
{
    return atomic_load(&seat->shared->ranks[rank].owner) > 0 && pool_locked_by(seat->fd, rank, 1) == 0 &&
           !seat_owner_has_file(seat, rank);
}

/* Has it neither departed nor been replaced, and yet gone? Between two questions it may have departed, or another
 * process may have taken its rank. */
static bool seat_rank_died(const struct pl_seat *seat, int rank)
{
    return seat_rank_is_abandoned(seat, rank) && seat_rank_is_abandoned(seat, rank);
}

/* The pid of a process that has a rank; -1: it is unknown; 0: there is none. */
static pid_t seat_user(const struct pl_seat *seat)
{
    pid_t pid = pool_locked_by(seat->fd, 0, MAKER);
    for (int r = 0; pid == 0 && r < (int)seat->job->size; r++)
        if (seat_owner_has_file(seat, r))
            pid = atomic_load(&seat->shared->ranks[r].owner);
    return pid;
}

static int seat_fail_taken(const struct pl_seat *seat, int rank)
{
    pid_t pid = pool_locked_by(seat->fd, rank, 1);
    if (pid <= 0)
        pid = atomic_load(&seat->shared->ranks[rank].owner);
    return pl_fail(MPI_ERR_OTHER, "rank %d of the pool%s%.300s belongs to process %d, which is attached", rank,
                   seat->path ? " in " : "", seat->path ? seat->path : "", (int)pid);
}

int pl_seat_claim(struct pl_seat *seat, int rank)
{
    struct pl_job_rank *own = &seat->shared->ranks[rank];
    seat->settled = pl_calloc(seat->job->size, sizeof *seat->settled);
    if (!seat->settled)
        return pl_fail_memory("a rank in a pool");
    if (seat_owner_has_file(seat, rank) || pool_lock(seat->fd, F_WRLCK, rank) != 0)
        return seat_fail_taken(seat, rank);
    for (int r = 0; r < (int)seat->job->size; r++) {
        uint32_t deaths = atomic_load(&seat->shared->ranks[r].deaths); /* first: see pl_seat_alive() */
        if (r != rank && seat_rank_died(seat, r))
            seat->settled[r] = deaths + 1;
    }
    if (atomic_load(&own->owner) > 0)
        atomic_fetch_add(&own->deaths, 1); /* its holder died without releasing it */
    for (int i = 0; i < PL_CARD_SLOTS; i++)
        pl_job_card_withdraw(&own->card[i]);
    atomic_store(&own->state, PL_PROCESS_STARTED);
    atomic_fetch_add(&own->claims, 1);
    atomic_store(&own->fd, seat->fd);
    atomic_store(&own->owner, (int32_t)getpid());
    seat->rank = rank;
    return MPI_SUCCESS;
}

uint32_t pl_seat_deaths(const struct pl_seat *seat, int rank)
{
    uint32_t now = atomic_load(&seat->shared->ranks[rank].deaths);
    return now < seat->settled[rank] ? seat->settled[rank] : now;
}

int pl_seat_card(const struct pl_seat *seat, int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    const struct pl_job_card *from = &seat->shared->ranks[rank].card[slot];
    if (pl_far_has(seat->far, rank))
        return slot == PL_CARD_LISTENER ? pl_far_card(seat->far, rank, card, length) : PL_AGAIN;
    if (rank != seat->rank && seat_rank_died(seat, rank))
        return pl_seat_alive(seat, rank) ? pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has died", rank)
                                         : PL_AGAIN;
    return pl_job_card_read(from, card, length) ? MPI_SUCCESS : PL_AGAIN;
}

int pl_seat_alive(const struct pl_seat *seat, int rank)
{
    if (pl_far_has(seat->far, rank))
        return PL_AGAIN;
    /* Counted first: a process that takes over the rank of a dead one counts that death, and is alive itself. */
    uint32_t deaths = atomic_load(&seat->shared->ranks[rank].deaths);
    bool died = rank != seat->rank && seat_rank_died(seat, rank) && deaths >= seat->settled[rank];
    return died ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

void pl_seat_leave(struct pl_seat *seat)
{
    if (seat->rank >= 0) {
        struct pl_job_rank *own = &seat->shared->ranks[seat->rank];
        for (int i = 0; i < PL_CARD_SLOTS; i++)
            pl_job_card_withdraw(&own->card[i]);
        atomic_store(&own->owner, 0);
    }
    /* What cleans up old files may have removed this one, and other processes may have a new pool at its path. */
    if (seat->path && seat->removed_by_last && pool_lock_maker(seat->fd, seat->path) == MPI_SUCCESS &&
        seat_user(seat) == 0 && seat_file_is_at(seat, seat->path))
        unlink(seat->path);
    pool_unmap(seat);
    if (seat->fd >= 0)
        close(seat->fd);
    free(seat->path);
    free(seat->settled);
    pl_far_release(seat->far);
    *seat = (struct pl_seat){ .fd = -1, .rank = -1 };
}

/* Closes a pool that was never entered, and leaves its file. */
static void seat_drop(struct pl_seat *seat)
{
    free(seat->path);
    seat->path = NULL;
    pl_seat_leave(seat);
}

/* --- named files -------------------------------------------------------------------------------------------------- */

static int pool_check_file(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot examine \"%.300s\"", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return pl_fail(
            MPI_ERR_OTHER,
            "\"%.300s\" is not a file of this user alone (owner %u, mode %04o), so no pool in it can be trusted: "
            "remove it, or use another directory",
            path, (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777));
    return MPI_SUCCESS;
}

/* Opens the file and locks MAKER. The last process that left may have removed the file while this one waited for the
 * lock. */
static int seat_open_locked(struct pl_seat *seat)
{
    int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | (seat->removed_by_last ? O_CREAT | O_NOFOLLOW : 0);
    for (;;) {
        struct stat st;
        seat->fd = open(seat->path, flags, 0600);
        if (seat->fd < 0)
            return pl_fail_errno(MPI_ERR_OTHER, "cannot open the pool's file \"%.300s\"", seat->path);
        int rc = pool_check_file(seat->fd, seat->path);
        if (rc == MPI_SUCCESS)
            rc = pool_lock_maker(seat->fd, seat->path);
        if (rc || !seat->removed_by_last || (fstat(seat->fd, &st) == 0 && st.st_nlink > 0))
            return rc;
        close(seat->fd);
    }
}

/* The contents of the file count while a process is attached. A pool that dead processes left is used again if it has
 * the right size. */
static int seat_enter_file(struct pl_seat *seat, int size)
{
    const char *why;
    int rc = pool_map(seat->fd, seat, &why);
    if (rc == MPI_SUCCESS && (int)seat->job->size == size)
        return MPI_SUCCESS;
    if (rc && !why)
        return rc;
    pid_t pid = rc ? pool_locked_by(seat->fd, 0, MAKER) : seat_user(seat);
    if (pid != 0)
        return rc ? pl_fail(MPI_ERR_OTHER, "\"%.300s\", where process %d is attached, is not a usable pool: %s",
                            seat->path, (int)pid, why)
                  : pl_fail(MPI_ERR_ARG,
                            "size is %d, but the pool in \"%.300s\", where process %d is attached, has %d ranks", size,
                            seat->path, (int)pid, (int)seat->job->size);
    pool_unmap(seat);
    uint64_t cookie;
    if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a pool");
    rc = pool_write(seat->fd, size, cookie);
    if (rc) {
        if (seat->removed_by_last)
            unlink(seat->path); /* no process is attached, and this one will not be */
        return rc;
    }
    rc = pool_map(seat->fd, seat, &why);
    return rc && why ? pl_fail(MPI_ERR_INTERN, "\"%.300s\" was created and is not a pool: %s", seat->path, why) : rc;
}

/* The last process removes the file, wherever it has gone by then: the path is absolute. */
static int seat_set_path(struct pl_seat *seat, const char *directory)
{
    char *here = directory[0] == '/' ? pl_strdup("") : pl_getcwd();
    if (!here)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot tell where \"%.300s\" is", directory);
    int length = pl_asprintf(&seat->path, "%s%s%s%s%s", here, here[0] ? "/" : "", directory,
                             seat->removed_by_last ? "/" : "", seat->removed_by_last ? PL_ATTACH_FILE : "");
    free(here);
    return length < 0 ? pl_fail_memory("the name of a pool's file") : MPI_SUCCESS;
}

int pl_seat_in_directory(const char *directory, int rank, int size, struct pl_seat *seat)
{
    struct stat st;
    *seat = (struct pl_seat){ .fd = -1, .rank = -1 };
    seat->removed_by_last = stat(directory, &st) != 0 || !S_ISREG(st.st_mode); /* else the path is the file itself */
    int rc = seat_set_path(seat, directory);
    if (rc)
        return rc;
    rc = seat_open_locked(seat);
    if (rc == MPI_SUCCESS)
        rc = seat_enter_file(seat, size);
    if (rc == MPI_SUCCESS)
        rc = pl_seat_claim(seat, rank);
    if (rc == MPI_SUCCESS)
        pool_lock(seat->fd, F_UNLCK, MAKER);
    else
        seat_drop(seat);
    return rc;
}

/* --- anonymous files ---------------------------------------------------------------------------------------------- */

int pl_seat_make(int size, uint64_t cookie, struct pl_seat *seat)
{
    const char *why;
    *seat = (struct pl_seat){ .rank = -1 };
    seat->fd = memfd_create("plenum-pool", MFD_CLOEXEC);
    if (seat->fd < 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot create the memory of a pool");
    int rc = pool_write(seat->fd, size, cookie);
    if (rc == MPI_SUCCESS)
        rc = pool_map(seat->fd, seat, &why);
    if (rc)
        seat_drop(seat);
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
    int rc = pool_map(seat->fd, seat, &why);
    if (rc == MPI_SUCCESS && ((int)seat->job->size != size || seat->job->cookie != cookie))
        rc = pl_fail(MPI_ERR_OTHER, "%s is the memory of another pool", path);
    else if (rc && why)
        rc = pl_fail(MPI_ERR_OTHER, "%s is not the memory of a pool: %s", path, why);
    if (rc)
        seat_drop(seat);
    return rc;
}
