/* SPDX-License-Identifier: BSD-3-Clause */
/* The two roots: one accepts at a port, the other connects to it. Each brings its group and gets the other's. */
#ifndef PLENUM_SESSIONS_PORT_NEGOTIATE_H
#define PLENUM_SESSIONS_PORT_NEGOTIATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/engine/comm.h"

/* A root makes up to two attempts with the same struct. */
struct pl_port_negotiation {
    struct pl_comm *comm;
    long timeout;              /* milliseconds; 0: no limit */
    int64_t began;             /* the first attempt, of pl_clock_ns(); 0: not yet */
    const unsigned char *wire; /* the group, serialized (core/comm/group_wire.h); borrowed */
    size_t length;
    bool networked;          /* every member of the group has the network */
    bool final;              /* the group has every transport that it can get */
    char why[PL_DETAIL_MAX]; /* why it has no network, as far as the root knows */

    /* When accepting: says why no process will connect any more; NULL: it may still. The slot may be NULL. */
    const char *(*failure)(void *context);
    void *context;

    /* The result. */
    struct pl_comm_id id;
    unsigned char *remote; /* the other group, serialized; for free() */
    size_t remote_length;
};

/*
 * Both block, and take the listener's lock. PL_UNREACHABLE, only if `final` is not set: the other root is on another
 * node, or its group has members there. The group shall get the network (pl_engine_add_network()), set `final`, and try
 * again. MPI_ERR_PORT: there is no such port, or no process has accepted in time. MPIX_ERR_TIMEOUT: no process has
 * connected in time. MPI_ERR_SPAWN: failure() says so.
 */
int pl_port_negotiate_accept(const char *port_name, struct pl_port_negotiation *negotiation);
int pl_port_negotiate_connect(const char *port_name, struct pl_port_negotiation *negotiation);

#endif
