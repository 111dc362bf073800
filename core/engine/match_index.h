/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of long queues of matching, for communicators whose user has promised to use no wildcards
 * (mpi_assert_no_any_source and mpi_assert_no_any_tag, comm_info.h): a message finds its receive, and a receive its
 * message, among those of its source and tag alone.
 *
 * It stands beside the queues, which stay as they are, with their order; messages of one source and tag are in the
 * index in that order, too. Made when a search has been long; gone for good when a wildcard is used all the same.
 * Point-to-point only. The engine's lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_MATCH_INDEX_H
#define PLENUM_CORE_ENGINE_MATCH_INDEX_H

#include "core/engine/match.h"

enum { PL_SEARCH_LONG = 64 /* steps of a search that is worth an index */ };

/* Makes it, if there may be one; without memory there is none. */
void pl_match_index_make(struct pl_comm *comm);
void pl_match_index_drop(struct pl_comm *comm);

/* What has come to the end of its queue. A receive with a wildcard drops the index. */
void pl_match_index_add_posted(struct pl_comm *comm, struct pl_request *request);
void pl_match_index_add_unexpected(struct pl_comm *comm, struct pl_unexpected *unexpected);

/* The first that fits; NULL: none. */
struct pl_request *pl_match_index_posted(const struct pl_comm *comm, int source, int tag);
struct pl_unexpected *pl_match_index_unexpected(const struct pl_comm *comm, int source, int tag);

#endif
