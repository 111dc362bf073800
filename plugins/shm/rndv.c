/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rendezvous protocol. S and R are the tokens of the sender and of the receiver.
 *
 *     sender                                  receiver
 *     RTS  header, S, address of the data -->
 *                                             the message is matched
 *     either
 *                                         <-- CTS  S, R, bytes wanted
 *     DATA R, bytes, FIFO, position       -->
 *     the data, through the FIFO          -->
 *
 *     or
 *                                             the kernel copies the data
 *                                         <-- FIN  S
 *
 * The receiver chooses. It answers with FIN when it discards the message, or when it wants no data. The send completes
 * with the FIN, or when its last byte is in the FIFO.
 *
 * The sender answers a CTS with NACK R if the message was withdrawn meanwhile, or if memory for a FIFO is short. In the
 * latter case the receiver may still have the kernel copy the data. It answers with FIN either way. A sender that gives
 * up the connection while a FIFO fills sends NACK R as well, behind its DATA.
 */
#include "plugins/shm/rndv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/shm/cma.h"
#include "plugins/shm/doorbell.h"
#include "plugins/shm/fifo.h"
#include "plugins/shm/ring.h"
#include "plugins/shm/shm_peer.h"

/* --- the sender -------------------------------------------------------------------------------------------------- */

int pl_shm_rndv_send_rts(struct pl_shm_peer *peer, struct pl_outgoing *message)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    struct pl_shm_rts rts = { .address = (uint64_t)(uintptr_t)pl_cursor_direct(&message->data) };
    struct pl_shm_record *record = pl_shm_reserve(&peer->out, sizeof rts);
    if (!record)
        return PL_AGAIN;
    rts.token = pl_shm_token_create(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, message);
    if (rts.token == 0)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a message to process %d", (int)peer->address.pid);
    *sending = (struct pl_shm_sending){ .token = rts.token };
    pl_list_append(&peer->rts_sent, &sending->link);
    message->rndv = true;
    record->header = message->header;
    memcpy(record->inline_data, &rts, sizeof rts);
    pl_shm_publish(&peer->out, record, PL_SHM_RTS, sizeof rts);
    pl_shm_notify(peer);
    return PL_PENDING;
}

static void rndv_release_token(struct pl_shm *shm, uint64_t *token)
{
    if (*token)
        pl_shm_token_release(&shm->tokens, *token);
    *token = 0;
}

/* The receiver wants `bytes` from `start` on: reserves space in a FIFO, which progress then fills, and sends DATA. */
static bool rndv_on_cts(struct pl_shm_peer *peer, const struct pl_shm_control *cts)
{
    struct pl_shm *shm = peer->shm;
    struct pl_outgoing *message = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, cts->token);
    if (!message)
        return pl_shm_control_send(peer, PL_SHM_NACK, &(struct pl_shm_control){ .token = cts->reply });
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    uint64_t size = message->header.size;
    if (cts->bytes == 0 || cts->start > size || cts->bytes > size - cts->start)
        return false;
    if (pl_shm_fifo_acquire(peer) != MPI_SUCCESS)
        return pl_shm_control_send(peer, PL_SHM_NACK,
                                   &(struct pl_shm_control){ .token = cts->reply, .bytes = cts->bytes });
    pl_list_remove(&sending->link);
    rndv_release_token(shm, &sending->token);
    if (cts->start > 0)
        shm->host->seek(&message->data, cts->start);
    sending->remaining = cts->bytes;
    sending->reply = cts->reply;
    pl_list_append(&peer->filling, &sending->link);
    pl_shm_activate(peer);
    struct pl_shm_control data = { .token = cts->reply, .bytes = cts->bytes, .fifo = peer->out_fifo->span.offset };
    data.start = pl_shm_fifo_reserve(peer->out_fifo, cts->bytes);
    return pl_shm_control_send(peer, PL_SHM_DATA, &data);
}

static bool rndv_on_fin(struct pl_shm_peer *peer, const struct pl_shm_control *fin)
{
    struct pl_shm *shm = peer->shm;
    struct pl_outgoing *message = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, fin->token);
    if (!message) /* withdrawn */
        return true;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    pl_list_remove(&sending->link);
    rndv_release_token(shm, &sending->token);
    shm->host->sent(shm->engine, message, MPI_SUCCESS);
    return true;
}

bool pl_shm_rndv_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    if (!sending->token) /* the CTS has arrived: the send will complete soon */
        return false;
    pl_list_remove(&sending->link);
    rndv_release_token(peer->shm, &sending->token);
    return true;
}

/* A FIFO that ends amid a message is given up too: the receiver cannot tell where the next message would begin. */
void pl_shm_rndv_give_up(struct pl_shm_peer *peer)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->rts_sent)) != NULL)
        rndv_release_token(peer->shm, &PL_CONTAINER(node, struct pl_shm_sending, link)->token);
    if (pl_list_empty(&peer->filling))
        return;
    while ((node = pl_list_pop(&peer->filling)) != NULL)
        pl_shm_control_send(peer, PL_SHM_NACK,
                            &(struct pl_shm_control){ .token =
                                                          PL_CONTAINER(node, struct pl_shm_sending, link)->reply });
    pl_shm_fifo_release(peer, false);
}

