/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages: what sender and receiver say to each other.
 *
 *     sender                             receiver
 *     OFFER header, token, address  -->  (waits until it is matched)
 *
 *     either                        <--  GRANT token, own token
 *     STREAM own token, lane        -->
 *     data through the lane         -->
 *
 *     or                                 reads the sender's memory itself
 *                                   <--  DONE token
 *
 * The receiver chooses. A message that is thrown away, or of which nothing is wanted, is answered with DONE. The sender
 * is done when its last byte is in the lane. It answers a grant with GONE when the message was withdrawn meanwhile, or
 * when memory for a lane is short: then the receiver may still read it itself, and says DONE in any case.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/shm/doorbell.h"
#include "plugins/shm/fifo.h"
#include "plugins/shm/ring.h"

/* --- the sender -------------------------------------------------------------------------------------------------- */

int pl_shm_rndv_send(struct pl_shm_peer *peer, struct pl_outgoing *message)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    struct pl_shm_rts offer = { .address = (uint64_t)(uintptr_t)pl_cursor_direct(&message->data) };
    struct pl_shm_record *record = pl_shm_reserve(&peer->out, sizeof offer);
    if (!record)
        return PL_AGAIN;
    offer.token = pl_shm_token_create(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, message);
    if (offer.token == 0)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a message to process %d", (int)peer->address.pid);
    *sending = (struct pl_shm_sending){ .token = offer.token };
    pl_list_append(&peer->rts_sent, &sending->link);
    message->rndv = true;
    record->header = message->header;
    memcpy(record->few, &offer, sizeof offer);
    pl_shm_publish(&peer->out, record, PL_SHM_RTS, sizeof offer);
    pl_shm_notify(peer);
    return PL_PENDING;
}

static void forget_token(struct pl_shm *shm, uint64_t *token)
{
    if (*token)
        pl_shm_token_release(&shm->tokens, *token);
    *token = 0;
}

/* The receiver wants `bytes` from `start` on: book a place in a lane, say so, and let progress fill it. */
static bool cts_sent(struct pl_shm_peer *peer, const struct pl_shm_control *grant)
{
    struct pl_shm *shm = peer->shm;
    struct pl_outgoing *message = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, grant->token);
    if (!message)
        return pl_shm_control_send(peer, PL_SHM_NACK, &(struct pl_shm_control){ .token = grant->reply });
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    uint64_t size = message->header.size;
    if (grant->bytes == 0 || grant->start > size || grant->bytes > size - grant->start)
        return false;
    if (pl_shm_fifo_get(peer) != MPI_SUCCESS)
        return pl_shm_control_send(peer, PL_SHM_NACK,
                                   &(struct pl_shm_control){ .token = grant->reply, .bytes = grant->bytes });
    pl_list_remove(&sending->link);
    forget_token(shm, &sending->token);
    if (grant->start > 0)
        shm->host->seek(&message->data, grant->start);
    sending->left = grant->bytes;
    sending->reply = grant->reply;
    pl_list_append(&peer->filling, &sending->link);
    pl_shm_activate(peer);
    struct pl_shm_control stream = { .token = grant->reply, .bytes = grant->bytes, .fifo = peer->fifo->span.offset };
    stream.start = pl_shm_fifo_reserve(peer->fifo, grant->bytes);
    return pl_shm_control_send(peer, PL_SHM_DATA, &stream);
}

static bool not_needed(struct pl_shm_peer *peer, const struct pl_shm_control *done)
{
    struct pl_shm *shm = peer->shm;
    struct pl_outgoing *message = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, done->token);
    if (!message) /* withdrawn */
        return true;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    pl_list_remove(&sending->link);
    forget_token(shm, &sending->token);
    shm->host->sent(shm->engine, message, MPI_SUCCESS);
    return true;
}

bool pl_shm_rndv_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    if (!sending->token) /* granted: it will be done soon */
        return false;
    pl_list_remove(&sending->link);
    forget_token(peer->shm, &sending->token);
    return true;
}

/* A stream that is broken off takes its lane along: nobody can tell where the next one would begin. */
void pl_shm_rndv_give_up(struct pl_shm_peer *peer)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->rts_sent)) != NULL)
        forget_token(peer->shm, &PL_CONTAINER(node, struct pl_shm_sending, link)->token);
    if (pl_list_empty(&peer->filling))
        return;
    while ((node = pl_list_pop(&peer->filling)) != NULL)
        pl_shm_control_send(peer, PL_SHM_NACK,
                            &(struct pl_shm_control){ .token =
                                                          PL_CONTAINER(node, struct pl_shm_sending, link)->reply });
    pl_shm_fifo_put(peer, false);
}

