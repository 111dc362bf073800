/* SPDX-License-Identifier: BSD-3-Clause */
/* While a process is attached it is open (core/job/process.h), with its identity in the pool. */
#include "core/job/attach.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/job/process.h"

enum { FREE, BUSY, ATTACHED };
static _Atomic int attach_state = FREE;

/* A seat for the bootstrap: written before `prepared` is set, and taken when the process is opened. */
static struct pl_seat prepared_seat;
static _Atomic bool prepared;

static int attach_check_rank(int rank, int size)
{
    if (size < 1 || size > PL_ATTACH_MAX)
        return pl_fail(MPI_ERR_ARG, "size is %d, allowed are 1 to %d processes in a pool", size, PL_ATTACH_MAX);
    if (rank < 0 || rank >= size)
        return pl_fail(MPI_ERR_RANK, "rank is %d, but a pool of %d has the ranks 0 to %d", rank, size, size - 1);
    return MPI_SUCCESS;
}

static int attach_fail_open(void)
{
    return pl_fail(MPI_ERR_OTHER, "MPI is in use in this process: attach before MPI_Init and the first session, or "
                                  "after all have been finalized");
}

static int attach_begin(int rank, int size)
{
    int expected = FREE;
    int rc = attach_check_rank(rank, size);
    if (rc)
        return rc;
    if (!atomic_compare_exchange_strong(&attach_state, &expected, BUSY))
        return pl_fail(MPI_ERR_OTHER, "this process is attached to a pool already: detach first");
    pl_lock_take(&pl_process.lock);
    bool open = pl_process.instances > 0;
    pl_lock_drop(&pl_process.lock);
    if (!open)
        return MPI_SUCCESS;
    atomic_store(&attach_state, FREE);
    return attach_fail_open();
}

/* Opens the process with the prepared seat. */
static int attach_enter(void)
{
    atomic_store(&prepared, true);
    int rc = pl_process_open();
    if (atomic_exchange(&prepared, false)) { /* not taken: the opening failed early, or the process was already open */
        pl_seat_leave(&prepared_seat);
        if (rc == MPI_SUCCESS) {
            pl_process_close();
            rc = attach_fail_open();
        }
    }
    return rc;
}

static int attach_finish(int rc)
{
    atomic_store(&attach_state, rc ? FREE : ATTACHED);
    return rc;
}

int pl_attach_directory(const char *directory, int rank, int size)
{
    int rc = attach_begin(rank, size);
    if (rc)
        return rc;
    rc = pl_seat_in_directory(directory, rank, size, &prepared_seat);
    return attach_finish(rc ? rc : attach_enter());
}

int pl_attach_end(void)
{
    int expected = ATTACHED;
    int rc = pl_process_check_forked();
    if (rc)
        return rc;
    if (!atomic_compare_exchange_strong(&attach_state, &expected, BUSY))
        return pl_fail(MPI_ERR_OTHER, "this process is not attached to a pool by MPIX_Attach or MPIX_Attach_exchange");
    pl_lock_take(&pl_process.lock);
    int others = pl_process.instances - 1;
    pl_lock_drop(&pl_process.lock);
    if (others > 0) {
        atomic_store(&attach_state, ATTACHED);
        return pl_fail(MPI_ERR_OTHER, "MPI is in use: finalize the sessions and the World (%d) before detaching",
                       others);
    }
    pl_process_close();
    atomic_store(&attach_state, FREE);
    return MPI_SUCCESS;
}

/* --- for the bootstrap ------------------------------------------------------------------------------------------- */

/* DIRECTORY:RANK:SIZE; the directory may have colons. */
static int attach_take_environment(const char *text, struct pl_seat *seat)
{
    char directory[4096];
    const char *last = strrchr(text, ':'), *middle = last;
    int rank, size, end = 0;
    while (middle && middle > text && *--middle != ':')
        continue;
    size_t length = middle && *middle == ':' ? (size_t)(middle - text) : 0;
    if (length == 0 || length >= sizeof directory || sscanf(middle, ":%d:%d%n", &rank, &size, &end) != 2 ||
        middle[end] != '\0')
        return pl_fail(MPI_ERR_ARG,
                       PL_ATTACH_ENV " is \"%.200s\": it must be DIRECTORY:RANK:SIZE; unset it to start alone", text);
    memcpy(directory, text, length);
    directory[length] = '\0';
    int rc = attach_check_rank(rank, size);
    return rc ? rc : pl_seat_in_directory(directory, rank, size, seat);
}

