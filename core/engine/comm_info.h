/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints of a communicator (MPI-5.0 section 7.4.4). Each has a default; what a communicator is not told explicitly keeps
 * it, also in a duplicate of one that was. What is not a hint, and what has a value that is none, is passed over.
 *
 * Locking: the hints by the communicator's own lock; `asserted` is set before anybody else has the communicator, or by
 * the collective call that sets it.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_INFO_H
#define PLENUM_CORE_ENGINE_COMM_INFO_H

struct pl_comm;
struct pl_info;

/* The bits of pl_comm.asserted. */
enum {
    PL_ASSERT_NO_ANY_TAG = 1,
    PL_ASSERT_NO_ANY_SOURCE = 2,
    PL_ASSERT_EXACT_LENGTH = 4,
    PL_ASSERT_ALLOW_OVERTAKING = 8,
    PL_ASSERT_STRICT_ORDERING = 16,
};

/* Takes over the hints of `info`; those that it does not have stay as they are. NULL: nothing. MPI_ERR_NO_MEM. */
int pl_comm_info_set(struct pl_comm *comm, struct pl_info *info);

/* Puts all hints that are in use into `used`, also those that are so by default. MPI_ERR_NO_MEM. */
int pl_comm_info_get(struct pl_comm *comm, struct pl_info *used);

#endif
