/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepting and connecting as groups: collective over `comm`, and blocking. Errors are those of the root, at all
 * members. MPI_ERR_PORT: there is no such port, or, when connecting, no process has accepted in time.
 * MPIX_ERR_TIMEOUT: no process has connected in time.
 *
 * `info` may have the key "timeout": seconds to wait for the other side. It may be NULL. The info and the port's name
 * count at the root only.
 */
#ifndef PLENUM_SESSIONS_PORT_CONNECT_H
#define PLENUM_SESSIONS_PORT_CONNECT_H

#include <stdbool.h>

struct pl_comm;
struct pl_info;

/* Milliseconds of the info key "timeout"; 0: it is not there. MPI_ERR_INFO_VALUE. */
int pl_port_timeout(struct pl_info *info, long *milliseconds);

int pl_port_accept(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made);
int pl_port_connect(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made);

/* How a root has the processes started that it then accepts. start() gives them the name of a port to connect to.
 * failure() says why they will not connect any more; NULL: they may still. */
struct pl_port_starter {
    int (*start)(void *context, const char *port_name);
    const char *(*failure)(void *context);
    void *context;
    bool far; /* they may be on other hosts */
};

/* Accepts the processes that the root's starter starts. `starter` counts at the root only. */
int pl_port_accept_started(struct pl_port_starter *starter, int root, struct pl_comm *comm, struct pl_comm **made);

#endif