/* --- the receiver ------------------------------------------------------------------------------------------------ */

void pl_shm_rndv_arrived(struct pl_shm_peer *peer, const struct pl_header *header, const struct pl_shm_rts *offer)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_rndv *rndv = malloc(sizeof *rndv);
    if (!rndv) {
        shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a message from process %d", (int)peer->address.pid);
        pl_shm_peer_leave(peer, MPI_ERR_NO_MEM);
        return;
    }
    *rndv = (struct pl_shm_rndv){ .base.ops = &pl_transport_shm,
                                  .peer = peer,
                                  .theirs = offer->token,
                                  .address = offer->address,
                                  .size = header->size };
    pl_list_init(&rndv->link);
    shm->host->arrived(shm->engine, &peer->origin, header, NULL, &rndv->base);
}

static void rndv_free(struct pl_shm_rndv *rndv)
{
    pl_list_remove(&rndv->link);
    forget_token(rndv->peer->shm, &rndv->ours);
    free(rndv);
}

void pl_shm_rndv_finish(struct pl_shm_rndv *rndv, int error)
{
    struct pl_shm *shm = rndv->peer->shm;
    struct pl_incoming *in = rndv->in;
    rndv_free(rndv);
    shm->host->fetched(shm->engine, in, error);
}

static bool answer_done(struct pl_shm_rndv *rndv)
{
    return pl_shm_control_send(rndv->peer, PL_SHM_FIN, &(struct pl_shm_control){ .token = rndv->theirs });
}

/* Asks the sender for what is still missing. */
static bool rndv_ask(struct pl_shm_rndv *rndv)
{
    struct pl_shm_peer *peer = rndv->peer;
    rndv->ours = pl_shm_token_create(&peer->shm->tokens, PL_SHM_TOKEN_FETCHING, peer, rndv);
    if (rndv->ours == 0)
        return false;
    pl_list_remove(&rndv->link);
    pl_list_append(&peer->cts_sent, &rndv->link);
    struct pl_shm_control grant = {
        .token = rndv->theirs, .reply = rndv->ours, .start = rndv->done, .bytes = rndv->wanted - rndv->done
    };
    return pl_shm_control_send(peer, PL_SHM_CTS, &grant);
}

static int rndv_gone(const struct pl_shm_peer *peer)
{
    return peer->shm->host->fail(MPI_ERR_PROC_ABORTED, "process %d has gone, and with it the data of its message",
                                 (int)peer->address.pid);
}

/* Reads a slice. False: to be continued; else `*error` says how it ended. */
static bool rndv_pull(struct pl_shm_rndv *rndv, int *error)
{
    struct pl_shm_peer *peer = rndv->peer;
    *error = MPI_SUCCESS;
    switch (pl_shm_cma_read(rndv)) {
    case PL_SHM_CMA_ALL:
        if (!answer_done(rndv))
            *error = MPI_ERR_NO_MEM;
        return true;
    case PL_SHM_CMA_MORE: return false;
    case PL_SHM_CMA_REFUSED:
        if (rndv_ask(rndv))
            return false;
        *error = MPI_ERR_NO_MEM;
        return true;
    case PL_SHM_CMA_FAILED: break;
    }
    *error = rndv_gone(peer);
    return true;
}

int pl_shm_rndv_fetch(void *self, struct pl_rndv *base, struct pl_incoming *in)
{
    struct pl_shm *shm = self;
    struct pl_shm_rndv *rndv = (struct pl_shm_rndv *)base;
    struct pl_shm_peer *peer = rndv->peer;
    int error = MPI_SUCCESS;
    bool over = true;
    rndv->in = in;
    rndv->wanted = rndv->size < in->data.total ? rndv->size : in->data.total;
    if (peer->life == PL_SHM_ENDED) {
        error = rndv_gone(peer);
    } else if (rndv->wanted == 0) {
        error = answer_done(rndv) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    } else if (pl_shm_cma_wanted(rndv)) {
        pl_list_append(&peer->copying, &rndv->link);
        pl_shm_activate(peer);
        over = rndv_pull(rndv, &error);
    } else {
        over = !rndv_ask(rndv);
        error = over ? shm->host->fail(MPI_ERR_NO_MEM, "out of memory for receiving a message") : MPI_SUCCESS;
    }
    if (!over)
        return PL_PENDING;
    rndv_free(rndv);
    return error;
}

