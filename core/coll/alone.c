/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of a communicator with one member: what it gives is the result, if there is one. */
#include "core/coll/alone.h"

#include "core/datatype/cursor.h"

static void alone_copy(const struct pl_coll *coll, MPI_Count sent, const struct pl_type *type, MPI_Count received)
{
    if (coll->sendbuf != MPI_IN_PLACE && coll->recvbuf != MPI_IN_PLACE)
        pl_type_copy(coll->sendbuf, sent, type, coll->recvbuf, received, coll->recvtype);
}

bool pl_coll_try_alone(const struct pl_coll *coll, int *rc)
{
    MPI_Count count = coll->recvcount;
    if (coll->comm->size > 1 || pl_comm_is_inter(coll->comm))
        return false;
    switch (coll->kind) {
    case PL_COLL_BARRIER:
    case PL_COLL_BCAST:
    case PL_COLL_EXSCAN: break;
    case PL_COLL_GATHER:
    case PL_COLL_SCATTER:
    case PL_COLL_ALLGATHER:
    case PL_COLL_ALLTOALL: alone_copy(coll, coll->sendcount, coll->sendtype, count); break;
    case PL_COLL_REDUCE:
    case PL_COLL_ALLREDUCE:
    case PL_COLL_REDUCE_SCATTER_BLOCK:
    case PL_COLL_SCAN: alone_copy(coll, count, coll->recvtype, count); break;
    default: return false;
    }
    *rc = MPI_SUCCESS;
    return true;
}
