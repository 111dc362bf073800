/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What two UCX transports tell each other besides the engine's messages; in the same numbered order.
 *
 * Why there is ASK and ACK: a send that UCX calls complete may lie in a socket's buffer, and a socket that is closed
 * with unread data throws away what it was still sending. So an engine that closes asks every peer it has sent to, and
 * waits for the answer that all was taken, or for LEAVE, or for the peer's end.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/ucx/ucx.h"

/* The data of a hello: this, the card, the address. */
struct hello {
    uint32_t card, address; /* bytes */
};

int ucx_control_hello(struct ucx_link *link)
{
    struct ucx *ucx = link->ucx;
    unsigned char data[1024];
    struct hello head;
    size_t card_length, address_length;
    const void *card = ucx->host->engine_card(ucx->engine, &card_length);
    if (sizeof head + card_length + UCX_ADDRESS_MAX > sizeof data)
        return ucx->host->fail(MPI_ERR_INTERN, "an address card of %zu bytes", card_length);

    unsigned char *address = data + sizeof head + card_length;
    int err = plenum_transport.address(ucx, address, UCX_ADDRESS_MAX, &address_length);
    if (err)
        return err;
    head = (struct hello){ .card = (uint32_t)card_length, .address = (uint32_t)address_length };
    memcpy(data, &head, sizeof head);
    if (card_length)
        memcpy(data + sizeof head, card, card_length);
    return ucx_post(link, UCX_HELLO, 0, data, sizeof head + card_length + address_length);
}

static int handle_hello(struct ucx_link *link, const unsigned char *data, size_t bytes)
{
    struct hello head;
    if (bytes < sizeof head)
        return MPI_ERR_OTHER;
    memcpy(&head, data, sizeof head);
    if (link->origin.card || (uint64_t)head.card + head.address + sizeof head != bytes)
        return MPI_ERR_OTHER;
    void *card = malloc(head.card ? head.card : 1);
    if (!card)
        return MPI_ERR_NO_MEM;
    memcpy(card, data + sizeof head, head.card);
    link->origin.card = card;
    link->origin.card_length = head.card;
    return ucx_link_learn(link, data + sizeof head + head.card, head.address);
}

/* All that was numbered below the ask has been handed to the engine: messages are handled in order. */
static int handle_ask(struct ucx_link *link, uint64_t token)
{
    int err = ucx_link_open(link);
    return err ? err : ucx_post(link, UCX_ACK, token, NULL, 0);
}

static void handle_ack(struct ucx_link *link, uint32_t number)
{
    if ((int32_t)(number - link->acked) > 0 && (int32_t)(number - link->next_out) <= 0)
        link->acked = number;
}

static bool under_way(const struct ucx_link *link)
{
    PL_LIST_EACH(send, &link->sends, struct ucx_send, entry)
        if (send->message)
            return true;
    return !pl_list_empty(&link->rndvs);
}

static void handle_leave(struct ucx_link *link)
{
    link->left = true;
    if (under_way(link))
        ucx_link_fail(link, MPI_ERR_PROC_ABORTED);
    else
        link->ucx->host->closed(link->ucx->engine, link->endpoint.peer ? &link->endpoint : NULL,
                                link->origin.card ? &link->origin : NULL);
}

static int handle_forget(struct ucx_link *link, uint64_t number)
{
    PL_LIST_EACH(send, &link->sends, struct ucx_send, entry)
        if (send->wire.number == number && send->message && send->message->rndv)
            send->message = NULL;
    int err = ucx_link_open(link);
    return err ? err : ucx_post(link, UCX_FORGOTTEN, number, NULL, 0);
}

static void handle_forgotten(struct ucx_link *link, uint64_t number)
{
    PL_LIST_EACH(rndv, &link->rndvs, struct ucx_rndv, entry)
        if (rndv->number == number && rndv->cancelled)
            ucx_rndv_release(rndv);
}

void ucx_control_handle(struct ucx_link *link, const struct ucx_wire *wire, const void *data, size_t bytes)
{
    int err = MPI_SUCCESS;
    switch ((enum ucx_control)wire->control) {
    case UCX_HELLO: err = handle_hello(link, data, bytes); break;
    case UCX_ASK: err = handle_ask(link, wire->header.token); break;
    case UCX_ACK: handle_ack(link, (uint32_t)wire->header.token); break;
    case UCX_LEAVE: handle_leave(link); break;
    case UCX_FORGET: err = handle_forget(link, wire->header.token); break;
    case UCX_FORGOTTEN: handle_forgotten(link, wire->header.token); break;
    case UCX_MESSAGE:
    case UCX_CONTROLS: err = MPI_ERR_OTHER; break;
    }
    if (err)
        ucx_link_fail(link, err < 0 ? MPI_ERR_OTHER : err);
}

bool ucx_control_flushed(struct ucx *ucx)
{
    bool all = true;
    PL_LIST_EACH(link, &ucx->links, struct ucx_link, entry) {
        if (link->error || link->left)
            continue;
        if (link->asked != link->due && ucx_post(link, UCX_ASK, link->due, NULL, 0) == MPI_SUCCESS)
            link->asked = link->due;
        PL_LIST_EACH(send, &link->sends, struct ucx_send, entry)
            all &= !send->message;
        all &= ucx_link_taken(link);
    }
    if (!all)
        ucx_link_check(ucx);
    return all && pl_list_empty(&ucx->failed);
}
