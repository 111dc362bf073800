/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_disconnect. */
#ifndef PLENUM_CORE_COMM_DISCONNECT_H
#define PLENUM_CORE_COMM_DISCONNECT_H

struct pl_comm;

/* Frees the communicator as pl_comm_free() does, after all that is under way in it has arrived. Collective; blocks. */
int pl_comm_disconnect(struct pl_comm *comm);

#endif
