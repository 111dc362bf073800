/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: their names, those that are open, and what arrives for them and is said at the front door. */
#include "sessions/port/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/engine/engine.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "sessions/create/exchange_parts.h"
#include "sessions/create/listener.h"
#include "sessions/port/parts.h"

/* The text: the prefix, a check, ":", and in hexadecimal digits struct fixed and the door's card. */
#define PREFIX "plenum:"
struct fixed {
    uint64_t port, node, started;
    int32_t pid;
} __attribute__((packed)); /* there is no room to waste */
enum { CHECK_AT = sizeof PREFIX - 1, HEAD = CHECK_AT + 8 + 1, BYTES_MAX = sizeof(struct fixed) + PL_CARD_MAX };
_Static_assert(HEAD + 2 * BYTES_MAX < MPI_MAX_PORT_NAME, "the text of a port has room for every card");

/* What a call begins with; the caller's list of members follows. */
struct call {
    struct fixed fixed; /* the port, and who calls */
    uint8_t final;      /* its group has got all transports that it can */
} __attribute__((packed));

struct port {
    struct pl_list link;
    uint64_t number;
    struct pl_list callers; /* of pl_caller.link */
};

static struct pl_list ports = { &ports, &ports };
static struct pl_list offered = { &offered, &offered }; /* of pl_caller.link */
static struct pl_list calls = { &calls, &calls };       /* of pl_outcall.link */
static uint64_t tokens;

/* --- names ------------------------------------------------------------------------------------------------------ */

static struct fixed fixed_of(uint64_t port)
{
    struct pl_locator own = pl_locator_self();
    return (struct fixed){ port, own.node, own.started, own.pid };
}

static struct pl_locator process_of(const struct fixed *fixed)
{
    return (struct pl_locator){ fixed->node, fixed->started, fixed->pid };
}

/* Tells a text that was cut or mistyped. */
static uint32_t check_of(const unsigned char *data, size_t length)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ data[i]) * 0x100000001b3u;
    return (uint32_t)(sum ^ sum >> 32);
}

static void port_write_name(uint64_t number, const struct pl_engine *listener, char name[MPI_MAX_PORT_NAME])
{
    unsigned char data[BYTES_MAX];
    struct fixed fixed = fixed_of(number);
    size_t length = sizeof fixed + listener->card_length;
    memcpy(data, &fixed, sizeof fixed);
    memcpy(data + sizeof fixed, listener->card, listener->card_length);
    int at = snprintf(name, MPI_MAX_PORT_NAME, PREFIX "%08x:", check_of(data, length));
    for (size_t i = 0; i < length; i++)
        at += snprintf(name + at, MPI_MAX_PORT_NAME - (size_t)at, "%02x", data[i]);
}

static int bad_name(const char *text, const char *why)
{
    return pl_fail(MPI_ERR_PORT, "port_name \"%.40s%s\" %s", text, strlen(text) > 40 ? "..." : "", why);
}

/* `digits` hexadecimal digits; false: they are not. */
static bool port_read_number(const char *text, int digits, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *number = *number << 4 | (uint32_t)digit;
    }
    return true;
}

int pl_port_parse(const char *text, struct pl_port_name *name)
{
    unsigned char data[BYTES_MAX];
    struct fixed fixed;
    uint32_t check, byte;
    size_t length = strnlen(text, MPI_MAX_PORT_NAME), bytes = length > HEAD ? (length - HEAD) / 2 : 0;
    if (strncmp(text, PREFIX, sizeof PREFIX - 1) != 0)
        return bad_name(text, "is not the name of a port: those that MPI_Open_port gives begin with \"" PREFIX "\"");
    if (bytes < sizeof fixed || bytes > BYTES_MAX || length != HEAD + 2 * bytes || text[HEAD - 1] != ':' ||
        !port_read_number(text + CHECK_AT, 8, &check))
        return bad_name(text, "is damaged or cut");
    for (size_t i = 0; i < bytes; i++) {
        if (!port_read_number(text + HEAD + 2 * i, 2, &byte))
            return bad_name(text, "is damaged");
        data[i] = (unsigned char)byte;
    }
    if (check != check_of(data, bytes))
        return bad_name(text, "is damaged or cut");
    memcpy(&fixed, data, sizeof fixed);
    name->port = fixed.port;
    name->process = process_of(&fixed);
    name->card_length = bytes - sizeof fixed;
    memcpy(name->card, data + sizeof fixed, name->card_length);
    return MPI_SUCCESS;
}

int pl_port_check(const char *text)
{
    struct pl_port_name name;
    return pl_port_parse(text, &name);
}

/* --- open and close --------------------------------------------------------------------------------------------- */

static struct port *port_find(uint64_t number)
{
    PL_LIST_EACH(port, &ports, struct port, link)
        if (port->number == number)
            return port;
    return NULL;
}

