/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats:
 *     CALL      u64 port, u64 node, u64 start time and i32 pid of the caller; u8 final; the caller's serialized group
 *     PROPOSE   i32 error, u32 serial and u64 home of the id; the accepting group, or why it refuses
 *     CONFIRM, HANG_UP   nothing
 */
#include "sessions/port/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory_libc.h"
#include "core/engine/engine.h"
#include "core/engine/peer.h"
#include "sessions/create/listener.h"

struct port {
    struct pl_list link;
    uint64_t number;
    bool far;               /* other hosts may call */
    struct pl_list callers; /* of pl_port_caller.link */
};

static struct pl_list ports = { &ports, &ports };
static struct pl_list proposed = { &proposed, &proposed }; /* of pl_port_caller.link: they have a proposal */
static struct pl_list calls = { &calls, &calls };          /* of pl_port_call.link */
static uint64_t port_tokens;                               /* given to calls so far */

/* --- ports ------------------------------------------------------------------------------------------------------ */

static struct port *port_find(uint64_t number)
{
    PL_LIST_EACH(port, &ports, struct port, link)
        if (port->number == number)
            return port;
    return NULL;
}

int pl_port_add(uint64_t number, bool far)
{
    struct port *port = pl_malloc(sizeof *port);
    if (!port)
        return pl_fail_memory("a port");
    port->number = number;
    port->far = far;
    pl_list_init(&port->callers);
    pl_list_append(&ports, &port->link);
    return MPI_SUCCESS;
}

static void port_close(struct pl_engine *listener, struct port *port)
{
    PL_LIST_EACH(caller, &port->callers, struct pl_port_caller, link)
        pl_port_refuse(listener, caller, MPI_ERR_PORT, "the port was closed");
    pl_list_remove(&port->link);
    free(port);
}

bool pl_port_remove(struct pl_engine *listener, uint64_t number)
{
    struct port *port = port_find(number);
    if (port)
        port_close(listener, port);
    return port != NULL;
}

void pl_port_remove_all(struct pl_engine *listener)
{
    pl_engine_enter(listener);
    while (pl_engine_progress(listener) > 0) /* callers whose message is already here are told, too */
        continue;
    PL_LIST_EACH(port, &ports, struct port, link)
        port_close(listener, port);
    pl_engine_leave(listener);
}

void pl_port_forget_peer(const struct pl_peer *peer)
{
    PL_LIST_EACH(caller, &proposed, struct pl_port_caller, link)
        if (caller->peer == peer)
            caller->peer = NULL;
    PL_LIST_EACH(call, &calls, struct pl_port_call, link)
        if (call->peer == peer)
            call->peer = NULL;
}

bool pl_port_holds_peer(const struct pl_peer *peer)
{
    PL_LIST_EACH(caller, &proposed, struct pl_port_caller, link)
        if (caller->peer == peer)
            return true;
    PL_LIST_EACH(call, &calls, struct pl_port_call, link)
        if (call->peer == peer)
            return true;
    return false;
}

void pl_port_forget_callers(void)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&proposed)) != NULL)
        free(PL_CONTAINER(node, struct pl_port_caller, link));
}

/* --- sending ---------------------------------------------------------------------------------------------------- */

/* Ends the writer. */
static int port_send(struct pl_engine *listener, struct pl_peer *peer, enum pl_listener_message kind, uint64_t token,
                     struct pl_writer *message)
{
    int rc = message->failed ? pl_fail_memory("a message to another job")
                             : pl_listener_send(listener, peer, kind, token, message->data, message->length);
    pl_writer_fini(message);
    return rc;
}

static int port_connect_back(struct pl_engine *listener, const struct pl_origin *from, struct pl_peer **peer)
{
    return pl_engine_peer(listener, from->card, from->card_length, UINT64_MAX, peer);
}

static struct pl_writer port_write_proposal(int error, struct pl_comm_id id, const void *data, size_t length)
{
    struct pl_writer message = pl_writer_growing(NULL, 0);
    pl_write_i32(&message, error);
    pl_write_u32(&message, id.serial);
    pl_write_u64(&message, id.home);
    pl_write_raw(&message, data, length);
    return message;
}