/* --- the receiver ------------------------------------------------------------------------------------------------ */

bool pl_shm_rndv_rts_arrived(struct pl_shm_peer *peer, const struct pl_header *header, const struct pl_shm_rts *rts)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_rndv *rndv = pl_malloc(sizeof *rndv);
    if (!rndv) {
        shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a message from process %d", (int)peer->address.pid);
        pl_shm_peer_leave(peer, MPI_ERR_NO_MEM, "out of memory for a message");
        return false;
    }
    *rndv = (struct pl_shm_rndv){ .base.ops = &pl_transport_shm,
                                  .peer = peer,
                                  .sender_token = rts->token,
                                  .address = rts->address,
                                  .size = header->size };
    pl_list_init(&rndv->link);
    peer->rndvs++;
    return shm->host->arrived(shm->engine, &peer->origin, header, NULL, &rndv->base);
}

static void rndv_free(struct pl_shm_rndv *rndv)
{
    pl_list_remove(&rndv->link);
    rndv_release_token(rndv->peer->shm, &rndv->token);
    rndv->peer->rndvs--;
    free(rndv);
}

void pl_shm_rndv_finish(struct pl_shm_rndv *rndv, int error)
{
    struct pl_shm *shm = rndv->peer->shm;
    struct pl_incoming *in = rndv->in;
    rndv_free(rndv);
    shm->host->fetched(shm->engine, in, error);
}

static bool rndv_send_fin(struct pl_shm_rndv *rndv)
{
    return pl_shm_control_send(rndv->peer, PL_SHM_FIN, &(struct pl_shm_control){ .token = rndv->sender_token });
}

/* Asks the sender for the bytes that are still missing. False: out of memory. */
static bool rndv_send_cts(struct pl_shm_rndv *rndv)
{
    struct pl_shm_peer *peer = rndv->peer;
    rndv->token = pl_shm_token_create(&peer->shm->tokens, PL_SHM_TOKEN_RECEIVING, peer, rndv);
    if (rndv->token == 0)
        return false;
    pl_list_remove(&rndv->link);
    pl_list_append(&peer->cts_sent, &rndv->link);
    struct pl_shm_control cts = {
        .token = rndv->sender_token, .reply = rndv->token, .start = rndv->done, .bytes = rndv->wanted - rndv->done
    };
    return pl_shm_control_send(peer, PL_SHM_CTS, &cts);
}

static int rndv_fail_gone(const struct pl_shm_peer *peer)
{
    return peer->shm->host->fail(MPI_ERR_PROC_ABORTED, "process %d has gone, and the data of its message with it",
                                 (int)peer->address.pid);
}

/* Lets the kernel copy a slice. True: the message has ended, with `*error`. */
static bool rndv_copy_slice(struct pl_shm_rndv *rndv, int *error)
{
    struct pl_shm_peer *peer = rndv->peer;
    *error = MPI_SUCCESS;
    switch (pl_shm_cma_read(rndv)) {
    case PL_SHM_CMA_DONE:
        if (!rndv_send_fin(rndv))
            *error = MPI_ERR_NO_MEM;
        return true;
    case PL_SHM_CMA_MORE: return false;
    case PL_SHM_CMA_REFUSED:
        if (rndv_send_cts(rndv))
            return false;
        *error = MPI_ERR_NO_MEM;
        return true;
    case PL_SHM_CMA_FAILED: break;
    }
    *error = rndv_fail_gone(peer);
    return true;
}

int pl_shm_rndv_fetch(void *self, struct pl_rndv *base, struct pl_incoming *in)
{
    struct pl_shm *shm = self;
    struct pl_shm_rndv *rndv = (struct pl_shm_rndv *)base;
    struct pl_shm_peer *peer = rndv->peer;
    int error = MPI_SUCCESS;
    bool ended = true;
    rndv->in = in;
    rndv->wanted = rndv->size < in->data.total ? rndv->size : in->data.total;
    if (peer->state == PL_SHM_PEER_ENDED) {
        error = rndv_fail_gone(peer);
    } else if (rndv->wanted == 0) {
        error = rndv_send_fin(rndv) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    } else if (pl_shm_cma_wanted(rndv)) {
        pl_list_append(&peer->copying, &rndv->link);
        pl_shm_activate(peer);
        ended = rndv_copy_slice(rndv, &error);
    } else {
        ended = !rndv_send_cts(rndv);
        error = ended ? shm->host->fail(MPI_ERR_NO_MEM, "out of memory for receiving a message") : MPI_SUCCESS;
    }
    if (!ended)
        return PL_PENDING;
    rndv_free(rndv);
    return error;
}

