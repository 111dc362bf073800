/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roots: one waits for a caller, the other for somebody who accepts.
 *
 * An offer counts when it is taken. So an acceptor is never left with a caller that has given up, or died, while the
 * offer was on its way: it goes on with the next one.
 *
 * A job on a single node has no network. When the two are not on one node, or one group has members on others, each root
 * says so to its own group first (PL_UNREACHABLE), and begins again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/config.h"
#include "core/base/memory.h"
#include "core/comm/group_wire.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "mpi-ext.h"
#include "sessions/create/listener.h"
#include "sessions/port/parts.h"

enum { LOOK_MS = 20 };

/* A wait at the door, and since when. */
struct vigil {
    struct pl_engine *listener;
    struct pl_waiting what;
    struct pl_wait wait;
    uint64_t node;                 /* the own one */
    long began, patience, look_at; /* milliseconds */
};

static long port_wait_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void port_wait_describe(const void *context, struct pl_job_item *item)
{
    const struct vigil *vigil = context;
    item->waited = (port_wait_now_ms() - vigil->began) * 1000000;
}

/* Takes the door's lock, where the port's name is one. */
static int port_wait_begin(struct vigil *vigil, const char *text, struct pl_deal *deal, enum pl_item_what what,
                           struct pl_port_name *name)
{
    *vigil = (struct vigil){ .node = pl_locator_self().node,
                             .began = deal->began ? deal->began : port_wait_now_ms(),
                             .patience = deal->patience };
    deal->began = vigil->began;
    int rc = pl_port_parse(text, name);
    if (rc == MPI_SUCCESS)
        rc = pl_exchange_listener(&vigil->listener);
    if (rc)
        return rc;
    if (name->process.node != vigil->node)
        pl_engine_add_network(vigil->listener); /* what that fails of, the call does */
    vigil->what = (struct pl_waiting){ .what = what,
                                       .comm = deal->comm,
                                       .peer = PL_NOBODY,
                                       .tag = PL_ANY,
                                       .describe = port_wait_describe,
                                       .context = vigil };
    vigil->wait.what = &vigil->what;
    pl_engine_enter(vigil->listener);
    return MPI_SUCCESS;
}

static bool is_late(const struct vigil *vigil)
{
    return vigil->patience && port_wait_now_ms() - vigil->began >= vigil->patience;
}

/* Lets others come, and moves on. */
static void port_wait_rest(struct vigil *vigil)
{
    pl_engine_leave(vigil->listener);
    pl_listener_idle(vigil->listener, &vigil->wait);
    pl_engine_enter(vigil->listener);
    if (pl_engine_progress(vigil->listener) > 0)
        vigil->wait.rounds = 0;
}

/* The other root's process: its connection tells, or the system, which is asked now and then. */
static bool is_gone(struct vigil *vigil, const struct pl_peer *peer, const struct pl_locator *process)
{
    if (peer->error || peer->closed)
        return true;
    long now = port_wait_now_ms();
    if (now < vigil->look_at)
        return false;
    vigil->look_at = now + LOOK_MS;
    return pl_locator_has_ended(process);
}

/* --- accepting ---------------------------------------------------------------------------------------------------- */

static bool port_wait_is_networked(const struct pl_caller *caller)
{
    return pl_group_wire_is_networked(caller->wire, caller->length);
}

static bool is_far(const struct vigil *vigil, const struct pl_caller *caller)
{
    return caller->process.node != vigil->node;
}

/* NULL: it may connect. Else why not. */
static const char *port_wait_refusal(const struct vigil *vigil, const struct pl_deal *deal,
                                     const struct pl_caller *caller)
{
    const char *why = NULL;
    struct pl_comm *comm = deal->comm;
    struct pl_group *group;
    if (is_far(vigil, caller) && !(deal->networked && port_wait_is_networked(caller)))
        return deal->networked ? "a member of the connecting group has no network"
                               : "a member of the accepting group has no network";
    if (pl_group_wire_read(comm->instance, caller->wire, caller->length, &group, NULL))
        return "what the connecting root says of its group is damaged";
    for (int i = 0; i < group->size && !why; i++)
        if (pl_group_find(comm->group, pl_group_proc(group, i)) != MPI_UNDEFINED)
            why = "a process is both among those who connect and among those who accept";
    pl_handle_drop(group);
    return why;
}

/* True: the caller, which is used up, has taken the offer. */
static bool propose_to(struct vigil *vigil, struct pl_caller *caller, struct pl_deal *deal)
{
    struct pl_comm_id id = pl_comm_new_id();
    struct pl_port_proposal proposal = { .serial = id.serial, .home = id.home };
    bool come_again = deal->networked && !port_wait_is_networked(caller) && !caller->final;
    const char *why = come_again ? "" : port_wait_refusal(vigil, deal, caller);
    if (why)
        pl_port_refuse(vigil->listener, caller, come_again ? PL_UNREACHABLE : MPI_ERR_COMM, why);
    if (why || pl_port_propose(vigil->listener, caller, &proposal, deal->wire, deal->length))
        return false;
    while (caller->state == PL_CALLER_PROPOSED && !is_gone(vigil, caller->peer, &caller->process))
        port_wait_rest(vigil);
    bool taken = caller->state == PL_CALLER_TAKEN && (deal->remote = pl_malloc(caller->length)) != NULL;
    if (taken) {
        memcpy(deal->remote, caller->wire, deal->remote_length = caller->length);
        deal->id = id;
    }
    pl_port_drop(caller);
    return taken;
}