/* A caller that cannot be told has gone. */
static void port_send_error(struct pl_engine *listener, const struct pl_origin *from, uint64_t token, int error,
                            const char *why)
{
    struct pl_peer *peer;
    if (port_connect_back(listener, from, &peer))
        return;
    struct pl_writer message = port_write_proposal(error, (struct pl_comm_id){ .serial = 0 }, why, strlen(why));
    port_send(listener, peer, PL_PORT_PROPOSE, token, &message);
}

void pl_port_free_caller(struct pl_port_caller *caller)
{
    pl_list_remove(&caller->link);
    pl_origin_release(caller->from);
    free(caller);
}

void pl_port_refuse(struct pl_engine *listener, struct pl_port_caller *caller, int error, const char *why)
{
    port_send_error(listener, caller->from, caller->token, error, why);
    pl_port_free_caller(caller);
}

void pl_port_return_caller(uint64_t number, struct pl_port_caller *caller)
{
    struct port *port = port_find(number);
    pl_list_push(&port->callers, &caller->link);
}

bool pl_port_next_caller(uint64_t number, struct pl_port_caller **caller)
{
    struct port *port = port_find(number);
    struct pl_list *node = port ? pl_list_pop(&port->callers) : NULL;
    *caller = node ? PL_CONTAINER(node, struct pl_port_caller, link) : NULL;
    return port != NULL;
}

int pl_port_propose(struct pl_engine *listener, struct pl_port_caller *caller, struct pl_comm_id id,
                    const unsigned char *wire, size_t length)
{
    int rc = port_connect_back(listener, caller->from, &caller->peer);
    if (rc == MPI_SUCCESS) {
        struct pl_writer message = port_write_proposal(MPI_SUCCESS, id, wire, length);
        rc = port_send(listener, caller->peer, PL_PORT_PROPOSE, caller->token, &message);
    }
    if (rc) {
        pl_port_refuse(listener, caller, rc, "the accepting process is out of memory");
        return rc;
    }
    caller->state = PL_CALLER_PROPOSED;
    pl_list_append(&proposed, &caller->link);
    return MPI_SUCCESS;
}

int pl_port_call_start(struct pl_engine *listener, const struct pl_port_name *name, const unsigned char *wire,
                       size_t length, bool final, struct pl_port_call *call)
{
    struct pl_locator self = pl_locator_self();
    struct pl_writer message = pl_writer_growing(NULL, 0);
    *call = (struct pl_port_call){ .token = ++port_tokens };
    pl_list_init(&call->link);
    int rc = pl_engine_peer(listener, name->card, name->card_length, UINT64_MAX, &call->peer);
    if (rc)
        return rc;
    pl_port_name_write(&message, name->port, &self);
    pl_write_u8(&message, final);
    pl_write_raw(&message, wire, length);
    rc = port_send(listener, call->peer, PL_PORT_CALL, call->token, &message);
    if (rc == MPI_SUCCESS)
        pl_list_append(&calls, &call->link);
    return rc;
}

void pl_port_call_end(struct pl_engine *listener, struct pl_port_call *call, bool confirm)
{
    pl_list_remove(&call->link);
    if (call->peer && (confirm || !call->answered))
        pl_listener_send(listener, call->peer, confirm ? PL_PORT_CONFIRM : PL_PORT_HANG_UP, call->token, NULL, 0);
    free(call->wire);
    call->wire = NULL;
}

/* --- what arrives ----------------------------------------------------------------------------------------------- */

