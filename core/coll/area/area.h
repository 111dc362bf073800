/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective area: memory that the ranks of a communicator on one node share, for blocking collectives.
 *
 * An operation on the area is one step. A rank that has data writes it into its own slot and publishes the slot; a rank
 * that wants the data waits for the slot and reads it there. So a rank waits once for each other rank, where messages
 * would take rounds, which matters most when ranks share cores; and a rank that only publishes goes on at once. A short
 * collective is one operation, a long one an operation for each chunk of its data (collectives.c).
 *
 * Operations are numbered, alike on all ranks, and cycle through the sets of slots. A slot names the operation for
 * which it was written. Data of more than a few bytes lies in a ring of the slot's owner, and the slot says where; each
 * rank has a ring for short data and one for long. Each rank publishes how many operations it has completed. A slot, or
 * space in a ring, is reused once every rank that it was published to has completed that operation. No rank waits for
 * this until all sets or a ring are in use. A rank that has read the slots of all ranks in operation n knows that all
 * have completed those before n.
 *
 * The area is made when it is first wanted, by rank 0 in memory of its node transport; then all ranks agree whether all
 * could map it. Locking: one thread at a time uses a communicator's area, as the standard demands of collectives. The
 * engine's lock is held while a transport is called.
 */
#ifndef PLENUM_CORE_COLL_AREA_AREA_H
#define PLENUM_CORE_COLL_AREA_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_area;
struct pl_comm;
struct pl_request;

enum {
    PL_AREA_RANKS = 256,     /* at most */
    PL_AREA_FLAT = 64,       /* most ranks for operations in which each meets all: sets of them are words of 64 bits */
    PL_AREA_TREE_FROM = 8,   /* fewest ranks for an operation along the tree of their places (tree.h) */
    PL_AREA_SHORT = 4096,    /* bytes of each rank's data that count as short */
    PL_AREA_MAX = 256 << 10, /* bytes of data in a slot */
    /* Collectives before an area is made for them. Making it is a collective by messages, and takes shared memory: a
     * communicator that is freed after a few of them does not repay that. */
    PL_AREA_AFTER = 8,
};

/* The area of a communicator, made now if there is none yet and it is worth it: once the communicator has had some
 * collectives. `at_once`: for this one it always is (pl_coll_depends_on_order()). NULL: there is none, and the
 * collective uses messages. Collective; alike on all ranks, except after an error. Then this rank does not know what
 * the others do, and must not go on by messages, which would match those of the others for making the area. */
int pl_area_get(struct pl_comm *comm, bool at_once, struct pl_area **area);

/* The number of blocking collectives that the communicator has begun, with or without the area: alike on all ranks that
 * have called the same ones. For the thread that is in one. */
int pl_area_count(const struct pl_comm *comm);

/* The communicator is freed. No lock held. */
void pl_area_release(struct pl_comm *comm);

/* For the job report, of a message of a collective: pl_area_count() if the collective is blocking, else PL_ANY. */
int pl_area_message_count(const struct pl_request *request);

#endif
