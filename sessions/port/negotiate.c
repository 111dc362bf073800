/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A proposal counts once the caller confirms it. So an accepting root is never left with a caller that gave up or died
 * while the proposal was on its way: it goes on with the next caller.
 *
 * A job on a single node has no network. If the two roots are not on one node, or one group has members on other nodes,
 * each root first tells its own group so (PL_UNREACHABLE), and both begin again.
 */
#include "sessions/port/negotiate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "core/base/memory_libc.h"
#include "core/comm/group_wire.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "mpi-ext.h"
#include "sessions/create/listener.h"
#include "sessions/port/calls.h"
#include "sessions/port/name.h"

enum { CHECK_MS = 20 }; /* between checks that the other root's process lives */

/* The wait of a root at the listener. */
struct port_wait {
    struct pl_engine *listener;
    struct pl_waiting what;
    struct pl_wait wait;
    uint64_t node; /* this one */
    int64_t began, deadline, next_check;
    long timeout;
};

static void port_wait_describe(const void *context, struct pl_job_item *item)
{
    const struct port_wait *wait = context;
    item->waited = pl_clock_ns() - wait->began;
}

static int64_t port_wait_deadline(const struct pl_port_negotiation *negotiation)
{
    int64_t limit = negotiation->timeout;
    if (limit == 0 || limit > (PL_CLOCK_NEVER - negotiation->began) / PL_NS_PER_MS)
        return PL_CLOCK_NEVER;
    return negotiation->began + limit * PL_NS_PER_MS;
}

/* Takes the listener's lock, if the port's name is valid. */
static int port_wait_begin(struct port_wait *wait, const char *text, struct pl_port_negotiation *negotiation,
                           enum pl_item_what what, struct pl_port_name *name)
{
    if (negotiation->began == 0)
        negotiation->began = pl_clock_ns();
    *wait = (struct port_wait){
        .node = pl_locator_node(),
        .began = negotiation->began,
        .deadline = port_wait_deadline(negotiation),
        .timeout = negotiation->timeout,
    };
    int rc = pl_port_name_parse(text, name);
    if (rc == MPI_SUCCESS)
        rc = pl_listener_open(&wait->listener);
    if (rc)
        return rc;
    if (name->process.node != wait->node && name->far)
        pl_engine_add_network(wait->listener); /* if it fails, the call fails for the same reason */
    wait->what = (struct pl_waiting){
        .what = what,
        .comm = negotiation->comm,
        .peer = PL_NO_PEER,
        .tag = PL_ANY,
        .describe = port_wait_describe,
        .context = wait,
    };
    wait->wait.what = &wait->what;
    pl_engine_enter(wait->listener);
    return MPI_SUCCESS;
}

/* Releases the lock while the thread idles, and makes progress. */
static void port_wait_idle(struct port_wait *wait)
{
    pl_engine_leave(wait->listener);
    pl_listener_idle(wait->listener, &wait->wait);
    pl_engine_enter(wait->listener);
    if (pl_engine_progress(wait->listener) > 0)
        wait->wait.rounds = 0;
}

static int port_wait_expired(const struct port_wait *wait, int class, const char *missing)
{
    return pl_fail(class, "no process has %s within %ld.%03ld s", missing, wait->timeout / 1000, wait->timeout % 1000);
}

/* Has the other root's process ended? Its connection says so, or the system, which is asked every CHECK_MS. */
static bool port_wait_other_ended(struct port_wait *wait, const struct pl_peer *peer, const struct pl_locator *process)
{
    if (!peer || peer->error || peer->closed)
        return true;
    int64_t now = pl_clock_ns();
    if (now < wait->next_check)
        return false;
    wait->next_check = now + CHECK_MS * PL_NS_PER_MS;
    return pl_locator_has_ended(process);
}

/* --- accepting ---------------------------------------------------------------------------------------------------- */

static bool port_caller_is_networked(const struct pl_port_caller *caller)
{
    return pl_group_wire_is_networked(caller->wire, caller->length);
}

static bool port_caller_is_far(const struct port_wait *wait, const struct pl_port_caller *caller)
{
    return caller->process.node != wait->node;
}

