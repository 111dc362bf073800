/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Will it still come? A rank that waits for long in a collective asks the ranks that owe it something whether they have
 * left that collective, each second and then less often (PL_MSG_OWED). Ranks with other arguments may have done another
 * algorithm, or fewer steps of this one. A rank that has left says so. So does one whose remaining steps send nothing
 * to the one that asks. That one breaks the communicator for all members, unless it has got what it waits for. A
 * message of the collective comes before such an answer. A rank that cannot tell does not answer, and no rank waits for
 * an answer.
 *
 * The same is asked about a message of a persistent collective that is not taken. Questions and answers about these
 * name the start (persistent.h).
 *
 * astray.h has what a rank finds out without asking.
 */
#ifndef PLENUM_CORE_COLL_OWED_H
#define PLENUM_CORE_COLL_OWED_H

#include <stdbool.h>

#include "core/base/compiler.h"

struct pl_comm;
struct pl_engine;
struct pl_header;
struct pl_origin;
struct pl_rndv;
struct pl_schedule;
struct pl_waiting;

/* A thread waits long. Asks, for the receives of collectives in this communicator, and for a wait in its collective
 * area, if `what` is one. If `what` is a schedule, answers consider it until pl_owed_go_on(). Engine lock held. */
void pl_owed_ask(struct pl_comm *comm, const struct pl_waiting *what);

/* Before such a schedule goes on. Engine lock not held. */
PL_COLD void pl_owed_go_on(struct pl_schedule *schedule);

/* Has this rank said that it has left the collective in the area that this process is in? Engine lock held. */
bool pl_owed_nothing_by(const struct pl_comm *comm, int rank);

/* PL_MSG_OWED: a question or an answer. Engine lock held. */
void pl_owed_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                     const struct pl_header *header, const void *data, struct pl_rndv *rndv);

#endif