static void port_call_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                              struct pl_reader message)
{
    struct pl_locator process;
    uint64_t number = pl_port_name_read(&message, &process);
    bool final = pl_read_u8(&message) != 0;
    size_t length = pl_reader_left(&message);
    if (message.failed)
        return;
    struct port *port = port_find(number);
    if (!port) {
        port_send_error(listener, from, token, MPI_ERR_PORT,
                        "its process has not opened such a port, or has closed it");
        return;
    }
    if (!port->far && process.node != pl_locator_node()) {
        port_send_error(listener, from, token, MPI_ERR_PORT, "it is of its own host alone");
        return;
    }
    struct pl_port_caller *caller = pl_malloc(sizeof *caller + length);
    if (!caller) {
        port_send_error(listener, from, token, MPI_ERR_NO_MEM, "the accepting process is out of memory");
        return;
    }
    *caller =
        (struct pl_port_caller){ .from = from, .process = process, .final = final, .token = token, .length = length };
    pl_origin_hold(from);
    pl_read_copy(&message, caller->wire, length);
    pl_list_append(&port->callers, &caller->link);
    pl_listener_wake(listener);
}

static void port_read_proposal(struct pl_port_call *call, struct pl_reader message)
{
    int32_t error = pl_read_i32(&message);
    call->id.serial = pl_read_u32(&message);
    call->id.home = pl_read_u64(&message);
    call->length = pl_reader_left(&message);
    call->answered = true;
    if (message.failed) {
        call->error = MPI_ERR_OTHER;
        snprintf(call->why, sizeof call->why, "the answer is damaged");
    } else if (error) {
        call->error = pl_error_class_name(error) || error == PL_UNREACHABLE ? error : MPI_ERR_OTHER;
        snprintf(call->why, sizeof call->why, "%.*s", (int)call->length, (const char *)message.at);
    } else if (!(call->wire = pl_memdup(message.at, call->length))) {
        call->error = MPI_ERR_NO_MEM;
        snprintf(call->why, sizeof call->why, "out of memory for the accepting group");
    }
}

static void port_proposal_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                                  struct pl_reader message)
{
    struct pl_peer *peer;
    PL_LIST_EACH(call, &calls, struct pl_port_call, link)
        if (call->token == token && !call->answered && call->peer && call->peer->engine == from->engine) {
            port_read_proposal(call, message);
            pl_listener_wake(listener);
            return;
        }
    /* The call has ended: the proposal is declined. */
    bool proposal = pl_read_i32(&message) == MPI_SUCCESS && !message.failed;
    if (proposal && port_connect_back(listener, from, &peer) == MPI_SUCCESS)
        pl_listener_send(listener, peer, PL_PORT_HANG_UP, token, NULL, 0);
}

static bool port_is_caller(const struct pl_port_caller *caller, const struct pl_origin *from, uint64_t token)
{
    return caller->from->engine == from->engine && caller->token == token;
}

static void port_end_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token, bool confirmed)
{
    PL_LIST_EACH(caller, &proposed, struct pl_port_caller, link)
        if (port_is_caller(caller, from, token) && caller->state == PL_CALLER_PROPOSED) {
            caller->state = confirmed ? PL_CALLER_CONFIRMED : PL_CALLER_GONE;
            pl_listener_wake(listener);
            return;
        }
    PL_LIST_EACH(port, &ports, struct port, link)
        PL_LIST_EACH(caller, &port->callers, struct pl_port_caller, link)
            if (!confirmed && port_is_caller(caller, from, token)) {
                pl_port_free_caller(caller);
                return;
            }
}

static unsigned port_losses;

void pl_port_message_starved(const char *why)
{
    port_losses++;
    PL_LIST_EACH(call, &calls, struct pl_port_call, link)
        if (!call->answered) {
            call->answered = true;
            call->error = MPI_ERR_NO_MEM;
            snprintf(call->why, sizeof call->why, "%s", why);
        }
}

unsigned pl_port_losses(void)
{
    return port_losses;
}

void pl_port_message_arrived(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                             const void *data)
{
    struct pl_reader message = pl_reader(data, header->size);
    switch (header->tag) {
    case PL_PORT_CALL: port_call_arrived(listener, from, header->token, message); break;
    case PL_PORT_PROPOSE: port_proposal_arrived(listener, from, header->token, message); break;
    case PL_PORT_CONFIRM: port_end_arrived(listener, from, header->token, true); break;
    case PL_PORT_HANG_UP: port_end_arrived(listener, from, header->token, false); break;
    default: break;
    }
}
