/* SPDX-License-Identifier: BSD-3-Clause */
/* Incoming messages. */
#include "plugins/ucx/receive.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/ucx/control.h"
#include "plugins/ucx/link.h"
#include "plugins/ucx/send.h"

/* --- the UCX datatype: unpacks by the cursor, discards what exceeds its capacity --------------------------------- */

static void *ucx_receive_unpack_start(void *context, void *buffer, size_t count)
{
    (void)context, (void)count;
    return buffer;
}

static size_t ucx_receive_unpack_size(void *state)
{
    const struct pl_ucx_rndv *rndv = state;
    return rndv->size;
}

static ucs_status_t ucx_receive_unpack(void *state, size_t offset, const void *packed, size_t bytes)
{
    struct pl_ucx_rndv *rndv = state;
    if (!rndv->message || offset >= rndv->message->data.total)
        return UCS_OK;
    const struct pl_transport_host *host = rndv->link->ucx->host;
    struct pl_cursor *cursor = &rndv->message->data;
    size_t space = cursor->total - offset;
    if (cursor->done != offset)
        host->seek(cursor, offset);
    host->unpack(cursor, packed, bytes < space ? bytes : space);
    return UCS_OK;
}

static void ucx_receive_unpack_finish(void *state)
{
    (void)state;
}

/* --- rendezvous ------------------------------------------------------------------------------------------------ */

static struct pl_ucx_rndv *ucx_rndv_create(struct pl_ucx_link *link, const struct pl_ucx_wire *wire, void *descriptor)
{
    struct pl_ucx_rndv *rndv = pl_calloc(1, sizeof *rndv);
    if (!rndv)
        return NULL;
    rndv->rndv.ops = &plenum_transport;
    rndv->link = link;
    rndv->descriptor = descriptor;
    rndv->number = wire->number;
    rndv->size = wire->header.size;
    pl_list_init(&rndv->put_off);
    pl_list_append(&link->rndvs, &rndv->entry);
    return rndv;
}

/* It is put off no more. */
static void ucx_rndv_take_up(struct pl_ucx_rndv *rndv)
{
    if (!pl_list_empty(&rndv->put_off))
        rndv->link->put_off_count--;
    pl_list_remove(&rndv->put_off);
}

static void ucx_rndv_free(struct pl_ucx_rndv *rndv)
{
    ucx_rndv_take_up(rndv);
    pl_list_remove(&rndv->entry);
    free(rndv);
}

void pl_ucx_rndv_release(struct pl_ucx_rndv *rndv)
{
    struct pl_ucx *ucx = rndv->link->ucx;
    if (rndv == ucx->arriving)
        ucx->arriving = NULL; /* ucx_receive_on_message() returns it */
    else
        ucp_am_data_release(ucx->worker, rndv->descriptor);
    ucx_rndv_free(rndv);
}

void pl_ucx_rndv_abandon(struct pl_ucx_rndv *rndv)
{
    rndv->message = NULL;
    if (rndv->state < PL_UCX_RNDV_STARTING)
        pl_ucx_rndv_release(rndv);
}

/* The sender waits for a message that will never be received: the link is lost. */
static int ucx_receive_failed(struct pl_ucx_link *link, ucs_status_t status)
{
    int err = pl_ucx_link_is_dying(link) ? link->ucx->host->fail(MPI_ERR_PROC_ABORTED, "the sender has died")
                                         : pl_ucx_error(link->ucx, status, "cannot receive");
    pl_ucx_link_lose(link, err, status);
    return err;
}

static void ucx_receive_on_fetched(void *request, ucs_status_t status, size_t length, void *argument)
{
    (void)length;
    struct pl_ucx_rndv *rndv = argument;
    struct pl_ucx *ucx = rndv->link->ucx;
    bool at_once = rndv->state == PL_UCX_RNDV_STARTING;
    ucp_request_free(request);
    rndv->state = PL_UCX_RNDV_FETCHED;
    rndv->status = status;
    ucx->events++;
    if (at_once)
        return;
    struct pl_incoming *message = rndv->message;
    if (message)
        ucx->host->fetched(ucx->engine, message,
                           status == UCS_OK ? MPI_SUCCESS : ucx_receive_failed(rndv->link, status));
    ucx_rndv_free(rndv);
}

