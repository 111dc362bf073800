/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in: put back into their order, checked, handed to the engine; bulk data fetched or thrown away.
 *
 * A bulk message's descriptor belongs to UCX. It is given back exactly once: to ucp_am_recv_data_nbx() (fetch), to
 * ucp_am_data_release() (drop), or, while UCX's own callback for it still runs, by that callback's return value.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/ucx/ucx.h"

/* --- the datatype: unpacks through the cursor, throws away what exceeds the room -------------------------------- */

static void *unpack_start(void *context, void *buffer, size_t count)
{
    (void)context, (void)count;
    return buffer;
}

static size_t unpack_size(void *state)
{
    const struct ucx_rndv *rndv = state;
    return rndv->size;
}

static ucs_status_t ucx_receive_unpack(void *state, size_t offset, const void *packed, size_t bytes)
{
    struct ucx_rndv *rndv = state;
    if (!rndv->message || offset >= rndv->message->data.total)
        return UCS_OK;
    const struct pl_host *host = rndv->link->ucx->host;
    struct pl_cursor *cursor = &rndv->message->data;
    size_t room = cursor->total - offset;
    if (cursor->done != offset)
        host->seek(cursor, offset);
    host->unpack(cursor, packed, bytes < room ? bytes : room);
    return UCS_OK;
}

static void unpack_finish(void *state)
{
    (void)state;
}

/* --- bulk ------------------------------------------------------------------------------------------------------ */

static struct ucx_rndv *make_rndv(struct ucx_link *link, const struct ucx_wire *wire, void *descriptor)
{
    struct ucx_rndv *rndv = calloc(1, sizeof *rndv);
    if (!rndv)
        return NULL;
    rndv->rndv.ops = &plenum_transport;
    rndv->link = link;
    rndv->descriptor = descriptor;
    rndv->number = wire->number;
    rndv->size = wire->header.size;
    pl_list_append(&link->rndvs, &rndv->entry);
    return rndv;
}

static void free_rndv(struct ucx_rndv *rndv)
{
    pl_list_remove(&rndv->entry);
    free(rndv);
}

void ucx_rndv_release(struct ucx_rndv *rndv)
{
    struct ucx *ucx = rndv->link->ucx;
    if (rndv == ucx->arriving)
        ucx->arriving = NULL; /* ucx_receive_do() returns it */
    else
        ucp_am_data_release(ucx->worker, rndv->descriptor);
    free_rndv(rndv);
}

void ucx_rndv_abandon(struct ucx_rndv *rndv)
{
    rndv->message = NULL;
    if (!rndv->fetching)
        ucx_rndv_release(rndv);
}

static void ucx_receive_fetched(void *request, ucs_status_t status, size_t length, void *argument)
{
    (void)length;
    struct ucx_rndv *rndv = argument;
    struct ucx *ucx = rndv->link->ucx;
    ucp_request_free(request);
    rndv->done = true;
    rndv->status = status;
    ucx->events++;
    if (rndv->starting)
        return;
    struct pl_incoming *message = rndv->message;
    if (message)
        ucx->host->fetched(ucx->engine, message,
                           status == UCS_OK ? MPI_SUCCESS : ucx_error(ucx, status, "cannot receive"));
    free_rndv(rndv);
}

/* Straight into the user's buffer when it is one run with room for all, else piece by piece through the cursor. */
int ucx_fetch(void *self, struct pl_rndv *handle, struct pl_incoming *message)
{
    struct ucx *ucx = self;
    struct ucx_rndv *rndv = (struct ucx_rndv *)handle;
    if (rndv->link->error) {
        int err = rndv->link->error;
        ucx_rndv_release(rndv);
        return ucx->host->fail(err, "the sender of this message is lost");
    }
    void *direct = message->data.total >= rndv->size ? pl_cursor_direct(&message->data) : NULL;
    ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE,
        .cb.recv_am = ucx_receive_fetched,
        .user_data = rndv,
        .datatype = direct ? ucp_dt_make_contig(1) : ucx->fetch_type,
    };
    rndv->message = message;
    rndv->fetching = true;
    rndv->starting = true;
    ucs_status_ptr_t request =
        ucp_am_recv_data_nbx(ucx->worker, rndv->descriptor, direct ? direct : rndv, direct ? rndv->size : 1, &params);
    rndv->starting = false;
    if (UCS_PTR_IS_PTR(request) && !rndv->done)
        return PL_PENDING;
    ucs_status_t status = rndv->done ? rndv->status : UCS_PTR_STATUS(request);
    free_rndv(rndv);
    return status == UCS_OK ? MPI_SUCCESS : ucx_error(ucx, status, "cannot receive");
}

/*
 * A cancelled one is kept until its sender has forgotten it: were it released at once, the sender's side could
 * complete, as sent, before the news that it was cancelled arrives there.
 */
void ucx_drop(void *self, struct pl_rndv *handle, bool cancelled)
{
    (void)self;
    struct ucx_rndv *rndv = (struct ucx_rndv *)handle;
    struct ucx_link *link = rndv->link;
    rndv->cancelled = cancelled;
    if (!cancelled || ucx_link_open(link) || ucx_post(link, UCX_FORGET, rndv->number, NULL, 0))
        ucx_rndv_release(rndv);
}

