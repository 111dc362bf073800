/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints of a communicator (MPI-5.0 section 7.4.4). A hint that the user does not set has its default, also in a
 * duplicate of a communicator that has it. Unknown keys and invalid values are ignored.
 *
 * Locking: the communicator's lock protects the hints. `asserted` is set before other threads have the communicator, or
 * by the collective call that sets hints.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_INFO_H
#define PLENUM_CORE_ENGINE_COMM_INFO_H

struct pl_comm;
struct pl_info;

/* The bits of pl_comm.hints.asserted. */
enum {
    PL_ASSERT_NO_ANY_TAG = 1,
    PL_ASSERT_NO_ANY_SOURCE = 2,
    PL_ASSERT_EXACT_LENGTH = 4,
    PL_ASSERT_ALLOW_OVERTAKING = 8,
    PL_ASSERT_STRICT_ORDERING = 16,
};

/* Sets the hints that `info` has; NULL: none. MPI_ERR_NO_MEM. */
int pl_comm_info_set(struct pl_comm *comm, struct pl_info *info);

/* Adds all hints in use to `used`, including defaults. MPI_ERR_NO_MEM. */
int pl_comm_info_get(struct pl_comm *comm, struct pl_info *used);

#endif