static int accept_one(struct vigil *vigil, uint64_t port, struct pl_deal *deal)
{
    struct pl_caller *caller;
    pl_engine_progress(vigil->listener);
    for (;;) {
        if (!pl_port_next(port, &caller))
            return pl_fail(MPI_ERR_PORT, "port_name is no open port of this process");
        if (caller && !deal->final && !deal->networked && (is_far(vigil, caller) || port_wait_is_networked(caller))) {
            pl_port_put_back(port, caller);
            return PL_UNREACHABLE;
        }
        if (caller && propose_to(vigil, caller, deal))
            return MPI_SUCCESS;
        const char *why = deal->abort_reason ? deal->abort_reason(deal->context) : NULL;
        if (why)
            return pl_fail(MPI_ERR_SPAWN, "%s", why);
        if (is_late(vigil))
            return pl_fail(MPIX_ERR_TIMEOUT, "nobody has connected within %ld.%03ld s", vigil->patience / 1000,
                           vigil->patience % 1000);
        if (!caller)
            port_wait_rest(vigil);
    }
}

int pl_port_wait_accept(const char *text, struct pl_deal *deal)
{
    struct pl_port_name name;
    struct vigil vigil;
    int rc = port_wait_begin(&vigil, text, deal, PL_WHAT_ACCEPT, &name);
    if (rc)
        return rc;
    rc = accept_one(&vigil, name.port, deal);
    pl_engine_leave(vigil.listener);
    return rc;
}

/* --- connecting --------------------------------------------------------------------------------------------------- */

/* What is told apart from a failure here: there is no such port, for whatever reason. */
static int no_port(const char *why)
{
    char copy[PL_DETAIL_MAX];
    snprintf(copy, sizeof copy, "%s", why);
    return pl_fail(MPI_ERR_PORT, "the port cannot be reached: %s", copy);
}

static int no_port_from_here(const char *why)
{
    return pl_fail(MPI_ERR_PORT,
                   "the port is on another host, and a member of this group has no network "
                   "(PLENUM_TRANSPORT=%s)%s%s",
                   pl_config_text("transport"), *why ? ": " : "", why);
}

static int port_wait_read_answer(const struct pl_outcall *call, struct pl_deal *deal)
{
    struct pl_port_proposal proposal;
    if (call->error == PL_UNREACHABLE)
        return deal->final ? pl_fail(MPI_ERR_OTHER, "the accepting process asks for what was done") : PL_UNREACHABLE;
    if (call->error)
        return pl_fail(call->error, "the port did not connect: %s", call->why);
    memcpy(&proposal, call->answer, sizeof proposal);
    deal->remote_length = call->length - sizeof proposal;
    deal->remote = pl_malloc(deal->remote_length + 1);
    if (!deal->remote)
        return pl_fail_memory("the accepting group");
    memcpy(deal->remote, call->answer + sizeof proposal, deal->remote_length);
    deal->id = (struct pl_comm_id){ proposal.home, proposal.serial };
    return MPI_SUCCESS;
}

/* To another node there is no way without network, here and there. */
static int go_there(const struct vigil *vigil, const struct pl_port_name *name, const struct pl_deal *deal)
{
    if (name->process.node == vigil->node)
        return MPI_SUCCESS;
    if (!pl_engine_card_has(name->card, name->card_length, PL_NETWORK))
        return no_port("it is on another host, and was opened without " PL_NETWORK
                       " (PLENUM_TRANSPORT of the job that accepts: auto, or with " PL_NETWORK ")");
    if (deal->networked)
        return MPI_SUCCESS;
    return deal->final ? no_port_from_here(deal->why) : PL_UNREACHABLE;
}

static int call_and_wait(struct vigil *vigil, const struct pl_port_name *name, struct pl_deal *deal)
{
    struct pl_outcall call;
    if (pl_locator_has_ended(&name->process))
        return no_port("the process that opened it has ended");
    int rc = go_there(vigil, name, deal);
    if (rc)
        return rc;
    rc = pl_port_call(vigil->listener, name, deal->wire, deal->length, deal->final, &call);
    if (rc)
        return rc == MPI_ERR_NO_MEM ? rc : no_port(pl_error_detail(NULL));
    pl_engine_progress(vigil->listener);
    while (!call.done && rc == MPI_SUCCESS) {
        if (is_gone(vigil, call.peer, &name->process))
            rc = no_port("the process that opened it has ended, or closed it");
        else if (is_late(vigil))
            rc = pl_fail(MPI_ERR_PORT, "nobody has accepted within %ld.%03ld s", vigil->patience / 1000,
                         vigil->patience % 1000);
        else
            port_wait_rest(vigil);
    }
    if (call.done)
        rc = port_wait_read_answer(&call, deal);
    pl_port_end_call(vigil->listener, &call, rc == MPI_SUCCESS);
    return rc;
}

int pl_port_wait_connect(const char *text, struct pl_deal *deal)
{
    struct pl_port_name name;
    struct vigil vigil;
    int rc = port_wait_begin(&vigil, text, deal, PL_WHAT_CONNECT, &name);
    if (rc)
        return rc;
    rc = call_and_wait(&vigil, &name, deal);
    pl_engine_leave(vigil.listener);
    return rc;
}