/* --- arrival --------------------------------------------------------------------------------------------------- */

static void ucx_receive_deliver(struct ucx_link *link, const struct ucx_wire *wire, const void *data,
                                struct ucx_rndv *rndv)
{
    struct ucx *ucx = link->ucx;
    link->next_in++;
    if (wire->control != UCX_MESSAGE) {
        ucx_control_handle(link, wire, data, wire->header.size);
    } else if (link->origin.card) {
        ucx->host->arrived(ucx->engine, &link->origin, &wire->header, data, rndv ? &rndv->rndv : NULL);
    } else { /* nobody has said hello: not one of us */
        if (rndv)
            ucx_rndv_release(rndv);
        ucx_link_fail(link, MPI_ERR_OTHER);
    }
}

/* Keeps a message until its turn. */
static int ucx_receive_hold(struct ucx_link *link, const struct ucx_wire *wire, const void *data, struct ucx_rndv *rndv)
{
    size_t bytes = rndv ? 0 : wire->header.size;
    struct ucx_early *early = malloc(sizeof *early + bytes);
    if (!early)
        return MPI_ERR_NO_MEM;
    early->wire = *wire;
    early->rndv = rndv;
    if (bytes)
        memcpy(early->data, data, bytes);
    struct pl_list *after = link->early.prev;
    while (after != &link->early &&
           (int32_t)(PL_CONTAINER(after, struct ucx_early, entry)->wire.number - wire->number) > 0)
        after = after->prev;
    pl_list_append(after->next, &early->entry);
    return MPI_SUCCESS;
}

static void deliver_held(struct ucx_link *link)
{
    while (!pl_list_empty(&link->early)) {
        struct ucx_early *early = PL_CONTAINER(link->early.next, struct ucx_early, entry);
        if (early->wire.number != link->next_in)
            return;
        pl_list_remove(&early->entry);
        ucx_receive_deliver(link, &early->wire, early->data, early->rndv);
        free(early);
    }
}

/* What is wrong with a message, NULL: nothing. Peers are not trusted. */
static const char *ucx_receive_check(const struct ucx *ucx, const struct ucx_wire *wire, size_t length, bool waiting)
{
    if (wire->to != ucx->id)
        return "it is for another engine";
    if (wire->header.size != length)
        return "its length is not what its header says";
    if (wire->control >= UCX_CONTROLS || (waiting && wire->control != UCX_MESSAGE))
        return "its kind is unknown";
    return NULL;
}

/* UCX's callback for every message. Returning UCS_INPROGRESS keeps the descriptor of a bulk message. */
static ucs_status_t ucx_receive_do(void *argument, const void *header, size_t header_length, void *data, size_t length,
                                   const ucp_am_recv_param_t *params)
{
    struct ucx *ucx = argument;
    struct ucx_wire wire;
    bool waiting = params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV;
    if (ucx->ending || header_length != sizeof wire)
        return UCS_OK;
    memcpy(&wire, header, sizeof wire);
    const char *wrong = ucx_receive_check(ucx, &wire, length, waiting);
    struct ucx_link *link = wrong ? NULL : ucx_link_make(ucx, wire.from);
    if (!link || link->error || (int32_t)(wire.number - link->next_in) < 0) {
        ucx->host->log("ucx", 1, "a message was thrown away: %s",
                       wrong  ? wrong
                       : link ? "its link has failed"
                              : "out of memory");
        return UCS_OK;
    }

    ucx->events++;
    struct ucx_rndv *rndv = waiting ? make_rndv(link, &wire, data) : NULL;
    if (waiting && !rndv) {
        ucx_link_fail(link, MPI_ERR_NO_MEM);
        return UCS_OK;
    }
    ucx->arriving = rndv;
    if (wire.number == link->next_in) {
        ucx_receive_deliver(link, &wire, data, rndv);
        if (!pl_list_empty(&link->early))
            deliver_held(link);
    } else if (ucx_receive_hold(link, &wire, data, rndv) != MPI_SUCCESS) {
        ucx_link_fail(link, MPI_ERR_NO_MEM);
        if (rndv)
            ucx_rndv_release(rndv);
    }
    bool kept = ucx->arriving != NULL;
    ucx->arriving = NULL;
    return kept ? UCS_INPROGRESS : UCS_OK;
}

int ucx_receive_init(struct ucx *ucx)
{
    static const ucp_generic_dt_ops_t ops = {
        .start_unpack = unpack_start,
        .packed_size = unpack_size,
        .unpack = ucx_receive_unpack,
        .finish = unpack_finish,
    };
    ucp_am_handler_param_t params = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = 0,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = ucx_receive_do,
        .arg = ucx,
    };
    ucs_status_t status = ucp_dt_create_generic(&ops, NULL, &ucx->fetch_type);
    if (status != UCS_OK)
        return ucx_error(ucx, status, "cannot make a UCX datatype");
    status = ucp_worker_set_am_recv_handler(ucx->worker, &params);
    if (status == UCS_OK)
        return MPI_SUCCESS;
    ucp_dt_destroy(ucx->fetch_type);
    return ucx_error(ucx, status, "cannot receive active messages");
}

void ucx_receive_fini(struct ucx *ucx)
{
    ucp_dt_destroy(ucx->fetch_type);
}
