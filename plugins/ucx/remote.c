/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers. See remote.h. */
#include "plugins/ucx/remote.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "plugins/ucx/link.h"

/* A put, get or flush that UCX executes. */
struct pl_ucx_transfer {
    struct pl_list entry; /* in link->transfers */
    struct pl_ucx_link *link;
    struct pl_moving *owner; /* NULL: it has been told of the link's failure */
    bool starting, done;     /* inside the call that starts it; completed there */
};

/* --- memory ------------------------------------------------------------------------------------------------------ */

int pl_ucx_expose(void *self, void *memory, size_t bytes, struct pl_exposed *exposed)
{
    struct pl_ucx *ucx = self;
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = memory,
        .length = bytes,
    };
    ucp_mem_h mapped;
    void *key;
    size_t length;
    if (!ucx->rma)
        return ucx->host->fail(PL_UNREACHABLE, "PLENUM_UCX_RMA is 0");
    ucs_status_t status = ucp_mem_map(ucx->context, &params, &mapped);
    if (status != UCS_OK)
        return pl_ucx_error(ucx, status, "cannot register a window's memory");
    status = ucp_rkey_pack(ucx->context, mapped, &key, &length);
    bool fits = status == UCS_OK && length <= sizeof exposed->key;
    if (fits) {
        memcpy(exposed->key, key, length);
        exposed->key_length = length;
        exposed->handle = mapped;
    }
    if (status == UCS_OK)
        ucp_rkey_buffer_release(key);
    if (fits)
        return MPI_SUCCESS;
    ucp_mem_unmap(ucx->context, mapped);
    return status == UCS_OK ? ucx->host->fail(PL_UNREACHABLE, "a key of UCX has %zu bytes, there is space for %d",
                                              length, PL_EXPOSED_KEY)
                            : pl_ucx_error(ucx, status, "cannot make the key of a window's memory");
}

void pl_ucx_conceal(void *self, struct pl_exposed *exposed)
{
    struct pl_ucx *ucx = self;
    ucp_mem_unmap(ucx->context, exposed->handle);
}

int pl_ucx_import(struct pl_endpoint *owner, const void *key, size_t length, void **imported)
{
    struct pl_ucx_link *link = (struct pl_ucx_link *)owner;
    ucp_rkey_h made;
    (void)length; /* UCX's keys end by themselves: they come from a process of the job, as its address does */
    if (!link->ep || link->error || link->departed || !link->ucx->rma)
        return PL_AGAIN;
    ucs_status_t status = ucp_ep_rkey_unpack(link->ep, key, &made);
    if (status != UCS_OK)
        return PL_UNREACHABLE;
    *imported = made;
    return MPI_SUCCESS;
}

void pl_ucx_forget(void *imported)
{
    ucp_rkey_destroy(imported);
}

/* --- transfers --------------------------------------------------------------------------------------------------- */

/* PL_AGAIN: it cannot begin yet. */
static int ucx_transfer_create(struct pl_ucx_link *link, struct pl_moving *owner, struct pl_ucx_transfer **transfer)
{
    if (link->error || link->departed)
        return pl_ucx_link_open(link); /* which says why not */
    if (!link->ep)
        return PL_AGAIN;
    struct pl_ucx_transfer *made = pl_calloc(1, sizeof *made);
    if (!made)
        return link->ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a one-sided transfer");
    made->link = link;
    made->owner = owner;
    made->starting = true;
    *transfer = made;
    return MPI_SUCCESS;
}

static void ucx_transfer_on_done(void *request, ucs_status_t status, void *argument)
{
    struct pl_ucx_transfer *transfer = argument;
    struct pl_ucx_link *link = transfer->link;
    ucp_request_free(request);
    link->ucx->events++;
    transfer->done = true;
    if (status != UCS_OK)
        pl_ucx_link_lose(link, MPI_ERR_PROC_ABORTED, status);
    if (transfer->starting)
        return;
    pl_list_remove(&transfer->entry);
    if (transfer->owner)
        transfer->owner->done(transfer->owner, status == UCS_OK ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED);
    free(transfer);
}

/* What UCX has returned: the operation is complete, under way, or has failed. */
static int ucx_transfer_started(struct pl_ucx_transfer *transfer, ucs_status_ptr_t request)
{
    struct pl_ucx_link *link = transfer->link;
    transfer->starting = false;
    if (UCS_PTR_IS_PTR(request) && !transfer->done) {
        pl_list_append(&link->transfers, &transfer->entry);
        return PL_PENDING;
    }
    free(transfer);
    if (UCS_PTR_IS_ERR(request)) {
        pl_ucx_link_lose(link, MPI_ERR_PROC_ABORTED, UCS_PTR_STATUS(request));
        return pl_ucx_error(link->ucx, UCS_PTR_STATUS(request), "a one-sided transfer");
    }
    return link->error;
}

static ucp_request_param_t ucx_transfer_params(struct pl_ucx_transfer *transfer)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = ucx_transfer_on_done,
        .user_data = transfer,
    };
}

int pl_ucx_move(struct pl_endpoint *owner, const struct pl_move *move, struct pl_moving *transfer)
{
    struct pl_ucx_link *link = (struct pl_ucx_link *)owner;
    struct pl_ucx_transfer *made = NULL;
    int err = ucx_transfer_create(link, transfer, &made);
    if (err)
        return err;
    ucp_request_param_t params = ucx_transfer_params(made);
    return ucx_transfer_started(made, move->write ? ucp_put_nbx(link->ep, move->here, move->bytes, move->there,
                                                                move->imported, &params)
                                                  : ucp_get_nbx(link->ep, move->here, move->bytes, move->there,
                                                                move->imported, &params));
}

int pl_ucx_complete(struct pl_endpoint *owner, struct pl_moving *transfer)
{
    struct pl_ucx_link *link = (struct pl_ucx_link *)owner;
    struct pl_ucx_transfer *made = NULL;
    int err = ucx_transfer_create(link, transfer, &made);
    if (err)
        return err;
    ucp_request_param_t params = ucx_transfer_params(made);
    return ucx_transfer_started(made, ucp_ep_flush_nbx(link->ep, &params));
}

int pl_ucx_transfers_give_up(struct pl_ucx_link *link)
{
    int ended = 0;
    PL_LIST_EACH(transfer, &link->transfers, struct pl_ucx_transfer, entry) {
        struct pl_moving *owner = transfer->owner;
        transfer->owner = NULL;
        if (owner && ++ended)
            owner->done(owner, link->error);
    }
    return ended;
}

void pl_ucx_transfers_free(struct pl_ucx_link *link)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&link->transfers)) != NULL)
        free(PL_CONTAINER(node, struct pl_ucx_transfer, entry));
}
