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

int pl_shm_bulk_offer(struct pl_shm_peer *peer, struct pl_outgoing *message)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    struct pl_shm_offer offer = { .address = (uint64_t)(uintptr_t)pl_cursor_direct(&message->data) };
    struct pl_shm_record *record = pl_shm_reserve(&peer->out, sizeof offer);
    if (!record)
        return PL_AGAIN;
    offer.token = pl_shm_token_create(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, message);
    if (offer.token == 0)
        return shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a message to process %d", (int)peer->address.pid);
    *sending = (struct pl_shm_sending){ .token = offer.token };
    pl_list_append(&peer->offered, &sending->link);
    message->bulk = true;
    record->header = message->header;
    memcpy(record->few, &offer, sizeof offer);
    pl_shm_publish(&peer->out, record, PL_SHM_OFFER, sizeof offer);
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
static bool granted(struct pl_shm_peer *peer, const struct pl_shm_control *grant)
{
    struct pl_shm *shm = peer->shm;
    struct pl_outgoing *message = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_SENDING, peer, grant->token);
    if (!message)
        return pl_shm_control_send(peer, PL_SHM_GONE, &(struct pl_shm_control){ .token = grant->reply });
    struct pl_shm_sending *sending = pl_shm_sending_of(message);
    uint64_t size = message->header.size;
    if (grant->bytes == 0 || grant->start > size || grant->bytes > size - grant->start)
        return false;
    if (pl_shm_lane_get(peer) != MPI_SUCCESS)
        return pl_shm_control_send(peer, PL_SHM_GONE,
                                   &(struct pl_shm_control){ .token = grant->reply, .bytes = grant->bytes });
    pl_list_remove(&sending->link);
    forget_token(shm, &sending->token);
    if (grant->start > 0)
        shm->host->seek(&message->data, grant->start);
    sending->left = grant->bytes;
    sending->reply = grant->reply;
    pl_list_append(&peer->streaming, &sending->link);
    pl_shm_activate(peer);
    struct pl_shm_control stream = { .token = grant->reply, .bytes = grant->bytes, .lane = peer->lane->area.offset };
    stream.start = pl_shm_lane_book(peer->lane, grant->bytes);
    return pl_shm_control_send(peer, PL_SHM_STREAM, &stream);
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

bool pl_shm_bulk_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message)
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
void pl_shm_bulk_give_up(struct pl_shm_peer *peer)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->offered)) != NULL)
        forget_token(peer->shm, &PL_CONTAINER(node, struct pl_shm_sending, link)->token);
    if (pl_list_empty(&peer->streaming))
        return;
    while ((node = pl_list_pop(&peer->streaming)) != NULL)
        pl_shm_control_send(peer, PL_SHM_GONE,
                            &(struct pl_shm_control){ .token =
                                                          PL_CONTAINER(node, struct pl_shm_sending, link)->reply });
    pl_shm_lane_put(peer, false);
}

/* --- the receiver ------------------------------------------------------------------------------------------------ */

void pl_shm_bulk_offered(struct pl_shm_peer *peer, const struct pl_header *header, const struct pl_shm_offer *offer)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_bulk *bulk = malloc(sizeof *bulk);
    if (!bulk) {
        shm->host->fail(MPI_ERR_NO_MEM, "out of memory for a message from process %d", (int)peer->address.pid);
        pl_shm_peer_leave(peer, MPI_ERR_NO_MEM);
        return;
    }
    *bulk = (struct pl_shm_bulk){ .base.ops = &pl_transport_shm, .peer = peer, .theirs = offer->token,
                                  .address = offer->address, .size = header->size };
    pl_list_init(&bulk->link);
    shm->host->arrived(shm->engine, &peer->origin, header, NULL, &bulk->base);
}

static void bulk_free(struct pl_shm_bulk *bulk)
{
    pl_list_remove(&bulk->link);
    forget_token(bulk->peer->shm, &bulk->ours);
    free(bulk);
}

