/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_join. */
#ifndef PLENUM_SESSIONS_PORT_JOIN_H
#define PLENUM_SESSIONS_PORT_JOIN_H

struct pl_comm;

/* Joins this process and the one at the other end of a socket, which must be empty and is again afterwards. Blocks.
 * `self` is the World's MPI_COMM_SELF. */
int pl_port_join(int fd, struct pl_comm *self, struct pl_comm **made);

#endif
