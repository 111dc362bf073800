/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: through a text, the port's name, groups of processes of any jobs find each other.
 *
 * A port belongs to the process that opened it. The root of the connecting group calls at the listener of that
 * process, and sends the list of its group's members (sessions/port/calls.h). The root of the accepting group takes the
 * callers in the order of their arrival and proposes its own list to each; a caller that is still there confirms the
 * proposal. Then each root tells its group (sessions/port/connect.h).
 *
 * A port is of this host alone unless it is opened for the network. Where the job itself needs no network, the listener
 * then gets it; the groups get it when a group of another host calls. A port lasts until it is closed, or until the last
 * instance of its process closes. Any thread.
 */
#ifndef PLENUM_SESSIONS_PORT_PORT_H
#define PLENUM_SESSIONS_PORT_PORT_H

#include <stdbool.h>

#include "mpi.h"

struct pl_info;

/* The value of the info key "plenum_scope", or else of PLENUM_SCOPE: is a port of the network? The key has other values
 * for published names, which count as not set here. MPI_ERR_INFO_VALUE. */
int pl_port_scope(struct pl_info *info, bool *far);

/* Opens a port and gives its name. An instance must be open. `far`: for other hosts too; fails without a network. */
int pl_port_open(bool far, char name[MPI_MAX_PORT_NAME]);

/* MPI_ERR_PORT: it is not an open port of this process. */
int pl_port_close(const char *name);

#endif
