/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls: how a connecting root reaches a port, message by message. CALL brings the caller's group; PROPOSE brings the
 * accepting group and the communicator's id, or a refusal; CONFIRM or HANG_UP ends the call. A proposal counts only
 * once it is confirmed, so both roots know that the other knows.
 *
 * The listener's lock protects all of it and is held in all functions, except pl_port_forget_callers(). Nothing that
 * arrives is trusted.
 */
#ifndef PLENUM_SESSIONS_PORT_CALLS_H
#define PLENUM_SESSIONS_PORT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/engine/comm.h"
#include "core/job/locator.h"
#include "sessions/port/name.h"

/* --- ports ------------------------------------------------------------------------------------------------------- */

int pl_port_add(uint64_t port, bool far);

/* Closes a port and refuses its callers. False: it is not open. */
bool pl_port_remove(struct pl_engine *listener, uint64_t port);

/* The listener closes: removes all ports, whose callers are told; this one takes the lock itself. Once the listener is
 * closed, the callers that have a proposal are freed; no lock. */
void pl_port_remove_all(struct pl_engine *listener);
void pl_port_forget_callers(void);

/* The listener is about to free a peer: calls to it and its calls end. And does one of them use it? */
void pl_port_forget_peer(const struct pl_peer *peer);
bool pl_port_holds_peer(const struct pl_peer *peer);

/* A message has arrived. Its data are borrowed for the call. */
void pl_port_message_arrived(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                             const void *data);

/* A message to the listener was lost for lack of memory: the calls that wait for an answer end, and pl_port_losses()
 * counts it for those that wait for a call. */
void pl_port_message_starved(const char *why);
unsigned pl_port_losses(void);

/* --- the accepting root ------------------------------------------------------------------------------------------ */

/* A connecting root, as its message arrived. */
struct pl_port_caller {
    struct pl_list link;
    const struct pl_origin *from;
    struct pl_peer *peer; /* NULL: not connected, or its listener has closed */
    struct pl_locator process;
    bool final; /* its group has every transport that it can get */
    uint64_t token;
    enum { PL_CALLER_WAITING, PL_CALLER_PROPOSED, PL_CALLER_CONFIRMED, PL_CALLER_GONE } state;
    size_t length;
    unsigned char wire[]; /* its serialized group */
};

/* Takes the port's first caller out of its queue; NULL: there is none. False: the port is not open. */
bool pl_port_next_caller(uint64_t port, struct pl_port_caller **caller);

/* Puts it back as the first one. The lock must have been held since, so that the port is still open. */
void pl_port_return_caller(uint64_t port, struct pl_port_caller *caller);

/* Proposes an id and the accepting group; frees the caller when that fails. */
int pl_port_propose(struct pl_engine *listener, struct pl_port_caller *caller, struct pl_comm_id id,
                    const unsigned char *wire, size_t length);

/* Refuses the caller with an error class, or with PL_UNREACHABLE: its group must add the network and call again. Frees
 * it. */
void pl_port_refuse(struct pl_engine *listener, struct pl_port_caller *caller, int error, const char *why);

void pl_port_free_caller(struct pl_port_caller *caller);

/* --- the connecting root ----------------------------------------------------------------------------------------- */

/* A call of this process. The caller owns the struct. */
struct pl_port_call {
    struct pl_list link;
    uint64_t token;
    struct pl_peer *peer; /* NULL: its listener has closed */
    bool answered;
    int error;               /* of the answer: an error class, or PL_UNREACHABLE; 0: it is a proposal */
    char why[PL_DETAIL_MAX]; /* ... and its text */
    struct pl_comm_id id;    /* of the proposal */
    unsigned char *wire;     /* ... the accepting group, serialized; for free() */
    size_t length;
};

/* Calls a port with this process's serialized group. After success pl_port_call_end() must follow. */
int pl_port_call_start(struct pl_engine *listener, const struct pl_port_name *name, const unsigned char *wire,
                       size_t length, bool final, struct pl_port_call *call);

/* Confirms the proposal, or hangs up, and frees what the answer brought. */
void pl_port_call_end(struct pl_engine *listener, struct pl_port_call *call, bool confirm);

#endif
