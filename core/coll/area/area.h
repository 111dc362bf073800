/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The board: memory that all members of a communicator on one node share, for blocking collectives.
 *
 * An operation on the board is one step: whoever has something to say puts it into a cell of its own, whoever wants to
 * know it waits for the cell and reads it there. So each rank is awaited once, where messages would make rounds, which
 * matters most when ranks share cores; and who has said what it had to say goes on. A short collective is one
 * operation, a long one an operation for each piece of its data (core/coll/area/collectives.c).
 *
 * Operations are numbered, alike on all ranks, and take their cells in turn from a number of sets. A cell says for
 * which operation it was filled. Data of more than a few bytes lies in a ring of its owner's, of which each has one for
 * short data and one for long, and the cell says where. A cell, or a place in a ring, is filled again when those have
 * completed its operation to whom it was shown, which all say by a counter each. Until all sets or a ring are in use
 * nobody waits for that. Who has seen a cell of everybody in operation n knows without asking that all have completed
 * those before n.
 *
 * Made when it is first wanted, by the communicator's first member in memory of its node transport, after which all
 * agree whether all could map it. Locking: one thread at a time uses a communicator's board, as the standard demands
 * of collectives; the engine's lock while a transport is called.
 */
#ifndef PLENUM_CORE_COLL_AREA_AREA_H
#define PLENUM_CORE_COLL_AREA_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_area;
struct pl_comm;
struct pl_engine;
struct pl_request;

enum {
    PL_AREA_RANKS = 64,      /* at most: every rank looks at all cells */
    PL_AREA_SHORT = 4096,    /* bytes of data from each: so much is short */
    PL_AREA_MAX = 256 << 10, /* bytes of data in a cell */
    PL_AREA_AFTER = 3,       /* collectives without a reduction before a board is made for them */
};

/* The board of a communicator, made now if there is none yet and it is worth it: for a reduction always, so that
 * equal reductions have equal results, else once the communicator has had some. NULL: it has none, and messages do
 * it. Collective; alike on all ranks, but for an error: then this rank does not know what the others will do, and
 * must not go on by messages, which theirs for making the board would answer. */
int pl_area_get(struct pl_comm *comm, bool reduction, struct pl_area **area);

/* How many blocking collectives the communicator has begun, those on the board included: alike on all ranks that have
 * called the same ones. For the thread that is in one. */
int pl_area_count(const struct pl_comm *comm);

/* The communicator is freed. No lock held. */
void pl_area_release(struct pl_comm *comm);

/* For the job report, of a message of a collective: pl_area_count() if the collective is blocking, else PL_ANY. */
int pl_area_message_count(const struct pl_request *request);

#endif
