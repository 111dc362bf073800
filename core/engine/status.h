/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a status holds behind MPI_SOURCE, MPI_TAG and MPI_ERROR: the number of bytes received, in two ints since the
 * struct is aligned for int only, and whether the operation was cancelled.
 *
 * MPI_STATUS_IGNORE is a null pointer and is accepted by the setters.
 */
#ifndef PLENUM_CORE_ENGINE_STATUS_H
#define PLENUM_CORE_ENGINE_STATUS_H

#include <string.h>

#include "core/engine/request.h"
#include "mpi.h"

enum {
    PL_STATUS_BYTES = 0, /* and the one after it */
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

/* All but MPI_ERROR, which belongs to the functions that fill arrays of statuses: they assign it themselves. */
static inline void pl_status_set(MPI_Status *status, const struct pl_outcome *outcome)
{
    if (!status)
        return;
    status->MPI_SOURCE = outcome->source;
    status->MPI_TAG = outcome->tag;
    pl_status_set_bytes(status, outcome->bytes);
    pl_status_set_cancelled(status, outcome->cancelled);
}

/* The empty status of MPI-5.0 section 3.7.3, for null and inactive requests; MPI_ERROR included. */
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