void pl_shm_bulk_finish(struct pl_shm_bulk *bulk, int error)
{
    struct pl_shm *shm = bulk->peer->shm;
    struct pl_incoming *in = bulk->in;
    bulk_free(bulk);
    shm->host->fetched(shm->engine, in, error);
}

static bool answer_done(struct pl_shm_bulk *bulk)
{
    return pl_shm_control_send(bulk->peer, PL_SHM_DONE, &(struct pl_shm_control){ .token = bulk->theirs });
}

/* Asks the sender for what is still missing. */
static bool ask(struct pl_shm_bulk *bulk)
{
    struct pl_shm_peer *peer = bulk->peer;
    bulk->ours = pl_shm_token_create(&peer->shm->tokens, PL_SHM_TOKEN_FETCHING, peer, bulk);
    if (bulk->ours == 0)
        return false;
    pl_list_remove(&bulk->link);
    pl_list_append(&peer->granted, &bulk->link);
    struct pl_shm_control grant = {
        .token = bulk->theirs, .reply = bulk->ours, .start = bulk->done, .bytes = bulk->wanted - bulk->done
    };
    return pl_shm_control_send(peer, PL_SHM_GRANT, &grant);
}

static int gone(const struct pl_shm_peer *peer)
{
    return peer->shm->host->fail(MPI_ERR_PROC_ABORTED, "process %d has gone, and with it the data of its message",
                                 (int)peer->address.pid);
}

/* Reads a slice. False: to be continued; else `*error` says how it ended. */
static bool pull(struct pl_shm_bulk *bulk, int *error)
{
    struct pl_shm_peer *peer = bulk->peer;
    *error = MPI_SUCCESS;
    switch (pl_shm_pull(bulk)) {
    case PL_SHM_PULL_ALL:
        if (!answer_done(bulk))
            *error = MPI_ERR_NO_MEM;
        return true;
    case PL_SHM_PULL_MORE:
        return false;
    case PL_SHM_PULL_REFUSED:
        if (ask(bulk))
            return false;
        *error = MPI_ERR_NO_MEM;
        return true;
    case PL_SHM_PULL_LOST:
        break;
    }
    *error = gone(peer);
    return true;
}

int pl_shm_bulk_fetch(void *self, struct pl_bulk *base, struct pl_incoming *in)
{
    struct pl_shm *shm = self;
    struct pl_shm_bulk *bulk = (struct pl_shm_bulk *)base;
    struct pl_shm_peer *peer = bulk->peer;
    int error = MPI_SUCCESS;
    bool over = true;
    bulk->in = in;
    bulk->wanted = bulk->size < in->data.total ? bulk->size : in->data.total;
    if (peer->life == PL_SHM_ENDED) {
        error = gone(peer);
    } else if (bulk->wanted == 0) {
        error = answer_done(bulk) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    } else if (pl_shm_pull_wanted(bulk)) {
        pl_list_append(&peer->pulling, &bulk->link);
        pl_shm_activate(peer);
        over = pull(bulk, &error);
    } else {
        over = !ask(bulk);
        error = over ? shm->host->fail(MPI_ERR_NO_MEM, "out of memory for receiving a message") : MPI_SUCCESS;
    }
    if (!over)
        return PL_PENDING;
    bulk_free(bulk);
    return error;
}

void pl_shm_bulk_drop(void *self, struct pl_bulk *base, bool cancelled)
{
    (void)self;
    struct pl_shm_bulk *bulk = (struct pl_shm_bulk *)base;
    if (!cancelled && bulk->peer->life != PL_SHM_ENDED && !answer_done(bulk))
        pl_shm_peer_leave(bulk->peer, MPI_ERR_NO_MEM);
    bulk_free(bulk);
}

