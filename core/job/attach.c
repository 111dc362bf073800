/* SPDX-License-Identifier: BSD-3-Clause */
/* While a process is attached it is open (core/job/process.h), with its identity in the pool. */
#include "core/job/attach.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/job/attach_rounds.h"
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

static int attach_end(int rc)
{
    atomic_store(&attach_state, rc ? FREE : ATTACHED);
    return rc;
}

int pl_attach_directory(const char *directory, int rank, int size)
{
    if (!directory[0])
        return pl_fail(MPI_ERR_ARG, "directory is \"\"; the working directory is \".\"");
    int rc = attach_begin(rank, size);
    if (rc)
        return rc;
    rc = pl_seat_in_directory(directory, rank, size, &prepared_seat);
    return attach_end(rc ? rc : attach_enter());
}

int pl_detach(void)
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
    if (!pl_process_close_last()) {
        atomic_store(&attach_state, ATTACHED);
        return pl_fail(MPI_ERR_OTHER, "MPI is in use: another thread has begun a session while this one was detaching");
    }
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

/* On several machines: the process opens before the last round, since its address is known only then. */
static int attach_enter_far(struct pl_attach_rounds *rounds, pl_attach_address *address)
{
    struct pl_far *far = prepared_seat.far;
    unsigned char card[PL_CARD_MAX];
    size_t length = 0;
    int result = rounds->entered ? rounds->entered : attach_enter();
    bool open = result == MPI_SUCCESS;
    if (open)
        result = address(card, &length);
    int rc = pl_rounds_tell(rounds, result, card, length, far);
    if (rc && open)
        pl_process_close();
    return rc;
}

int pl_attach_exchange(MPIX_Exchange_function *function, void *context, int rank, int size, pl_attach_address *address)
{
    int rc = attach_begin(rank, size);
    if (rc)
        return rc;
    struct pl_attach_rounds rounds = { .exchange = function, .context = context };
    prepared_seat = (struct pl_seat){ .fd = -1, .rank = -1 };
    rc = pl_rounds_hold(&rounds, rank, size, &prepared_seat);
    if (rc == MPI_SUCCESS)
        rc = pl_rounds_is_far(&rounds) ? attach_enter_far(&rounds, address) : attach_enter();
    if (rc)
        pl_seat_leave(&prepared_seat); /* unless it was taken */
    pl_rounds_end(&rounds);
    return attach_end(rc);
}