void pl_shm_rndv_drop(void *self, struct pl_rndv *base, bool cancelled)
{
    (void)self;
    struct pl_shm_rndv *rndv = (struct pl_shm_rndv *)base;
    if (!cancelled && rndv->peer->state != PL_SHM_PEER_ENDED && !rndv_send_fin(rndv))
        pl_shm_peer_leave(rndv->peer, MPI_ERR_NO_MEM, "out of memory for a message");
    rndv_free(rndv);
}

/* The data follows in a FIFO, behind that of the messages in peer->draining. */
static bool rndv_on_data(struct pl_shm_peer *peer, const struct pl_shm_control *data)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_rndv *rndv = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_RECEIVING, peer, data->token);
    if (!rndv || data->bytes != rndv->wanted - rndv->done)
        return false;
    bool other_fifo = !peer->in_fifo || peer->in_fifo_offset != data->fifo;
    if (other_fifo && !pl_list_empty(&peer->draining))
        return false;
    if (other_fifo && pl_shm_fifo_attach(peer, data->fifo) != MPI_SUCCESS) {
        if (pl_shm_region_is_alive(&peer->address, peer->inode))
            return false;
        pl_shm_peer_leave(peer, MPI_ERR_PROC_ABORTED, NULL); /* this ends the message too */
        return true;
    }
    rndv->position = data->start;
    pl_list_remove(&rndv->link);
    pl_list_append(&peer->draining, &rndv->link);
    pl_shm_activate(peer);
    return true;
}

static bool rndv_on_nack(struct pl_shm_peer *peer, const struct pl_shm_control *control)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_rndv *rndv = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_RECEIVING, peer, control->token);
    if (!rndv)
        return false;
    rndv_release_token(shm, &rndv->token);
    pl_list_remove(&rndv->link);
    if (control->bytes > 0 && pl_shm_cma_possible(rndv)) {
        pl_list_append(&peer->copying, &rndv->link);
        pl_shm_activate(peer);
        return true;
    }
    bool fin_sent = rndv_send_fin(rndv);
    pl_shm_rndv_finish(rndv, shm->host->fail(MPI_ERR_OTHER, "process %d could not send the data of its message",
                                             (int)peer->address.pid));
    return fin_sent;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

bool pl_shm_rndv_control_arrived(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control)
{
    switch (kind) {
    case PL_SHM_CTS: return rndv_on_cts(peer, control);
    case PL_SHM_FIN: return rndv_on_fin(peer, control);
    case PL_SHM_DATA: return rndv_on_data(peer, control);
    case PL_SHM_NACK: return rndv_on_nack(peer, control);
    default: return false;
    }
}

static int rndv_copy_all(struct pl_shm_peer *peer)
{
    int events = 0;
    PL_LIST_EACH(rndv, &peer->copying, struct pl_shm_rndv, link) {
        int error;
        if (rndv_copy_slice(rndv, &error))
            pl_shm_rndv_finish(rndv, error);
        events++;
    }
    return events;
}

int pl_shm_rndv_progress(struct pl_shm_peer *peer)
{
    int events = pl_shm_controls_flush(peer);
    if (!pl_list_empty(&peer->filling))
        events += pl_shm_fifo_fill(peer);
    if (!pl_list_empty(&peer->draining))
        events += pl_shm_fifo_drain(peer);
    if (!pl_list_empty(&peer->copying))
        events += rndv_copy_all(peer);
    return events;
}

bool pl_shm_rndv_is_active(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->out.controls) || !pl_list_empty(&peer->filling) || !pl_list_empty(&peer->draining) ||
           !pl_list_empty(&peer->copying);
}

bool pl_shm_rndv_is_ready(const struct pl_shm_peer *peer)
{
    return pl_shm_fifo_has_space(peer) || pl_shm_fifo_has_data(peer) || !pl_list_empty(&peer->copying);
}

/* To a peer that has closed, pending sends succeed (peer->error is MPI_SUCCESS): no process is left to miss them. */
int pl_shm_rndv_fail_all(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    int events = 0;
    struct pl_list *out[] = { &peer->rts_sent, &peer->filling };
    struct pl_list *in[] = { &peer->cts_sent, &peer->draining, &peer->copying };
    struct pl_list *node;
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        while ((node = pl_list_pop(out[i])) != NULL) {
            struct pl_shm_sending *sending = PL_CONTAINER(node, struct pl_shm_sending, link);
            rndv_release_token(shm, &sending->token);
            shm->host->sent(shm->engine, pl_shm_message_of(sending), peer->error);
            events++;
        }
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        while (!pl_list_empty(in[i])) {
            struct pl_shm_rndv *rndv = PL_CONTAINER(in[i]->next, struct pl_shm_rndv, link);
            pl_shm_rndv_finish(rndv, peer->error ? peer->error : rndv_fail_gone(peer));
            events++;
        }
    return events;
}

void pl_shm_rndv_forget(struct pl_shm_peer *peer)
{
    struct pl_list *in[] = { &peer->cts_sent, &peer->draining, &peer->copying };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        while (!pl_list_empty(in[i]))
            rndv_free(PL_CONTAINER(in[i]->next, struct pl_shm_rndv, link));
}
