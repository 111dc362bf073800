/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash tables by source and tag, which supplement the queues. */
#include "core/engine/match_index.h"

#include <assert.h>
#include <stdlib.h>

#include "core/base/memory.h"

/* What is a wildcard: nothing, the source, the tag. Messages that fit both wildcards are the queue itself. */
enum { EXACT, ANY_SOURCE, ANY_TAG, ANY_BOTH, WILDS };
_Static_assert((int)ANY_BOTH == (int)PL_MATCH_VIEWS, "a message has a node for each other one");

enum { SHORT = PL_SEARCH_LONG / 8 }; /* entries of a queue that no longer needs its tables */

struct pl_match_index {
    struct pl_table posted[WILDS];              /* of pl_request.index.node, by the receive's wildcards */
    struct pl_table unexpected[PL_MATCH_VIEWS]; /* of pl_unexpected.index, by a receive's wildcards */
    uint64_t places;                            /* given to posted receives so far */
};

static int index_wild(int source, int tag)
{
    return (source == MPI_ANY_SOURCE ? ANY_SOURCE : 0) | (tag == MPI_ANY_TAG ? ANY_TAG : 0);
}

static uint64_t index_key(int wild, int source, int tag)
{
    source = wild & ANY_SOURCE ? MPI_ANY_SOURCE : source;
    tag = wild & ANY_TAG ? MPI_ANY_TAG : tag;
    return (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
}

static struct pl_match_index *index_of(struct pl_queues *queues)
{
    if (!queues->index)
        queues->index = pl_calloc(1, sizeof *queues->index);
    return queues->index;
}

void pl_match_index_drop(struct pl_queues *queues)
{
    struct pl_match_index *index = queues->index;
    queues->index = NULL;
    if (!index)
        return;
    for (int i = 0; i < WILDS; i++)
        pl_table_fini(&index->posted[i]);
    for (int i = 0; i < PL_MATCH_VIEWS; i++)
        pl_table_fini(&index->unexpected[i]);
    free(index);
}

/* --- posted receives ---------------------------------------------------------------------------------------------- */

static size_t index_count_posted(const struct pl_match_index *index)
{
    size_t count = 0;
    for (int i = 0; i < WILDS; i++)
        count += index->posted[i].count;
    return count;
}

static void index_insert_posted(struct pl_match_index *index, struct pl_request *request)
{
    int source = request->args.peer_rank, tag = request->args.tag, wild = index_wild(source, tag);
    request->index.place = index->places++;
    pl_table_insert(&index->posted[wild], &request->index.node, index_key(wild, source, tag));
}

static void index_remove_posted(struct pl_match_index *index, struct pl_request *request)
{
    pl_table_remove(&index->posted[index_wild(request->args.peer_rank, request->args.tag)], &request->index.node);
}

bool pl_match_index_make_posted(struct pl_queues *queues)
{
    struct pl_match_index *index = index_of(queues);
    if (index)
        PL_LIST_EACH(request, &queues->posted, struct pl_request, link)
            index_insert_posted(index, request);
    return index != NULL;
}

bool pl_match_index_has_posted(const struct pl_queues *queues)
{
    return index_count_posted(queues->index) > 0;
}

void pl_match_index_add_posted(struct pl_queues *queues, struct pl_request *request)
{
    if (pl_match_index_has_posted(queues))
        index_insert_posted(queues->index, request);
}

void pl_match_index_remove_posted(struct pl_queues *queues, struct pl_request *request)
{
    if (!pl_match_index_has_posted(queues))
        return;
    index_remove_posted(queues->index, request);
    if (index_count_posted(queues->index) <= SHORT)
        PL_LIST_EACH(other, &queues->posted, struct pl_request, link)
            index_remove_posted(queues->index, other);
}

struct pl_request *pl_match_index_posted(const struct pl_queues *queues, int source, int tag)
{
    struct pl_request *first = NULL;
    for (int wild = 0; wild < WILDS; wild++) {
        struct pl_request *request =
            PL_TABLE_FIND(&queues->index->posted[wild], index_key(wild, source, tag), struct pl_request, index.node);
        if (request && (!first || request->index.place < first->index.place))
            first = request;
    }
    return first;
}

/* --- unexpected messages ------------------------------------------------------------------------------------------ */

static struct pl_unexpected *index_message(struct pl_table_node *node, int wild)
{
    return node ? PL_CONTAINER(node - wild, struct pl_unexpected, index) : NULL;
}

static void index_insert_unexpected(struct pl_match_index *index, int wild, struct pl_unexpected *unexpected)
{
    pl_table_insert(&index->unexpected[wild], &unexpected->index[wild],
                    index_key(wild, unexpected->header.source, unexpected->header.tag));
}

bool pl_match_index_make_unexpected(struct pl_queues *queues, int source, int tag)
{
    assert(index_wild(source, tag) != ANY_BOTH); /* the first message is for such a receive: nothing is searched */
    struct pl_match_index *index = index_of(queues);
    if (index)
        PL_LIST_EACH(unexpected, &queues->unexpected, struct pl_unexpected, link)
            index_insert_unexpected(index, index_wild(source, tag), unexpected);
    return index != NULL;
}

bool pl_match_index_has_unexpected(const struct pl_queues *queues, int source, int tag)
{
    int wild = index_wild(source, tag);
    return wild != ANY_BOTH && queues->index->unexpected[wild].count > 0;
}

void pl_match_index_add_unexpected(struct pl_queues *queues, struct pl_unexpected *unexpected)
{
    for (int wild = 0; wild < PL_MATCH_VIEWS; wild++)
        if (queues->index->unexpected[wild].count > 0)
            index_insert_unexpected(queues->index, wild, unexpected);
}

void pl_match_index_remove_unexpected(struct pl_queues *queues, struct pl_unexpected *unexpected)
{
    for (int wild = 0; wild < PL_MATCH_VIEWS; wild++) {
        struct pl_table *table = &queues->index->unexpected[wild];
        if (table->count == 0)
            continue;
        pl_table_remove(table, &unexpected->index[wild]);
        if (table->count <= SHORT)
            PL_LIST_EACH(other, &queues->unexpected, struct pl_unexpected, link)
                pl_table_remove(table, &other->index[wild]);
    }
}

struct pl_unexpected *pl_match_index_unexpected(const struct pl_queues *queues, int source, int tag)
{
    int wild = index_wild(source, tag);
    return index_message(pl_table_find(&queues->index->unexpected[wild], index_key(wild, source, tag)), wild);
}
