/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of long matching queues: hash tables of posted receives and of unexpected messages by source and tag, where
 * either may be a wildcard.
 *
 * The index supplements the queues; entries of one key are in the queue's order in it. A long search makes the tables
 * that it needs. From then on they have all entries of their queue, until that is short: a table in use is not empty.
 * The engine's lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_MATCH_INDEX_H
#define PLENUM_CORE_ENGINE_MATCH_INDEX_H

#include "core/engine/match.h"

enum { PL_SEARCH_LONG = 64 /* steps of a search that makes an index worth its cost */ };

/* Make tables of all entries: for receives, and for messages as a receive or probe of this source and tag sees them.
 * False: out of memory. */
bool pl_match_index_make_posted(struct pl_queues *queues);
bool pl_match_index_make_unexpected(struct pl_queues *queues, int source, int tag);

/* Frees the index. */
void pl_match_index_drop(struct pl_queues *queues);

/* Are there tables for these searches? */
bool pl_match_index_has_posted(const struct pl_queues *queues);
bool pl_match_index_has_unexpected(const struct pl_queues *queues, int source, int tag);

/* An entry was appended to its queue, or has left it. */
void pl_match_index_add_posted(struct pl_queues *queues, struct pl_request *request);
void pl_match_index_add_unexpected(struct pl_queues *queues, struct pl_unexpected *unexpected);
void pl_match_index_remove_posted(struct pl_queues *queues, struct pl_request *request);
void pl_match_index_remove_unexpected(struct pl_queues *queues, struct pl_unexpected *unexpected);

/* The first receive for a message, and the first message for a receive; NULL: none. The tables must be there. */
struct pl_request *pl_match_index_posted(const struct pl_queues *queues, int source, int tag);
struct pl_unexpected *pl_match_index_unexpected(const struct pl_queues *queues, int source, int tag);

#endif