/* NULL: it may connect. Else the reason why not. */
static const char *port_caller_refusal(const struct port_wait *wait, const struct pl_port_negotiation *negotiation,
                                       const struct pl_port_caller *caller)
{
    const char *why = NULL;
    struct pl_comm *comm = negotiation->comm;
    struct pl_group *group;
    if (port_caller_is_far(wait, caller) && !(negotiation->networked && port_caller_is_networked(caller)))
        return negotiation->networked ? "a member of the connecting group has no network"
                                      : "a member of the accepting group has no network";
    if (pl_group_wire_read(comm->instance, caller->wire, caller->length, &group, NULL))
        return "the list of the connecting group's members is damaged";
    for (int i = 0; i < group->size && !why; i++)
        if (pl_group_find(comm->group, pl_group_proc(group, i)) != MPI_UNDEFINED)
            why = "a process is a member of both the connecting and the accepting group";
    pl_handle_drop(group);
    return why;
}

/* The caller has confirmed the proposal; PL_AGAIN: it has not, and another may. MPI_ERR_NO_MEM. The caller is freed in
 * any case. */
static int port_propose_to(struct port_wait *wait, struct pl_port_caller *caller,
                           struct pl_port_negotiation *negotiation)
{
    struct pl_comm_id id = pl_comm_new_id();
    bool must_widen = negotiation->networked && !port_caller_is_networked(caller) && !caller->final;
    const char *why = must_widen ? "" : port_caller_refusal(wait, negotiation, caller);
    if (why) {
        pl_port_refuse(wait->listener, caller, must_widen ? PL_UNREACHABLE : MPI_ERR_COMM, why);
        return PL_AGAIN;
    }
    int rc = pl_port_propose(wait->listener, caller, id, negotiation->wire, negotiation->length);
    if (rc)
        return rc == MPI_ERR_NO_MEM ? rc : PL_AGAIN;
    unsigned losses = pl_port_losses();
    while (caller->state == PL_CALLER_PROPOSED && pl_port_losses() == losses &&
           !port_wait_other_ended(wait, caller->peer, &caller->process))
        port_wait_idle(wait);
    rc = PL_AGAIN;
    if (caller->state == PL_CALLER_CONFIRMED) {
        negotiation->remote = pl_memdup(caller->wire, caller->length);
        rc = negotiation->remote ? MPI_SUCCESS : pl_fail_memory("the group of the other job");
    }
    negotiation->remote_length = caller->length;
    negotiation->id = id;
    pl_port_free_caller(caller);
    return rc;
}

static int port_accept_locked(struct port_wait *wait, uint64_t port, struct pl_port_negotiation *negotiation)
{
    struct pl_port_caller *caller;
    unsigned losses = pl_port_losses();
    pl_engine_progress(wait->listener);
    for (;;) {
        if (pl_port_losses() != losses)
            return pl_fail_memory("a message to a listener, which may have been a call to this port");
        if (!pl_port_next_caller(port, &caller))
            return pl_fail(MPI_ERR_PORT, "port_name is not an open port of this process");
        if (caller && !negotiation->final && !negotiation->networked &&
            (port_caller_is_far(wait, caller) || port_caller_is_networked(caller))) {
            pl_port_return_caller(port, caller);
            return PL_UNREACHABLE;
        }
        int rc = caller ? port_propose_to(wait, caller, negotiation) : PL_AGAIN;
        if (rc != PL_AGAIN)
            return rc;
        const char *why = negotiation->failure ? negotiation->failure(negotiation->context) : NULL;
        if (why)
            return pl_fail(MPI_ERR_SPAWN, "%s", why);
        if (pl_deadline_passed(wait->deadline))
            return port_wait_expired(wait, MPIX_ERR_TIMEOUT, "connected");
        if (!caller)
            port_wait_idle(wait);
    }
}

int pl_port_negotiate_accept(const char *text, struct pl_port_negotiation *negotiation)
{
    struct pl_port_name name;
    struct port_wait wait;
    int rc = port_wait_begin(&wait, text, negotiation, PL_WHAT_ACCEPT, &name);
    if (rc)
        return rc;
    rc = port_accept_locked(&wait, name.port, negotiation);
    pl_engine_leave(wait.listener);
    return rc;
}

