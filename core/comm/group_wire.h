/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rosters: who is in a group and how each is reached, as bytes for processes of whatever job.
 *
 * The names of the jobs, then for each member its job, its rank there, and its engine's card, which may be missing.
 * What comes from others is checked; the members' numbers (core/job/jobs.h) are the reader's own.
 */
#ifndef PLENUM_CORE_COMM_GROUP_WIRE_H
#define PLENUM_CORE_COMM_GROUP_WIRE_H

#include <stdbool.h>

#include "core/engine/comm.h"

/* That of a communicator's local group, malloc'ed. With cards: collective over the group; NULL but for `root`. */
int pl_group_wire_gather(struct pl_comm *comm, int root, unsigned char **wire, size_t *length);
int pl_group_wire_write(const struct pl_comm *comm, unsigned char **wire, size_t *length); /* without; local */

/* Has every member an address for other nodes? */
bool pl_group_wire_is_networked(const unsigned char *wire, size_t length);

/* The group, with one handle, and its addresses; `book` NULL: they are not wanted. MPI_ERR_OTHER: it is damaged. */
int pl_group_wire_read(struct pl_instance *instance, const unsigned char *wire, size_t length, struct pl_group **group,
                       struct pl_av **av);

#endif