/* The data that was granted comes in a lane from now on. */
static bool stream_begins(struct pl_shm_peer *peer, const struct pl_shm_control *stream)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_bulk *bulk = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_FETCHING, peer, stream->token);
    if (!bulk || stream->bytes != bulk->wanted - bulk->done)
        return false;
    bool other_lane = !peer->in_lane || peer->in_lane_offset != stream->lane;
    if (other_lane && !pl_list_empty(&peer->inflow))
        return false;
    if (other_lane && pl_shm_lane_follow(peer, stream->lane) != MPI_SUCCESS) {
        if (pl_shm_alive(&peer->address, peer->inode))
            return false;
        pl_shm_peer_leave(peer, MPI_ERR_PROC_ABORTED); /* its death ends this message, too */
        return true;
    }
    bulk->position = stream->start;
    pl_list_remove(&bulk->link);
    pl_list_append(&peer->inflow, &bulk->link);
    pl_shm_activate(peer);
    return true;
}

static bool stream_never_begins(struct pl_shm_peer *peer, const struct pl_shm_control *control)
{
    struct pl_shm *shm = peer->shm;
    struct pl_shm_bulk *bulk = pl_shm_token_find(&shm->tokens, PL_SHM_TOKEN_FETCHING, peer, control->token);
    if (!bulk)
        return false;
    forget_token(shm, &bulk->ours);
    pl_list_remove(&bulk->link);
    if (control->bytes > 0 && pl_shm_pull_possible(bulk)) {
        pl_list_append(&peer->pulling, &bulk->link);
        pl_shm_activate(peer);
        return true;
    }
    bool answered = answer_done(bulk);
    pl_shm_bulk_finish(bulk, shm->host->fail(MPI_ERR_OTHER, "process %d could not send the data of its message",
                                             (int)peer->address.pid));
    return answered;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

bool pl_shm_bulk_control(struct pl_shm_peer *peer, enum pl_shm_kind kind, const struct pl_shm_control *control)
{
    switch (kind) {
    case PL_SHM_GRANT:  return granted(peer, control);
    case PL_SHM_DONE:   return not_needed(peer, control);
    case PL_SHM_STREAM: return stream_begins(peer, control);
    case PL_SHM_GONE:   return stream_never_begins(peer, control);
    default:            return false;
    }
}

static int pull_all(struct pl_shm_peer *peer)
{
    int events = 0;
    PL_LIST_EACH(bulk, &peer->pulling, struct pl_shm_bulk, link) {
        int error;
        if (pull(bulk, &error))
            pl_shm_bulk_finish(bulk, error);
        events++;
    }
    return events;
}

int pl_shm_bulk_progress(struct pl_shm_peer *peer)
{
    int events = pl_shm_controls_flush(peer);
    if (!pl_list_empty(&peer->streaming))
        events += pl_shm_lane_fill(peer);
    if (!pl_list_empty(&peer->inflow))
        events += pl_shm_lane_drain(peer);
    if (!pl_list_empty(&peer->pulling))
        events += pull_all(peer);
    return events;
}

bool pl_shm_bulk_active(const struct pl_shm_peer *peer)
{
    return !pl_list_empty(&peer->out.controls) || !pl_list_empty(&peer->streaming) ||
           !pl_list_empty(&peer->inflow) || !pl_list_empty(&peer->pulling);
}

bool pl_shm_bulk_ready(const struct pl_shm_peer *peer)
{
    return pl_shm_lane_has_room(peer) || pl_shm_lane_has_data(peer) || !pl_list_empty(&peer->pulling);
}

/* The rest of an orderly farewell is success for the sender: nobody is left who could miss it. */
int pl_shm_bulk_end(struct pl_shm_peer *peer)
{
    struct pl_shm *shm = peer->shm;
    int events = 0;
    struct pl_list *out[] = { &peer->offered, &peer->streaming };
    struct pl_list *in[] = { &peer->granted, &peer->inflow, &peer->pulling };
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
            struct pl_shm_bulk *bulk = PL_CONTAINER(in[i]->next, struct pl_shm_bulk, link);
            pl_shm_bulk_finish(bulk, peer->error ? peer->error : gone(peer));
            events++;
        }
    return events;
}

void pl_shm_bulk_forget(struct pl_shm_peer *peer)
{
    struct pl_list *in[] = { &peer->granted, &peer->inflow, &peer->pulling };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        while (!pl_list_empty(in[i]))
            bulk_free(PL_CONTAINER(in[i]->next, struct pl_shm_bulk, link));
}