/* --- connecting --------------------------------------------------------------------------------------------------- */

/* There is no such port, for whatever reason. */
static int port_fail_unreachable(const char *why)
{
    char copy[PL_DETAIL_MAX];
    snprintf(copy, sizeof copy, "%s", why);
    return pl_fail(MPI_ERR_PORT, "the port cannot be reached: %s", copy);
}

static int port_fail_other_host(const char *host)
{
    return pl_fail(MPI_ERR_PORT,
                   "the port cannot be reached: it is of host \"%s\" alone; to connect from other hosts, set "
                   "PLENUM_SCOPE=network for the job that opens it, or the info key plenum_scope at MPI_Open_port",
                   host);
}

static int port_fail_no_network(const char *why)
{
    return pl_fail(MPI_ERR_PORT,
                   "the port is on another host, and a member of this group has no network "
                   "(PLENUM_TRANSPORT=%s)%s%s",
                   pl_config_text("transport"), *why ? ": " : "", why);
}

static int port_take_answer(struct pl_port_call *call, struct pl_port_negotiation *negotiation)
{
    if (call->error == PL_UNREACHABLE && !negotiation->final)
        return PL_UNREACHABLE;
    if (call->error == PL_UNREACHABLE)
        return pl_fail(MPI_ERR_OTHER, "the accepting process asks again for the network, which this group was given");
    if (call->error)
        return pl_fail(call->error, "the port did not connect: %s", call->why);
    negotiation->remote = call->wire;
    negotiation->remote_length = call->length;
    negotiation->id = call->id;
    call->wire = NULL;
    return MPI_SUCCESS;
}

/* Another node is reached only if both groups have the network. */
static int port_check_network(const struct port_wait *wait, const struct pl_port_name *name,
                              const struct pl_port_negotiation *negotiation)
{
    if (name->process.node == wait->node)
        return MPI_SUCCESS;
    if (!name->far)
        return port_fail_other_host(name->host);
    if (!pl_engine_card_has(name->card, name->card_length, PL_FAR))
        return port_fail_unreachable("it is on another host, and its process has no network");
    if (negotiation->networked)
        return MPI_SUCCESS;
    return negotiation->final ? port_fail_no_network(negotiation->why) : PL_UNREACHABLE;
}

static int port_connect_locked(struct port_wait *wait, const struct pl_port_name *name,
                               struct pl_port_negotiation *negotiation)
{
    struct pl_port_call call;
    if (pl_locator_has_ended(&name->process))
        return port_fail_unreachable("the process that opened it has ended");
    int rc = port_check_network(wait, name, negotiation);
    if (rc)
        return rc;
    rc = pl_port_call_start(wait->listener, name, negotiation->wire, negotiation->length, negotiation->final, &call);
    if (rc)
        return rc == MPI_ERR_NO_MEM ? rc : port_fail_unreachable(pl_error_detail(NULL));
    pl_engine_progress(wait->listener);
    while (!call.answered && rc == MPI_SUCCESS) {
        if (port_wait_other_ended(wait, call.peer, &name->process))
            rc = port_fail_unreachable("the process that opened it has ended, or closed it");
        else if (pl_deadline_passed(wait->deadline))
            rc = port_wait_expired(wait, MPI_ERR_PORT, "accepted");
        else
            port_wait_idle(wait);
    }
    if (call.answered)
        rc = port_take_answer(&call, negotiation);
    pl_port_call_end(wait->listener, &call, rc == MPI_SUCCESS);
    return rc;
}

int pl_port_negotiate_connect(const char *text, struct pl_port_negotiation *negotiation)
{
    struct pl_port_name name;
    struct port_wait wait;
    int rc = port_wait_begin(&wait, text, negotiation, PL_WHAT_CONNECT, &name);
    if (rc)
        return rc;
    rc = port_connect_locked(&wait, &name, negotiation);
    pl_engine_leave(wait.listener);
    return rc;
}
