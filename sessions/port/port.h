/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: groups of processes of any jobs find each other through a text.
 *
 * A port is a number at the front door of the process that opened it; its name is that number and the door's card, and
 * so whatever carries the text, a name service, a file or a person, needs to know nothing more. It is good on other
 * nodes too: where the job has no need of the network, the door gets it when a port is opened, and the groups get it when
 * one of another node calls. The root of those who
 * connect calls at that door, with the list of its group's members. The root of those who accept takes the callers in
 * the order in which they came, and offers each its own list; a caller that is still there takes the offer, and both
 * know that the other knows. Then each root tells its group. A port goes when it is closed, and with the last instance
 * of its process.
 *
 * `info` may have the key "timeout": seconds to wait for the other side. It may be NULL, and counts at the root only,
 * as does the port's name. Errors are those of the root, at all members.
 */
#ifndef PLENUM_SESSIONS_PORT_PORT_H
#define PLENUM_SESSIONS_PORT_PORT_H

#include <stdbool.h>

#include "mpi.h"

struct pl_comm;
struct pl_info;

/* An instance must be open. `far`: for other nodes as well, if this one can. */
int pl_port_open(bool far, char name[MPI_MAX_PORT_NAME]);
int pl_port_close(const char *name); /* MPI_ERR_PORT: it is not a port of this process, or not any more */

/* Is it the name of a port, of whatever process? MPI_ERR_PORT. */
int pl_port_check(const char *name);

/* Milliseconds of the info key "timeout"; 0: it is not there. MPI_ERR_INFO_VALUE. */
int pl_port_timeout(struct pl_info *info, long *milliseconds);

/* Collective over `comm`. MPI_ERR_PORT: there is no such port, or, when connecting, nobody has accepted in time;
 * MPIX_ERR_TIMEOUT: nobody has connected in time. */
int pl_port_accept(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made);
int pl_port_connect(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made);

/* Accepts those whom the root itself has start: invite() gives them the name of a port, and hopeless() says why nobody
 * will come any more, or NULL. Collective; `guests` counts at the root only. */
struct pl_port_starter {
    int (*invite)(void *context, const char *port_name);
    const char *(*abort_reason)(const void *context);
    void *context;
};
int pl_port_accept_started(struct pl_port_starter *participants, int root, struct pl_comm *comm, struct pl_comm **made);

/* MPI_Comm_join: `self` is the World's MPI_COMM_SELF. *made is NULL when the two processes cannot reach each other. */
int pl_port_join(int fd, struct pl_comm *self, struct pl_comm **made);

#endif
