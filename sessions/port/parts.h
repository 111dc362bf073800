/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between port.c (ports, and what is said at the door), wait.c (the two roots) and comm.c (their groups).
 * All of it is protected by the door's lock, which is held in the functions here unless their line says otherwise.
 * Nothing that arrives is trusted.
 */
#ifndef PLENUM_SESSIONS_PORT_PARTS_H
#define PLENUM_SESSIONS_PORT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/engine/comm.h"
#include "core/job/locator.h"

/* The text of a port, taken apart. */
struct pl_port_name {
    uint64_t port;
    struct pl_locator process;
    size_t card_length;
    unsigned char card[PL_CARD_MAX]; /* of the door */
};
int pl_port_parse(const char *text, struct pl_port_name *name);

/* What a root brings to the other, besides the list of its members (core/comm/group_wire.h), which follows. */
struct pl_port_proposal {
    int32_t error;   /* an error class: then only a text follows */
    uint32_t serial; /* of the new communicator; the acceptor's counts */
    uint64_t home;
};

/* One who connects, as its message arrived. */
struct pl_port_caller {
    struct pl_list link;
    const struct pl_origin *from;
    struct pl_peer *peer;
    struct pl_locator process;
    bool final; /* its group has got all transports that it can */
    uint64_t token;
    enum { PL_CALLER_WAITING, PL_CALLER_PROPOSED, PL_CALLER_CONFIRMED, PL_CALLER_GONE } state;
    size_t length;
    unsigned char wire[];
};

/* The port's first caller, taken out of its queue; NULL: there is none. False: the port is not open. */
bool pl_port_next(uint64_t port, struct pl_port_caller **caller);
void pl_port_put_back(uint64_t port, struct pl_port_caller *caller); /* the port is open: the lock was held since */

/* Offers it a list of members; frees it when that fails. */
int pl_port_propose(struct pl_engine *listener, struct pl_port_caller *caller, const struct pl_port_proposal *proposal,
                    const unsigned char *wire, size_t length);
void pl_port_refuse(struct pl_engine *listener, struct pl_port_caller *caller, int error, const char *why);
void pl_port_drop(struct pl_port_caller *caller);

/* A call of this process's. */
struct pl_port_call {
    struct pl_list link;
    uint64_t token;
    struct pl_peer *peer;
    bool done;
    int error;               /* of the answer */
    char why[PL_DETAIL_MAX]; /* ... in words */
    unsigned char *answer;   /* struct pl_port_proposal and the roster; malloc'ed */
    size_t length;
};
int pl_port_call_start(struct pl_engine *listener, const struct pl_port_name *name, const unsigned char *wire,
                       size_t length, bool final, struct pl_port_call *call);
/* Ends it: `taken`, or given up. */
void pl_port_call_end(struct pl_engine *listener, struct pl_port_call *call, bool taken);

/*
 * The roots. Lock not held. `remote` is malloc'ed: the other's list of members. PL_UNREACHABLE: the other side is on
 * another node, or has members there, and the own group shall get the network (pl_engine_add_network()) and come again.
 * An offer of that error says so to who connects.
 */
struct pl_port_negotiation {
    long began;              /* milliseconds of CLOCK_MONOTONIC */
    long patience;           /* milliseconds; 0: for ever */
    bool final;              /* the group has got all transports that it can */
    bool networked;          /* ... the network, at every member */
    char why[PL_DETAIL_MAX]; /* not: why not, as far as the root knows */
    const unsigned char *wire;
    size_t length;
    struct pl_comm *comm;
    struct pl_comm_id id;
    unsigned char *remote;
    size_t remote_length;
    const char *(*abort_reason)(const void *context); /* why nobody will come any more; NULL: one cannot know */
    const void *context;
};
int pl_port_wait_accept(const char *name, struct pl_port_negotiation *deal);
int pl_port_wait_connect(const char *name, struct pl_port_negotiation *deal);

/* The door closes: callers are told. Then nothing is left. */
void pl_ports_close(struct pl_engine *listener);
void pl_ports_forget(void);

/* A message for ports. */
void pl_port_arrived(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                     const void *data);

#endif