void pl_shm_rndv_drop(void *self, struct pl_rndv *base, bool cancelled)
{
    (void)self;
    struct pl_shm_rndv *rndv = (struct pl_shm_rndv *)base;
    if (!cancelled && rndv->peer->life != PL_SHM_ENDED && !answer_done(rndv))
        pl_shm_peer_leave(rndv->peer, MPI_ERR_NO_MEM);
    rndv_free(rndv);
}

/* The data that was granted comes in a lane from now on. */
static bool stream_begins(struct pl_shm_peer *peer, const struct pl_shm_control *stream)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_rndv *rndv = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_FETCHING, peer, stream->token);
    if (!rndv || stream->bytes != rndv->wanted - rndv->done)
        return false;
    bool other_lane = !peer->in_fifo || peer->in_fifo_offset != stream->fifo;
    if (other_lane && !pl_list_empty(&peer->draining))
        return false;
    if (other_lane && pl_shm_fifo_follow(peer, stream->fifo) != MPI_SUCCESS) {
        if (pl_shm_alive(&peer->address, peer->inode))
            return false;
        pl_shm_peer_leave(peer, MPI_ERR_PROC_ABORTED); /* its death ends this message, too */
        return true;
    }
    rndv->position = stream->start;
    pl_list_remove(&rndv->link);
    pl_list_append(&peer->draining, &rndv->link);
    pl_shm_activate(peer);
    return true;
}

static bool stream_never_begins(struct pl_shm_peer *peer, const struct pl_shm_control *control)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_rndv *rndv = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_FETCHING, peer, control->token);
    if (!rndv)
        return false;
    forget_token(shm, &rndv->ours);
    pl_list_remove(&rndv->link);
    if (control->bytes > 0 && pl_shm_cma_possible(rndv)) {
        pl_list_append(&peer->copying, &rndv->link);
        pl_shm_activate(peer);
        return true;
    }
    bool answered = answer_done(rndv);
    pl_shm_rndv_finish(rndv, shm->host->fail(MPI_ERR_OTHER, "process %d could not send the data of its message",
                                             (int)peer->address.pid));
    return answered;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

bool pl_shm_rndv_control(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control)
{
    switch (kind) {
    case PL_SHM_CTS: return cts_sent(peer, control);
    case PL_SHM_FIN: return not_needed(peer, control);
    case PL_SHM_DATA: return stream_begins(peer, control);
    case PL_SHM_NACK: return stream_never_begins(peer, control);
    default: return false;
    }
}

static int pull_all(struct pl_shm_peer *peer)
{
    int events = 0;
    PL_LIST_EACH(rndv, &peer->copying, struct pl_shm_rndv, link) {
        int error;
        if (rndv_pull(rndv, &error))
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
        events += pull_all(peer);
    return events;
}

bool pl_shm_rndv_active(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->out.controls) || !pl_list_empty(&peer->filling) || !pl_list_empty(&peer->draining) ||
           !pl_list_empty(&peer->copying);
}

bool pl_shm_rndv_ready(const struct pl_shm_peer *peer)
{
    return pl_shm_fifo_has_room(peer) || pl_shm_fifo_has_data(peer) || !pl_list_empty(&peer->copying);
}

/* The rest of an orderly farewell is success for the sender: nobody is left who could miss it. */
int pl_shm_rndv_end(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    int events = 0;
    struct pl_list *out[] = { &peer->rts_sent, &peer->filling };
    struct pl_list *in[] = { &peer->cts_sent, &peer->draining, &peer->copying };
    struct pl_list *node;
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        while ((node = pl_list_pop(out[i])) != NULL) {
            struct pl_shm_sending *sending = PL_CONTAINER(node, struct pl_shm_sending, link);
            forget_token(shm, &sending->token);
            shm->host->sent(shm->engine, pl_shm_message_of(sending), peer->error);
            events++;
        }
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        while (!pl_list_empty(in[i])) {
            struct pl_shm_rndv *rndv = PL_CONTAINER(in[i]->next, struct pl_shm_rndv, link);
            pl_shm_rndv_finish(rndv, peer->error ? peer->error : rndv_gone(peer));
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