int pl_port_open(bool far, char name[MPI_MAX_PORT_NAME])
{
    struct pl_engine *listener;
    struct port *port = pl_malloc(sizeof *port);
    if (!port)
        return pl_fail_memory("a port");
    int rc = pl_exchange_listener(&listener);
    if (rc == MPI_SUCCESS && getrandom(&port->number, sizeof port->number, 0) != sizeof port->number)
        rc = pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for a port");
    if (rc) {
        free(port);
        return rc;
    }
    if (far && pl_engine_add_network(listener))
        pl_log("engine", 1, "other hosts cannot call at this port: %s", pl_error_detail(NULL));
    pl_list_init(&port->callers);
    pl_engine_enter(listener);
    pl_list_append(&ports, &port->link);
    port_write_name(port->number, listener, name);
    pl_engine_leave(listener);
    return MPI_SUCCESS;
}

static void close_port(struct pl_engine *listener, struct port *port)
{
    PL_LIST_EACH(caller, &port->callers, struct pl_caller, link)
        pl_port_refuse(listener, caller, MPI_ERR_PORT, "the port was closed");
    pl_list_remove(&port->link);
    free(port);
}

int pl_port_close(const char *text)
{
    struct pl_port_name name;
    struct pl_engine *listener;
    int rc = pl_port_parse(text, &name);
    if (rc == MPI_SUCCESS)
        rc = pl_exchange_listener(&listener);
    if (rc)
        return rc;
    pl_engine_enter(listener);
    struct port *port = port_find(name.port);
    if (port)
        close_port(listener, port);
    pl_engine_leave(listener);
    return port ? MPI_SUCCESS : bad_name(text, "is no open port of this process");
}

void pl_ports_close(struct pl_engine *listener)
{
    pl_engine_enter(listener);
    while (pl_engine_progress(listener) > 0) /* who has called already is told, too */
        continue;
    PL_LIST_EACH(port, &ports, struct port, link)
        close_port(listener, port);
    pl_engine_leave(listener);
}

void pl_ports_forget(void)
{
    PL_LIST_EACH(caller, &offered, struct pl_caller, link)
        pl_port_drop(caller);
}

/* --- what is said ----------------------------------------------------------------------------------------------- */

static int port_say(struct pl_engine *listener, struct pl_peer *peer, int kind, uint64_t token, const void *data,
                    size_t size)
{
    struct pl_header header = { .kind = PL_MSG_LISTENER, .tag = kind, .token = token };
    return pl_engine_control(listener, peer, &header, data, size);
}

/* A head, and what follows it. */
static int say_with(struct pl_engine *listener, struct pl_peer *peer, int kind, uint64_t token, const void *head,
                    size_t head_size, const void *data, size_t size)
{
    unsigned char *message = pl_malloc(head_size + size);
    if (!message)
        return pl_fail_memory("a message to another job");
    memcpy(message, head, head_size);
    memcpy(message + head_size, data, size);
    int rc = port_say(listener, peer, kind, token, message, head_size + size);
    free(message);
    return rc;
}

static int port_cma(struct pl_engine *listener, const struct pl_origin *from, struct pl_peer **peer)
{
    return pl_engine_peer(listener, from->card, from->card_length, UINT64_MAX, peer);
}

static void port_answer_error(struct pl_engine *listener, const struct pl_origin *from, uint64_t token, int error,
                              const char *why)
{
    struct pl_peer *peer;
    struct pl_port_proposal proposal = { .error = error };
    if (port_cma(listener, from, &peer) == MPI_SUCCESS) /* who cannot be told has gone */
        say_with(listener, peer, PL_LISTENER_PROPOSE, token, &proposal, sizeof proposal, why, strlen(why));
}

void pl_port_drop(struct pl_caller *caller)
{
    pl_list_remove(&caller->link);
    free(caller);
}

void pl_port_refuse(struct pl_engine *listener, struct pl_caller *caller, int error, const char *why)
{
    port_answer_error(listener, caller->from, caller->token, error, why);
    pl_port_drop(caller);
}

void pl_port_put_back(uint64_t number, struct pl_caller *caller)
{
    struct port *port = port_find(number);
    pl_list_push(&port->callers, &caller->link);
}

bool pl_port_next(uint64_t number, struct pl_caller **caller)
{
    struct port *port = port_find(number);
    struct pl_list *node = port ? pl_list_pop(&port->callers) : NULL;
    *caller = node ? PL_CONTAINER(node, struct pl_caller, link) : NULL;
    return port != NULL;
}

int pl_port_propose(struct pl_engine *listener, struct pl_caller *caller, const struct pl_port_proposal *proposal,
                    const unsigned char *wire, size_t length)
{
    int rc = port_cma(listener, caller->from, &caller->peer);
    if (rc == MPI_SUCCESS)
        rc = say_with(listener, caller->peer, PL_LISTENER_PROPOSE, caller->token, proposal, sizeof *proposal, wire,
                      length);
    if (rc) {
        free(caller);
        return rc;
    }
    caller->state = PL_CALLER_PROPOSED;
    pl_list_append(&offered, &caller->link);
    return MPI_SUCCESS;
}

