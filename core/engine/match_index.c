/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash lists by source and tag, which supplement the queues. */
#include "core/engine/match_index.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/engine/comm_info.h"

enum { BITS = 11, BUCKETS = 1 << BITS };

struct pl_match_index {
    struct pl_list posted[BUCKETS];     /* of pl_request.index */
    struct pl_list unexpected[BUCKETS]; /* of pl_unexpected.index */
};

static unsigned index_bucket_of(int source, int tag)
{
    uint64_t key = (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
    return (unsigned)(key * 0x9e3779b97f4a7c15u >> (64 - BITS));
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
    struct pl_match_index *index = pl_malloc(sizeof *index);
    if (!index)
        return;
    for (int i = 0; i < BUCKETS; i++) {
        pl_list_init(&index->posted[i]);
        pl_list_init(&index->unexpected[i]);
    }
    comm->match.index = index;
    PL_LIST_EACH(unexpected, &queues->unexpected, struct pl_unexpected, link)
        pl_match_index_add_unexpected(comm, unexpected);
    PL_LIST_EACH(request, &queues->posted, struct pl_request, link)
        if (comm->match.index)
            pl_match_index_add_posted(comm, request);
}

void pl_match_index_drop(struct pl_comm *comm)
{
    comm->match.no_index = true;
    free(comm->match.index);
    comm->match.index = NULL;
}

void pl_match_index_add_posted(struct pl_comm *comm, struct pl_request *request)
{
    if (is_wild(request))
        pl_match_index_drop(comm);
    else
        pl_list_append(&comm->match.index->posted[index_bucket_of(request->args.peer_rank, request->args.tag)],
                       &request->index);
}

void pl_match_index_add_unexpected(struct pl_comm *comm, struct pl_unexpected *unexpected)
{
    unsigned bucket = index_bucket_of(unexpected->header.source, unexpected->header.tag);
    pl_list_append(&comm->match.index->unexpected[bucket], &unexpected->index);
}

struct pl_request *pl_match_index_posted(const struct pl_comm *comm, int source, int tag)
{
    PL_LIST_EACH(request, &comm->match.index->posted[index_bucket_of(source, tag)], struct pl_request, index)
        if (request->args.peer_rank == source && request->args.tag == tag)
            return request;
    return NULL;
}

struct pl_unexpected *pl_match_index_unexpected(const struct pl_comm *comm, int source, int tag)
{
    PL_LIST_EACH(unexpected, &comm->match.index->unexpected[index_bucket_of(source, tag)], struct pl_unexpected, index)
        if (unexpected->header.source == source && unexpected->header.tag == tag)
            return unexpected;
    return NULL;
}
