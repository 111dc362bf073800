/* SPDX-License-Identifier: BSD-3-Clause */
/* Outgoing messages: the engine's and the transport's own. */
#include "plugins/ucx/send.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/ucx/link.h"
#include "plugins/ucx/receive.h"

enum { PACKED = 1024 }; /* bytes of data */

/* In lengths of the longest eager message. */
enum {
    LONGER = 4, /* the longest one of a collective over TCP */
    AHEAD = 16, /* what may go to a peer before one is fetched again */
};

/* --- the UCX datatype: packs by the cursor, for data that is not one run ----------------------------------------- */

static void *ucx_send_pack_start(void *context, const void *buffer, size_t count)
{
    (void)context, (void)count;
    return (void *)buffer;
}

static size_t ucx_send_pack_size(void *state)
{
    const struct pl_ucx_send *send = state;
    return send->wire.header.size;
}

static size_t ucx_send_pack(void *state, size_t offset, void *packed, size_t max)
{
    struct pl_ucx_send *send = state;
    size_t remaining = send->wire.header.size - offset, bytes = max < remaining ? max : remaining;
    if (!send->message) {
        memset(packed, 0, bytes);
        return bytes;
    }
    const struct pl_transport_host *host = send->link->ucx->host;
    struct pl_cursor *cursor = &send->message->data;
    if (cursor->done != offset)
        host->seek(cursor, offset);
    return host->pack(cursor, packed, bytes);
}

static void ucx_send_pack_finish(void *state)
{
    (void)state;
}

int pl_ucx_send_init(struct pl_ucx *ucx)
{
    static const ucp_generic_dt_ops_t ops = {
        .start_pack = ucx_send_pack_start,
        .packed_size = ucx_send_pack_size,
        .pack = ucx_send_pack,
        .finish = ucx_send_pack_finish,
    };
    ucs_status_t status = ucp_dt_create_generic(&ops, NULL, &ucx->send_type);
    return status == UCS_OK ? MPI_SUCCESS : pl_ucx_error(ucx, status, "cannot make a UCX datatype");
}

void pl_ucx_send_fini(struct pl_ucx *ucx)
{
    ucp_dt_destroy(ucx->send_type);
    struct pl_list *node;
    while ((node = pl_list_pop(&ucx->spare)) != NULL)
        free(PL_CONTAINER(node, struct pl_ucx_send, entry));
}

/* --- records --------------------------------------------------------------------------------------------------- */

static struct pl_ucx_send *ucx_send_create(struct pl_ucx_link *link, enum pl_ucx_control control)
{
    struct pl_ucx *ucx = link->ucx;
    struct pl_list *node = pl_list_pop(&ucx->spare);
    struct pl_ucx_send *send = node ? PL_CONTAINER(node, struct pl_ucx_send, entry) : pl_malloc(sizeof *send);
    if (!send)
        return NULL;
    pl_list_init(&send->entry);
    send->link = link;
    send->message = NULL;
    send->copy = NULL;
    send->done = false;
    send->wire.from = ucx->id;
    send->wire.to = link->origin.engine;
    send->wire.number = link->next_out;
    send->wire.control = control;
    return send;
}

void pl_ucx_send_free(struct pl_ucx *ucx, struct pl_ucx_send *send)
{
    free(send->copy);
    pl_list_append(&ucx->spare, &send->entry);
}

/* --- sending --------------------------------------------------------------------------------------------------- */

/* The receiver of a longer message fetches it once it is matched: so it has taken those before. */
static void ucx_send_note_fetched(struct pl_ucx_send *send)
{
    if (send->message && send->message->rndv)
        send->link->ahead = 0;
}

static void ucx_send_on_sent(void *request, ucs_status_t status, void *argument)
{
    struct pl_ucx_send *send = argument;
    struct pl_ucx_link *link = send->link;
    struct pl_ucx *ucx = link->ucx;
    ucp_request_free(request);
    send->done = true;
    ucx->events++;
    if (status != UCS_OK)
        pl_ucx_link_lose(link, MPI_ERR_PROC_ABORTED, status);
    ucx_send_note_fetched(send);
    if (send->starting)
        return;
    pl_list_remove(&send->entry);
    if (send->message)
        ucx->host->sent(ucx->engine, send->message, status == UCS_OK ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED);
    pl_ucx_send_free(ucx, send);
}

/* Hands a record to UCX; frees it unless the result is PL_PENDING. An error fails the link, since the message's number
 * would be missing. */