int pl_port_call(struct pl_engine *listener, const struct pl_port_name *name, const unsigned char *wire, size_t length,
                 bool final, struct pl_outcall *call)
{
    *call = (struct pl_outcall){ .token = ++tokens };
    pl_list_init(&call->link);
    struct call head = { fixed_of(name->port), final };
    int rc = pl_engine_peer(listener, name->card, name->card_length, UINT64_MAX, &call->peer);
    if (rc == MPI_SUCCESS)
        rc = say_with(listener, call->peer, PL_LISTENER_CALL, call->token, &head, sizeof head, wire, length);
    if (rc == MPI_SUCCESS)
        pl_list_append(&calls, &call->link);
    return rc;
}

void pl_port_end_call(struct pl_engine *listener, struct pl_outcall *call, bool taken)
{
    pl_list_remove(&call->link);
    if (taken || !call->done)
        port_say(listener, call->peer, taken ? PL_LISTENER_TAKE : PL_LISTENER_HANG_UP, call->token, NULL, 0);
    free(call->answer);
    call->answer = NULL;
}

/* --- what arrives ----------------------------------------------------------------------------------------------- */

static void port_wake(struct pl_engine *listener)
{
    if (atomic_load(&listener->wait.sleepers) > 0)
        pl_engine_wake(listener);
}

static void call_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                         const unsigned char *data, size_t size)
{
    struct call head;
    if (size < sizeof head)
        return;
    memcpy(&head, data, sizeof head);
    struct port *port = port_find(head.fixed.port);
    if (!port) {
        port_answer_error(listener, from, token, MPI_ERR_PORT, "its process has no such port open, or not any more");
        return;
    }
    struct pl_caller *caller = pl_malloc(sizeof *caller + size - sizeof head);
    if (!caller) {
        port_answer_error(listener, from, token, MPI_ERR_NO_MEM, "the accepting process is out of memory");
        return;
    }
    *caller = (struct pl_caller){
        .from = from,
        .process = process_of(&head.fixed),
        .final = head.final,
        .token = token,
        .length = size - sizeof head,
    };
    memcpy(caller->wire, data + sizeof head, caller->length);
    pl_list_append(&port->callers, &caller->link);
    port_wake(listener);
}

/* An offer that nobody waits for any more is declined. */
static void propose_arrived(struct pl_engine *listener, const struct pl_origin *from, uint64_t token,
                            const unsigned char *data, size_t size)
{
    struct pl_port_proposal proposal;
    struct pl_peer *peer;
    PL_LIST_EACH(call, &calls, struct pl_outcall, link) {
        if (call->token != token || call->done || call->peer->engine != from->engine)
            continue;
        call->done = true;
        port_wake(listener);
        if (size < sizeof proposal || !(call->answer = pl_malloc(size))) {
            call->error = MPI_ERR_OTHER;
            snprintf(call->why, sizeof call->why, "the answer is lost");
            return;
        }
        memcpy(call->answer, data, call->length = size);
        memcpy(&proposal, data, sizeof proposal);
        if (proposal.error)
            call->error = pl_error_class_name(proposal.error) || proposal.error == PL_UNREACHABLE ? proposal.error
                                                                                                  : MPI_ERR_OTHER;
        if (proposal.error)
            snprintf(call->why, sizeof call->why, "%.*s", (int)(size - sizeof proposal),
                     (const char *)data + sizeof proposal);
        return;
    }
    if (size >= sizeof proposal && memcmp(data, &(int32_t){ MPI_SUCCESS }, sizeof(int32_t)) == 0 &&
        port_cma(listener, from, &peer) == MPI_SUCCESS)
        port_say(listener, peer, PL_LISTENER_HANG_UP, token, NULL, 0);
}

static bool is_caller(const struct pl_caller *caller, const struct pl_origin *from, uint64_t token)
{
    return caller->from->engine == from->engine && caller->token == token;
}

static void port_decided(struct pl_engine *listener, const struct pl_origin *from, uint64_t token, bool taken)
{
    PL_LIST_EACH(caller, &offered, struct pl_caller, link)
        if (is_caller(caller, from, token) && caller->state == PL_CALLER_PROPOSED) {
            caller->state = taken ? PL_CALLER_TAKEN : PL_CALLER_GONE;
            port_wake(listener);
            return;
        }
    PL_LIST_EACH(port, &ports, struct port, link)
        PL_LIST_EACH(caller, &port->callers, struct pl_caller, link)
            if (!taken && is_caller(caller, from, token)) {
                pl_port_drop(caller);
                return;
            }
}

void pl_port_arrived(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                     const void *data)
{
    switch (header->tag) {
    case PL_LISTENER_CALL: call_arrived(listener, from, header->token, data, header->size); break;
    case PL_LISTENER_PROPOSE: propose_arrived(listener, from, header->token, data, header->size); break;
    case PL_LISTENER_TAKE: port_decided(listener, from, header->token, true); break;
    case PL_LISTENER_HANG_UP: port_decided(listener, from, header->token, false); break;
    default: break;
    }
}