/* Data goes straight into the user's buffer if that is one run with space for all of it, else through the cursor.
 * PL_PENDING, or MPI_SUCCESS: it has ended, well or not. */
static int ucx_fetch_start(struct pl_ucx_rndv *rndv)
{
    struct pl_ucx *ucx = rndv->link->ucx;
    struct pl_cursor *data = &rndv->message->data;
    void *direct = data->total >= rndv->size ? pl_cursor_direct(data) : NULL;
    ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE,
        .cb.recv_am = ucx_receive_on_fetched,
        .user_data = rndv,
        .datatype = direct ? ucp_dt_make_contig(1) : ucx->fetch_type,
    };
    rndv->state = PL_UCX_RNDV_STARTING;
    ucs_status_ptr_t request =
        ucp_am_recv_data_nbx(ucx->worker, rndv->descriptor, direct ? direct : rndv, direct ? rndv->size : 1, &params);
    if (rndv->state == PL_UCX_RNDV_FETCHED)
        return MPI_SUCCESS;
    if (UCS_PTR_IS_PTR(request)) {
        rndv->state = PL_UCX_RNDV_FETCHING;
        return PL_PENDING;
    }
    rndv->state = PL_UCX_RNDV_FETCHED;
    rndv->status = UCS_PTR_STATUS(request);
    return MPI_SUCCESS;
}

/* The result of one that has ended at once. */
static int ucx_fetch_end(struct pl_ucx_rndv *rndv)
{
    ucs_status_t status = rndv->status;
    struct pl_ucx_link *link = rndv->link;
    ucx_rndv_free(rndv);
    return status == UCS_OK ? MPI_SUCCESS : ucx_receive_failed(link, status);
}

/*
 * Ranks that exchange long messages often post the receive first, and the message may be there. If it were fetched at
 * once, the peer would send its data before it hears of the message that this side is about to send. Over TCP its
 * request for that one then waits behind the data, and the two messages go one after the other, not in both directions
 * at once. So where this side, too, sends long messages, it fetches after it has sent as many, or in progress().
 */
int pl_ucx_fetch(void *self, struct pl_rndv *handle, struct pl_incoming *message)
{
    struct pl_ucx *ucx = self;
    struct pl_ucx_rndv *rndv = (struct pl_ucx_rndv *)handle;
    struct pl_ucx_link *link = rndv->link;
    if (link->error) {
        int err = link->error;
        pl_ucx_rndv_release(rndv);
        return ucx->host->fail(err, "the sender of this message has failed");
    }
    rndv->message = message;
    if (ucx->tcp_only && link->exchanges && !ucx->progressing) {
        link->sent_since = link->put_off_count++ > 0 ? link->sent_since : 0;
        rndv->state = PL_UCX_RNDV_PUT_OFF;
        pl_list_append(&ucx->put_off, &rndv->put_off);
        return PL_PENDING;
    }
    return ucx_fetch_start(rndv) == PL_PENDING ? PL_PENDING : ucx_fetch_end(rndv);
}

void pl_ucx_fetch_after_send(struct pl_ucx_link *link)
{
    link->exchanges = true;
    if (link->put_off_count == 0 || ++link->sent_since < link->put_off_count)
        return;
    PL_LIST_EACH(rndv, &link->ucx->put_off, struct pl_ucx_rndv, put_off)
        if (rndv->link == link && rndv->message && rndv->state == PL_UCX_RNDV_PUT_OFF &&
            ucx_fetch_start(rndv) == PL_PENDING)
            ucx_rndv_take_up(rndv);
}

/* Fetches it, or ends what is known to have ended. */
static void ucx_fetch_put_off(struct pl_ucx_rndv *rndv)
{
    struct pl_ucx *ucx = rndv->link->ucx;
    struct pl_incoming *message = rndv->message;
    bool ended = rndv->state == PL_UCX_RNDV_FETCHED; /* at once, after a send */
    if (!message && !ended)
        pl_ucx_rndv_release(rndv); /* given up */
    else if (!ended && ucx_fetch_start(rndv) == PL_PENDING)
        ucx_rndv_take_up(rndv);
    else if (message)
        ucx->host->fetched(ucx->engine, message, ucx_fetch_end(rndv));
    else
        ucx_fetch_end(rndv);
}

/* What the engine does with a fetched message may fetch others, or give them up: they leave the list that they are in.
 */
