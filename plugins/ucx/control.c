/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages between two UCX transports. */
#include "plugins/ucx/control.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/ucx/link.h"
#include "plugins/ucx/receive.h"
#include "plugins/ucx/send.h"

/* The data of a hello: this, the card, the address. */
struct ucx_hello {
    uint32_t card, address; /* bytes */
};

int pl_ucx_control_send_hello(struct pl_ucx_link *link)
{
    struct pl_ucx *ucx = link->ucx;
    unsigned char data[1024];
    struct ucx_hello head;
    size_t card_length, address_length;
    const void *card = ucx->host->engine_card(ucx->engine, &card_length);
    if (sizeof head + card_length + PL_UCX_ADDRESS_MAX > sizeof data)
        return ucx->host->fail(MPI_ERR_INTERN, "an address card of %zu bytes is too long for a hello", card_length);

    unsigned char *address = data + sizeof head + card_length;
    int err = plenum_transport.address(ucx, address, PL_UCX_ADDRESS_MAX, &address_length);
    if (err)
        return err;
    head = (struct ucx_hello){ .card = (uint32_t)card_length, .address = (uint32_t)address_length };
    memcpy(data, &head, sizeof head);
    if (card_length)
        memcpy(data + sizeof head, card, card_length);
    return pl_ucx_post(link, PL_UCX_HELLO, 0, data, sizeof head + card_length + address_length);
}

static int ucx_control_on_hello(struct pl_ucx_link *link, const unsigned char *data, size_t bytes)
{
    struct ucx_hello head;
    if (bytes < sizeof head)
        return MPI_ERR_OTHER;
    memcpy(&head, data, sizeof head);
    if (link->origin.card || (uint64_t)head.card + head.address + sizeof head != bytes)
        return MPI_ERR_OTHER;
    void *card = pl_malloc(head.card ? head.card : 1);
    if (!card)
        return MPI_ERR_NO_MEM;
    memcpy(card, data + sizeof head, head.card);
    link->admitted = link->ucx->unclaimed = true;
    link->origin.card = card;
    link->origin.card_length = head.card;
    return pl_ucx_link_set_address(link, data + sizeof head + head.card, head.address);
}

/* Messages are handled in order: all numbers below the ASK's have been handed to the engine. The peer's gate may have
 * to admit this process before it can answer. */
static int ucx_control_on_ask(struct pl_ucx_link *link, uint64_t token)
{
    link->owed = token;
    int err = pl_ucx_link_open(link);
    return err || !link->ep ? err : pl_ucx_control_send_owed(link);
}

int pl_ucx_control_send_owed(struct pl_ucx_link *link)
{
    uint64_t token = link->owed;
    link->owed = 0;
    return token ? pl_ucx_post(link, PL_UCX_ACK, token, NULL, 0) : MPI_SUCCESS;
}

static void ucx_control_on_ack(struct pl_ucx_link *link, uint32_t number)
{
    if (number == link->asked)
        link->acked = number;
}

static bool ucx_control_is_pending(const struct pl_ucx_link *link)
{
    PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry)
        if (send->message)
            return true;
    return !pl_list_empty(&link->rndvs);
}

static void ucx_control_on_leave(struct pl_ucx_link *link)
{
    link->departed = true;
    if (ucx_control_is_pending(link))
        pl_ucx_link_fail(link, MPI_ERR_PROC_ABORTED, "it has finalized");
    else
        link->ucx->host->closed(link->ucx->engine, link->endpoint.peer ? &link->endpoint : NULL,
                                link->origin.card ? &link->origin : NULL);
}

static int ucx_control_on_forget(struct pl_ucx_link *link, uint64_t number)
{
    PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry)
        if (send->wire.number == number && send->message && send->message->rndv)
            send->message = NULL;
    int err = pl_ucx_link_open(link);
    return err || !link->ep ? err : pl_ucx_post(link, PL_UCX_FORGOTTEN, number, NULL, 0);
}

static void ucx_control_on_forgotten(struct pl_ucx_link *link, uint64_t number)
{
    PL_LIST_EACH(rndv, &link->rndvs, struct pl_ucx_rndv, entry)
        if (rndv->number == number && rndv->state == PL_UCX_RNDV_CANCELLED)
            pl_ucx_rndv_release(rndv);
}

void pl_ucx_control_handle(struct pl_ucx_link *link, const struct pl_ucx_wire *wire, const void *data, size_t bytes)
{
    int err = MPI_SUCCESS;
    switch ((enum pl_ucx_control)wire->control) {
    case PL_UCX_HELLO: err = ucx_control_on_hello(link, data, bytes); break;
    case PL_UCX_ASK: err = ucx_control_on_ask(link, wire->header.token); break;
    case PL_UCX_ACK: ucx_control_on_ack(link, (uint32_t)wire->header.token); break;
    case PL_UCX_LEAVE: ucx_control_on_leave(link); break;
    case PL_UCX_FORGET: err = ucx_control_on_forget(link, wire->header.token); break;
    case PL_UCX_FORGOTTEN: ucx_control_on_forgotten(link, wire->header.token); break;
    case PL_UCX_MESSAGE:
    case PL_UCX_CONTROLS: err = MPI_ERR_OTHER; break;
    }
    if (err)
        pl_ucx_link_fail(link, err < 0 ? MPI_ERR_OTHER : err,
                         err == MPI_ERR_NO_MEM ? "out of memory for a connection" : "a control message is damaged");
}

bool pl_ucx_control_flushed(struct pl_ucx *ucx)
{
    bool all = true;
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry) {
        if (link->error || link->departed)
            continue;
        uint64_t token = (uint64_t)1 << 32 | link->due; /* not 0, which means that none is owed */
        if (link->asked != link->due && pl_ucx_post(link, PL_UCX_ASK, token, NULL, 0) == MPI_SUCCESS)
            link->asked = link->due;
        PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry)
            all &= !send->message;
        all &= pl_ucx_link_is_acked(link);
    }
    if (!all)
        pl_ucx_links_check(ucx, false);
    return all && pl_list_empty(&ucx->failed);
}
