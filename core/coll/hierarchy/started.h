/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking and persistent collectives by the nodes. A start may not wait for other ranks. So the first one of a
 * communicator also starts an exchange of the ranks' nodes, with a tag of its own. Until that is complete the schedule
 * of a collective for which it matters has one step, which appends the others. So the choice depends on the order of
 * nonblocking calls and on what all ranks know, and not on when a rank learns of the nodes.
 *
 * No collective that was started before the exchange has ended is complete before it: where there is no such collective
 * there is no exchange. Locking: schedule_run.h.
 */
#ifndef PLENUM_CORE_COLL_HIERARCHY_STARTED_H
#define PLENUM_CORE_COLL_HIERARCHY_STARTED_H

#include <stdbool.h>

struct pl_coll;
struct pl_schedule;

/* See pl_coll_append_by_nodes in core/coll/collective.h. */
bool pl_hierarchy_append_started(struct pl_schedule *schedule, const struct pl_coll *coll);

#endif