int pl_ucx_fetch_put_off(struct pl_ucx *ucx)
{
    int events = 0;
    struct pl_list due;
    pl_list_move(&due, &ucx->put_off);
    while (!pl_list_empty(&due)) {
        struct pl_ucx_rndv *rndv = PL_CONTAINER(due.next, struct pl_ucx_rndv, put_off);
        if (rndv->link->sent_since == 0)
            rndv->link->exchanges = false;
        if (rndv->message && rndv->link->error) { /* about to be given up */
            pl_list_remove(&rndv->put_off);
            pl_list_append(&ucx->put_off, &rndv->put_off);
            continue;
        }
        events++;
        ucx_fetch_put_off(rndv);
    }
    return events;
}

/* A cancelled message is kept until the sender answers FORGOTTEN. If it were released at once, the send could complete
 * at the sender before the FORGET arrives there. */
void pl_ucx_drop(void *self, struct pl_rndv *handle, bool cancelled)
{
    (void)self;
    struct pl_ucx_rndv *rndv = (struct pl_ucx_rndv *)handle;
    struct pl_ucx_link *link = rndv->link;
    if (cancelled)
        rndv->state = PL_UCX_RNDV_CANCELLED;
    if (!cancelled || pl_ucx_link_open(link) || !link->ep || pl_ucx_post(link, PL_UCX_FORGET, rndv->number, NULL, 0))
        pl_ucx_rndv_release(rndv);
}

/* --- arrival --------------------------------------------------------------------------------------------------- */

static void ucx_receive_deliver(struct pl_ucx_link *link, const struct pl_ucx_wire *wire, const void *data,
                                struct pl_ucx_rndv *rndv)
{
    struct pl_ucx *ucx = link->ucx;
    link->next_in++;
    if (wire->control != PL_UCX_MESSAGE) {
        pl_ucx_control_handle(link, wire, data, wire->header.size);
    } else if (link->origin.card) {
        ucx->host->arrived(ucx->engine, &link->origin, &wire->header, data, rndv ? &rndv->rndv : NULL);
    } else { /* no hello: not a process of ours */
        if (rndv)
            pl_ucx_rndv_release(rndv);
        pl_ucx_link_fail(link, MPI_ERR_OTHER, "the first message is not a hello");
    }
}

/* Keeps a message until it is in turn. */
static int ucx_receive_keep_early(struct pl_ucx_link *link, const struct pl_ucx_wire *wire, const void *data,
                                  struct pl_ucx_rndv *rndv)
{
    size_t bytes = rndv ? 0 : wire->header.size;
    struct pl_ucx_early *early = pl_malloc(sizeof *early + bytes);
    if (!early)
        return MPI_ERR_NO_MEM;
    early->wire = *wire;
    early->rndv = rndv;
    if (bytes)
        memcpy(early->data, data, bytes);
    struct pl_list *after = link->early.prev;
    while (after != &link->early &&
           (int32_t)(PL_CONTAINER(after, struct pl_ucx_early, entry)->wire.number - wire->number) > 0)
        after = after->prev;
    pl_list_append(after->next, &early->entry);
    return MPI_SUCCESS;
}

static void ucx_receive_deliver_early(struct pl_ucx_link *link)
{
    while (!pl_list_empty(&link->early)) {
        struct pl_ucx_early *early = PL_CONTAINER(link->early.next, struct pl_ucx_early, entry);
        if (early->wire.number != link->next_in)
            return;
        pl_list_remove(&early->entry);
        ucx_receive_deliver(link, &early->wire, early->data, early->rndv);
        free(early);
    }
}

/* A message of a peer of which one was lost, so that the others cannot be in turn. The engine has been told that the
 * peer is lost; what is left is to let it close: it is answered, and its answers count. */
static void ucx_receive_deaf(struct pl_ucx_link *link, const struct pl_ucx_wire *wire, const void *data)
{
    if (wire->control == PL_UCX_HELLO || wire->control == PL_UCX_ASK || wire->control == PL_UCX_ACK ||
        wire->control == PL_UCX_LEAVE)
        pl_ucx_control_handle(link, wire, data, wire->header.size);
}

