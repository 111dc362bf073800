/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers: memory that is opened to the peers, and puts and gets to theirs (ucp_put_nbx, ucp_get_nbx). */
#ifndef PLENUM_PLUGINS_UCX_REMOTE_H
#define PLENUM_PLUGINS_UCX_REMOTE_H

#include "plugins/ucx/ucx.h"

/* Slots of pl_transport_ops. */
int pl_ucx_expose(void *self, void *memory, size_t bytes, struct pl_exposed *exposed);
void pl_ucx_conceal(void *self, struct pl_exposed *exposed);
int pl_ucx_import(struct pl_endpoint *owner, const void *key, size_t length, void **imported);
void pl_ucx_forget(void *imported);
int pl_ucx_move(struct pl_endpoint *owner, const struct pl_move *move, struct pl_moving *transfer);
int pl_ucx_complete(struct pl_endpoint *owner, struct pl_moving *transfer);

/* Ends all transfers of a link with its error; returns their number. UCX may still hold their records. */
int pl_ucx_transfers_give_up(struct pl_ucx_link *link);
/* Frees the records that UCX has not given back, when it is gone. */
void pl_ucx_transfers_free(struct pl_ucx_link *link);

#endif