int pl_attach_take(struct pl_seat *seat)
{
    if (atomic_load(&prepared)) {
        *seat = prepared_seat;
        prepared_seat = (struct pl_seat){ .fd = -1, .rank = -1 };
        atomic_store(&prepared, false);
        return MPI_SUCCESS;
    }
    const char *text = secure_getenv(PL_ATTACH_ENV);
    return text && !secure_getenv(PL_JOB_ENV) ? attach_take_environment(text, seat) : PL_UNREACHABLE;
}

/* --- by exchange -------------------------------------------------------------------------------------------------- */

/* What each process gives to all: in the first round where the memory is, in the second the result of entering it. */
struct attach_card {
    uint64_t magic, cookie;
    int32_t rank, size, pid, fd;
    int32_t error;
    char machine[40]; /* its boot id */
};
#define CARD_MAGIC 0x31444e454c50ull

struct attach_round {
    MPIX_Exchange_function *exchange;
    void *context;
    struct attach_card mine;
    struct attach_card *all; /* [size] */
};

static int attach_read_machine(char machine[40])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool read = file && fgets(machine, 40, file);
    if (file)
        fclose(file);
    if (!read)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot tell this machine from others (/proc/sys/kernel/random/boot_id)");
    machine[strcspn(machine, "\n")] = '\0';
    return MPI_SUCCESS;
}

/* One round. The user's code brings the result, so it is checked. */
static int attach_one_round(struct attach_round *r)
{
    int result = r->exchange(&r->mine, r->all, (int)sizeof r->mine, r->context);
    if (result != 0)
        return pl_fail(MPI_ERR_OTHER, "the exchange callback returned %d, not 0 for success", result);
    for (int i = 0; i < r->mine.size; i++)
        if (r->all[i].magic != CARD_MAGIC || r->all[i].rank != i || r->all[i].size != r->mine.size)
            return pl_fail(
                MPI_ERR_ARG,
                "element %d of the exchange callback's result does not come from rank %d of %d: the callback must "
                "gather %zu bytes of each process, in the order of ranks",
                i, i, r->mine.size, sizeof(struct attach_card));
    return MPI_SUCCESS;
}

/* All processes see the same cards and come to the same result. */
static int attach_check_round(const struct attach_round *r)
{
    for (int i = 0; i < r->mine.size; i++)
        if (r->all[i].error)
            return i == r->mine.rank ? r->all[i].error
                                     : pl_fail(MPI_ERR_OTHER, "rank %d of the pool cannot enter it: %s", i,
                                               pl_error_class_text(r->all[i].error));
    for (int i = 0; i < r->mine.size; i++)
        if (memcmp(r->all[i].machine, r->all[0].machine, sizeof r->all[i].machine) != 0)
            return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                           "ranks 0 and %d of the pool are on different machines; a pool is on one machine", i);
    return MPI_SUCCESS;
}

static int attach_open_seat(const struct attach_round *r, struct pl_seat *seat)
{
    const struct attach_card *first = &r->all[0];
    int rc = r->mine.rank == 0 ? MPI_SUCCESS : pl_seat_open(first->pid, first->fd, r->mine.size, first->cookie, seat);
    if (rc == MPI_SUCCESS)
        rc = pl_seat_claim(seat, r->mine.rank);
    return rc;
}

/* Rank 0 creates the memory and the others open it; no process continues before all have. */
static int attach_two_rounds(struct attach_round *r, struct pl_seat *seat)
{
    int rc = attach_read_machine(r->mine.machine);
    if (rc == MPI_SUCCESS && getrandom(&r->mine.cookie, sizeof r->mine.cookie, 0) != sizeof r->mine.cookie)
        rc = pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a pool");
    if (rc == MPI_SUCCESS && r->mine.rank == 0)
        rc = pl_seat_make(r->mine.size, r->mine.cookie, seat);
    r->mine.pid = getpid();
    r->mine.fd = seat->fd;
    r->mine.error = rc;
    rc = attach_one_round(r);
    if (rc == MPI_SUCCESS)
        rc = attach_check_round(r);
    if (rc)
        return rc;
    r->mine.error = attach_open_seat(r, seat);
    rc = attach_one_round(r);
    return rc ? rc : attach_check_round(r);
}

int pl_attach_exchange(MPIX_Exchange_function *function, void *context, int rank, int size)
{
    int rc = attach_begin(rank, size);
    if (rc)
        return rc;
    struct attach_round r = { function, context, .mine = { .magic = CARD_MAGIC, .rank = rank, .size = size } };
    prepared_seat = (struct pl_seat){ .fd = -1, .rank = -1 };
    r.all = pl_calloc((size_t)size, sizeof *r.all);
    rc = r.all ? attach_two_rounds(&r, &prepared_seat) : pl_fail_memory("the cards of a pool");
    free(r.all);
    if (rc)
        pl_seat_leave(&prepared_seat);
    return attach_finish(rc ? rc : attach_enter());
}
