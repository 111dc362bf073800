/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serialized groups: a group's members and their addresses, as bytes for processes of any job.
 *
 * They hold the names of the jobs, then for each member its job, its rank there and its engine's card, which may be
 * missing. Bytes from other processes are checked. The members' numbers (core/job/jobs.h) are the reader's.
 */
#ifndef PLENUM_CORE_COMM_GROUP_WIRE_H
#define PLENUM_CORE_COMM_GROUP_WIRE_H

#include <stdbool.h>

#include "core/engine/comm.h"

/* A communicator's local group, for free(). With cards: collective over the group; NULL except on `root`. */
int pl_group_wire_gather(struct pl_comm *comm, int root, unsigned char **wire, size_t *length);
int pl_group_wire_write(const struct pl_comm *comm, unsigned char **wire, size_t *length); /* without; local */

/* Whether every member has an address for other nodes. */
bool pl_group_wire_is_networked(const unsigned char *wire, size_t length);

/* The group, with one handle, and its addresses, unless `av` is NULL. MPI_ERR_OTHER: the bytes are damaged. */
int pl_group_wire_read(struct pl_instance *instance, const unsigned char *wire, size_t length, struct pl_group **group,
                       struct pl_av **av);

#endif
