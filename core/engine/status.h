/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal fields of MPI_Status: the number of bytes received, in two ints since the struct is aligned for int
 * only, and whether the operation was cancelled.
 *
 * pl_status_set() and pl_status_empty() accept MPI_STATUS_IGNORE, a null pointer.
 */
#ifndef PLENUM_CORE_ENGINE_STATUS_H
#define PLENUM_CORE_ENGINE_STATUS_H

#include <string.h>

#include "core/engine/request.h"
#include "mpi.h"

enum {
    PL_STATUS_BYTES = 0, /* and the next one */
    PL_STATUS_CANCELLED = 2,
};

static inline void pl_status_set_bytes(MPI_Status *status, MPI_Count bytes)
{
    memcpy(&status->MPI_internal[PL_STATUS_BYTES], &bytes, sizeof bytes);
}

static inline MPI_Count pl_status_bytes(const MPI_Status *status)
{
    MPI_Count bytes;
    memcpy(&bytes, &status->MPI_internal[PL_STATUS_BYTES], sizeof bytes);
    return bytes;
}

static inline void pl_status_set_cancelled(MPI_Status *status, bool cancelled)
{
    status->MPI_internal[PL_STATUS_CANCELLED] = cancelled;
}

static inline bool pl_status_cancelled(const MPI_Status *status)
{
    return status->MPI_internal[PL_STATUS_CANCELLED] != 0;
}

/* Sets all fields except MPI_ERROR, which only functions with arrays of statuses assign. */
static inline void pl_status_set(MPI_Status *status, const struct pl_outcome *outcome)
{
    if (!status)
        return;
    status->MPI_SOURCE = outcome->source;
    status->MPI_TAG = outcome->tag;
    pl_status_set_bytes(status, outcome->bytes);
    pl_status_set_cancelled(status, outcome->cancelled);
}

/* Sets the empty status of MPI-5.0 section 3.7.3, for null and inactive requests, with MPI_ERROR. */
static inline void pl_status_empty(MPI_Status *status)
{
    if (!status)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    pl_status_set_bytes(status, 0);
    pl_status_set_cancelled(status, false);
}

#endif