/* What is wrong with a message; NULL: nothing. Peers are not trusted. */
static const char *ucx_receive_check(const struct pl_ucx *ucx, const struct pl_ucx_wire *wire, size_t length,
                                     bool waiting)
{
    if (wire->to != ucx->id)
        return "it is for another engine";
    if (wire->header.size != length)
        return "its length is not what its header says";
    if (wire->control >= PL_UCX_CONTROLS || (waiting && wire->control != PL_UCX_MESSAGE))
        return "its kind is unknown";
    return NULL;
}

/* The link that a message takes; *wrong: why it takes none. */
static struct pl_ucx_link *ucx_receive_link(struct pl_ucx *ucx, const struct pl_ucx_wire *wire, const char **wrong)
{
    struct pl_ucx_link *link = pl_ucx_link_get(ucx, wire->from);
    if (!link) { /* the sender does not know, and none of its messages can be in turn any more */
        *wrong = "out of memory";
        pl_ucx_link_lose_message(ucx, wire->from);
        ucx->host->failed(ucx->engine, NULL, &(struct pl_origin){ .engine = wire->from }, MPI_ERR_NO_MEM,
                          "out of memory for a connection");
    } else if ((link->error && !link->refused) || (int32_t)(wire->number - link->next_in) < 0) {
        *wrong = "its link has failed";
    }
    return link;
}

/* UCX's callback for every message. Returning UCS_INPROGRESS keeps the descriptor of a rendezvous message. */
static ucs_status_t ucx_receive_on_message(void *argument, const void *header, size_t header_length, void *data,
                                           size_t length, const ucp_am_recv_param_t *params)
{
    struct pl_ucx *ucx = argument;
    struct pl_ucx_wire wire;
    bool waiting = params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV;
    if (ucx->ending || header_length != sizeof wire)
        return UCS_OK;
    memcpy(&wire, header, sizeof wire);
    const char *wrong = ucx_receive_check(ucx, &wire, length, waiting);
    struct pl_ucx_link *link = wrong ? NULL : ucx_receive_link(ucx, &wire, &wrong);
    if (wrong) {
        ucx->host->log("ucx", 1, "a message was discarded: %s", wrong);
        return UCS_OK;
    }

    ucx->events++;
    if (pl_unlikely(link->deaf)) {
        ucx_receive_deaf(link, &wire, data);
        return UCS_OK;
    }
    struct pl_ucx_rndv *rndv = waiting ? ucx_rndv_create(link, &wire, data) : NULL;
    if (waiting && !rndv) {
        pl_ucx_link_fail(link, MPI_ERR_NO_MEM, "out of memory for a message");
        return UCS_OK;
    }
    ucx->arriving = rndv;
    if (wire.number == link->next_in) {
        ucx_receive_deliver(link, &wire, data, rndv);
        if (!pl_list_empty(&link->early))
            ucx_receive_deliver_early(link);
    } else if (ucx_receive_keep_early(link, &wire, data, rndv) != MPI_SUCCESS) {
        pl_ucx_link_fail(link, MPI_ERR_NO_MEM, "out of memory for a message");
        if (rndv)
            pl_ucx_rndv_release(rndv);
    }
    bool kept = ucx->arriving != NULL;
    ucx->arriving = NULL;
    return kept ? UCS_INPROGRESS : UCS_OK;
}

int pl_ucx_receive_init(struct pl_ucx *ucx)
{
    static const ucp_generic_dt_ops_t ops = {
        .start_unpack = ucx_receive_unpack_start,
        .packed_size = ucx_receive_unpack_size,
        .unpack = ucx_receive_unpack,
        .finish = ucx_receive_unpack_finish,
    };
    ucp_am_handler_param_t params = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = 0,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = ucx_receive_on_message,
        .arg = ucx,
    };
    ucs_status_t status = ucp_dt_create_generic(&ops, NULL, &ucx->fetch_type);
    if (status != UCS_OK)
        return pl_ucx_error(ucx, status, "cannot make a UCX datatype");
    status = ucp_worker_set_am_recv_handler(ucx->worker, &params);
    if (status == UCS_OK)
        return MPI_SUCCESS;
    ucp_dt_destroy(ucx->fetch_type);
    return pl_ucx_error(ucx, status, "cannot receive active messages");
}

void pl_ucx_receive_fini(struct pl_ucx *ucx)
{
    ucp_dt_destroy(ucx->fetch_type);
}