static int ucx_send_start(struct pl_ucx_send *send, const void *data, size_t count, ucp_datatype_t type, bool rndv)
{
    struct pl_ucx_link *link = send->link;
    struct pl_ucx *ucx = link->ucx;
    ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE |
                        UCP_OP_ATTR_FIELD_FLAGS,
        .cb.send = ucx_send_on_sent,
        .user_data = send,
        .datatype = type,
        .flags = rndv ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER,
    };
    link->next_out++;
    send->starting = true;
    ucs_status_ptr_t request = ucp_am_send_nbx(link->ep, 0, &send->wire, sizeof send->wire, data, count, &params);
    send->starting = false;
    if (UCS_PTR_IS_PTR(request) && !send->done) {
        pl_list_append(&link->sends, &send->entry);
        return PL_PENDING;
    }
    int err = link->error;
    if (UCS_PTR_IS_ERR(request)) {
        err = pl_ucx_error(ucx, UCS_PTR_STATUS(request), "cannot send");
        pl_ucx_link_lose(link, err, UCS_PTR_STATUS(request));
    }
    pl_ucx_send_free(ucx, send);
    return err;
}

/* Sends a copy of the data. For messages of listeners: no caller waits for their completion, and the engine may
 * disconnect the receiver before. */
static int ucx_send_copy(struct pl_ucx_send *send, struct pl_outgoing *message)
{
    struct pl_ucx *ucx = send->link->ucx;
    size_t size = message->header.size;
    send->copy = pl_malloc(size ? size : 1);
    if (!send->copy) {
        pl_ucx_send_free(ucx, send);
        return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a message");
    }
    ucx->host->pack(&message->data, send->copy, size);
    int err = ucx_send_start(send, send->copy, size, ucp_dt_make_contig(1), false);
    return err == PL_PENDING ? MPI_SUCCESS : err;
}

/*
 * Over TCP a longer message of a collective goes eagerly, too. Its receive is posted soon. To ask the receiver first
 * would take longer than to copy the data there, which is done anyway. What a receiver that is late has to keep is
 * bounded: after some of them, one waits until it is fetched.
 */
static bool ucx_send_is_eager(struct pl_ucx_link *link, const struct pl_header *header)
{
    const struct pl_ucx *ucx = link->ucx;
    if (pl_message_is_eager(header, ucx->eager))
        return true;
    if (!ucx->tcp_only || header->kind != PL_MSG_COLL || header->size > LONGER * ucx->eager ||
        link->ahead + header->size > AHEAD * ucx->eager)
        return false;
    link->ahead += header->size;
    return true;
}

int pl_ucx_send(struct pl_endpoint *endpoint, struct pl_outgoing *message)
{
    struct pl_ucx_link *link = (struct pl_ucx_link *)endpoint;
    struct pl_ucx *ucx = link->ucx;
    if (link->error && !link->departed && !pl_list_empty(&link->failure))
        return PL_AGAIN; /* the engine hears of the failure first: this process may call MPI no more after an error */
    if (link->error || link->departed)
        return pl_ucx_link_open(link);
    if (!link->ep)
        return PL_AGAIN;
    struct pl_ucx_send *send = ucx_send_create(link, PL_UCX_MESSAGE);
    if (!send)
        return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a message");
    send->wire.header = message->header;
    link->due = link->next_out + 1;

    size_t size = message->header.size;
    message->rndv = !ucx_send_is_eager(link, &message->header);
    if (message->header.kind == PL_MSG_LISTENER && !message->rndv)
        return ucx_send_copy(send, message);
    send->message = message;
    /* Of short data that UCX does not pack itself it gives the kernel a list of pieces, which takes 0.1 us longer. */
    bool packs = ucx->tcp_only && size <= PACKED;
    void *direct = packs ? NULL : pl_cursor_direct(&message->data);
    if (size == 0 && !packs)
        return ucx_send_start(send, NULL, 0, ucp_dt_make_contig(1), false);
    int rc = direct ? ucx_send_start(send, direct, size, ucp_dt_make_contig(1), message->rndv)
                    : ucx_send_start(send, send, 1, ucx->send_type, message->rndv);
    if (rc == PL_PENDING && message->rndv)
        pl_ucx_fetch_after_send(link);
    return rc;
}

int pl_ucx_post(struct pl_ucx_link *link, enum pl_ucx_control control, uint64_t token, const void *data, size_t bytes)
{
    struct pl_ucx *ucx = link->ucx;
    struct pl_ucx_send *send = ucx_send_create(link, control);
    void *copy = bytes ? pl_malloc(bytes) : NULL;
    if (!send || (bytes && !copy)) {
        free(copy);
        if (send)
            pl_ucx_send_free(ucx, send);
        pl_ucx_link_fail(link, MPI_ERR_NO_MEM, "out of memory for a control message");
        return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a control message");
    }
    if (bytes)
        memcpy(copy, data, bytes);
    send->copy = copy;
    send->wire.header = (struct pl_header){ .size = bytes, .token = token };
    int err = ucx_send_start(send, copy, bytes, ucp_dt_make_contig(1), false);
    return err == PL_PENDING ? MPI_SUCCESS : err;
}

/* Succeeds if the receiver has cancelled the message (PL_UCX_FORGET). */
bool pl_ucx_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message)
{
    struct pl_ucx_link *link = (struct pl_ucx_link *)endpoint;
    PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry)
        if (send->message == message)
            return false;
    return true;
}
