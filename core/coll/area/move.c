/* SPDX-License-Identifier: BSD-3-Clause */
/* See move.h. Each function does the `bytes` bytes from `at` on of every block. */
#include "core/coll/area/move.h"

#include "core/coll/area/copy.h"

/* The block for a rank, and the one from a rank. */
static inline struct pl_block sent_to(const struct pl_coll *coll, int rank)
{
    return pl_block_slice(pl_coll_sent(coll), rank * coll->sendcount, coll->sendcount);
}

static inline struct pl_block received_from(const struct pl_coll *coll, int rank)
{
    return pl_block_slice(pl_coll_received(coll), rank * coll->recvcount, coll->recvcount);
}

/* Where the block for a rank is in another rank's slot, which has none for the owner. */
static inline size_t area_offset_of(int owner, int rank, size_t bytes)
{
    return (size_t)(rank - (rank > owner)) * bytes;
}

/* --- one to all, all to one --------------------------------------------------------------------------------------- */

int pl_area_bcast(struct pl_area_call *call, size_t at, size_t bytes)
{
    struct pl_block block = pl_coll_received(call->coll);
    const void *data = NULL;
    void *slot;
    int rc;
    if (call->rank == call->root) {
        if ((rc = pl_area_reserve(call->area, bytes, &slot)) != MPI_SUCCESS)
            return rc;
        pl_area_pack(block, at, slot, bytes);
        pl_area_publish(call->area, -1);
    } else if ((rc = pl_area_wait(call, call->root, &bytes, &data)) == MPI_SUCCESS) {
        pl_area_unpack(call, data, bytes, block, at);
    }
    return rc;
}

int pl_area_scatter(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    size_t all = bytes * (size_t)(call->size - 1), written = all;
    const void *data = NULL;
    void *slot;
    int rc;
    if (call->rank != call->root) {
        if ((rc = pl_area_wait(call, call->root, &written, &data)) == MPI_SUCCESS && written == all)
            pl_area_unpack(call, (const char *)data + area_offset_of(call->root, call->rank, bytes), bytes,
                           pl_coll_received(coll), at);
        return rc;
    }
    if ((rc = pl_area_reserve(call->area, all, &slot)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_area_pack(sent_to(coll, i), at, (char *)slot + area_offset_of(call->rank, i, bytes), bytes);
    pl_area_publish(call->area, -1);
    if (coll->recvbuf != MPI_IN_PLACE)
        pl_area_copy_own(call, sent_to(coll, call->rank), pl_coll_received(coll), at, bytes);
    return rc;
}

int pl_area_gather(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    const void *data = NULL;
    void *slot;
    int rc = MPI_SUCCESS;
    if (call->rank != call->root) {
        if ((rc = pl_area_reserve(call->area, bytes, &slot)) == MPI_SUCCESS) {
            pl_area_pack(pl_coll_sent(coll), at, slot, bytes);
            pl_area_publish(call->area, call->root);
        }
        return rc;
    }
    if (!pl_coll_in_place(coll))
        pl_area_copy_own(call, pl_coll_sent(coll), received_from(coll, call->rank), at, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < call->size; i++) {
        size_t written = bytes;
        if (i != call->rank && (rc = pl_area_wait(call, i, &written, &data)) == MPI_SUCCESS)
            pl_area_unpack(call, data, written, received_from(coll, i), at);
    }
    return rc;
}

/* --- all to all --------------------------------------------------------------------------------------------------- */

int pl_area_barrier(struct pl_area_call *call, size_t at, size_t bytes)
{
    void *slot;
    int rc = pl_area_reserve(call->area, bytes, &slot);
    (void)at;
    if (rc)
        return rc;
    pl_area_publish(call->area, -1);
    return pl_area_wait_all(call->area, NULL, bytes); /* it has no arguments */
}

int pl_area_allgather(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    struct pl_block result = received_from(coll, call->rank), own = in_place ? result : pl_coll_sent(coll);
    void *slot;
    int rc = pl_area_reserve(call->area, bytes, &slot);
    if (rc)
        return rc;
    pl_area_pack(own, at, slot, bytes);
    pl_area_publish(call->area, -1);
    if (!in_place)
        pl_area_copy_own(call, own, result, at, bytes);
    if ((rc = pl_area_wait_all(call->area, call, bytes)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_area_unpack(call, pl_area_read(call->area, i, bytes), bytes, received_from(coll, i), at);
    return rc;
}

int pl_area_alltoall(struct pl_area_call *call, size_t at, size_t bytes)
{
    const struct pl_coll *coll = call->coll;
    bool in_place = pl_coll_in_place(coll);
    size_t all = bytes * (size_t)(call->size - 1);
    void *slot;
    int rc = pl_area_reserve(call->area, all, &slot);
    if (rc)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_area_pack(in_place ? received_from(coll, i) : sent_to(coll, i), at,
                         (char *)slot + area_offset_of(call->rank, i, bytes), bytes);
    pl_area_publish(call->area, -1);
    if (!in_place)
        pl_area_copy_own(call, sent_to(coll, call->rank), received_from(coll, call->rank), at, bytes);
    if ((rc = pl_area_wait_all(call->area, call, all)) != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < call->size; i++)
        if (i != call->rank)
            pl_area_unpack(call, (const char *)pl_area_read(call->area, i, all) + area_offset_of(i, call->rank, bytes),
                           bytes, received_from(coll, i), at);
    return rc;
}
