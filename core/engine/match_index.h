/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of long matching queues, for communicators whose user asserts that no wildcards are used
 * (mpi_assert_no_any_source and mpi_assert_no_any_tag, comm_info.h): a hash table of each queue by source and tag.
 *
 * The index supplements the queues; entries of one source and tag are in the queue's order in it. A long search makes
 * it, and a wildcard that is used nevertheless drops it for good. Only the point-to-point queues have one. The engine's
 * lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_MATCH_INDEX_H
#define PLENUM_CORE_ENGINE_MATCH_INDEX_H

#include "core/engine/match.h"

enum { PL_SEARCH_LONG = 64 /* steps of a search that makes an index worth its cost */ };

/* Makes the index if the assertions allow it and there is memory; drops it for good. */
void pl_match_index_make(struct pl_comm *comm);
void pl_match_index_drop(struct pl_comm *comm);

/* Add an entry that was appended to its queue. A receive with a wildcard drops the index. */
void pl_match_index_add_posted(struct pl_comm *comm, struct pl_request *request);
void pl_match_index_add_unexpected(struct pl_comm *comm, struct pl_unexpected *unexpected);

/* Remove an entry that leaves its queue, if it is in the index. */
void pl_match_index_remove_posted(struct pl_comm *comm, struct pl_request *request);
void pl_match_index_remove_unexpected(struct pl_comm *comm, struct pl_unexpected *unexpected);

/* The first that fits; NULL: none. */
struct pl_request *pl_match_index_posted(const struct pl_comm *comm, int source, int tag);
struct pl_unexpected *pl_match_index_unexpected(const struct pl_comm *comm, int source, int tag);

#endif
