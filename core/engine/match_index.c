/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tables by source and tag, which supplement the queues. */
#include "core/engine/match_index.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/engine/comm_info.h"

struct pl_match_index {
    struct pl_table posted;     /* of pl_request.index */
    struct pl_table unexpected; /* of pl_unexpected.index */
};

static uint64_t index_key(int source, int tag)
{
    return (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
}

static bool is_wild(const struct pl_request *request)
{
    return request->args.peer_rank == MPI_ANY_SOURCE || request->args.tag == MPI_ANY_TAG;
}

void pl_match_index_make(struct pl_comm *comm)
{
    const unsigned both = PL_ASSERT_NO_ANY_SOURCE | PL_ASSERT_NO_ANY_TAG;
    struct pl_queues *queues = &comm->match.queues[PL_MSG_P2P];
    if (comm->match.index || comm->match.no_index || (comm->hints.asserted & both) != both)
        return;
    comm->match.index = pl_calloc(1, sizeof *comm->match.index);
    if (!comm->match.index)
        return;
    PL_LIST_EACH(unexpected, &queues->unexpected, struct pl_unexpected, link)
        pl_match_index_add_unexpected(comm, unexpected);
    PL_LIST_EACH(request, &queues->posted, struct pl_request, link)
        if (comm->match.index)
            pl_match_index_add_posted(comm, request);
}

void pl_match_index_drop(struct pl_comm *comm)
{
    struct pl_match_index *index = comm->match.index;
    comm->match.no_index = true;
    comm->match.index = NULL;
    if (!index)
        return;
    pl_table_fini(&index->posted);
    pl_table_fini(&index->unexpected);
    free(index);
}

void pl_match_index_add_posted(struct pl_comm *comm, struct pl_request *request)
{
    if (is_wild(request))
        pl_match_index_drop(comm);
    else
        pl_table_insert(&comm->match.index->posted, &request->index,
                        index_key(request->args.peer_rank, request->args.tag));
}

void pl_match_index_add_unexpected(struct pl_comm *comm, struct pl_unexpected *unexpected)
{
    pl_table_insert(&comm->match.index->unexpected, &unexpected->index,
                    index_key(unexpected->header.source, unexpected->header.tag));
}

void pl_match_index_remove_posted(struct pl_comm *comm, struct pl_request *request)
{
    pl_table_remove(&comm->match.index->posted, &request->index);
}

void pl_match_index_remove_unexpected(struct pl_comm *comm, struct pl_unexpected *unexpected)
{
    pl_table_remove(&comm->match.index->unexpected, &unexpected->index);
}

struct pl_request *pl_match_index_posted(const struct pl_comm *comm, int source, int tag)
{
    return PL_TABLE_FIND(&comm->match.index->posted, index_key(source, tag), struct pl_request, index);
}

struct pl_unexpected *pl_match_index_unexpected(const struct pl_comm *comm, int source, int tag)
{
    return PL_TABLE_FIND(&comm->match.index->unexpected, index_key(source, tag), struct pl_unexpected, index);
}
