/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outgoing messages: the engine's and the transport's own.
 *
 * A struct pl_ucx_send lives as long as UCX needs it. UCX never gives a send back. So a message that the engine has
 * given up only loses its `message`: the record stays, and UCX gets zeros if it still asks for data.
 */
#ifndef PLENUM_PLUGINS_UCX_SEND_H
#define PLENUM_PLUGINS_UCX_SEND_H

#include "plugins/ucx/ucx.h"

int pl_ucx_send_init(struct pl_ucx *ucx);
void pl_ucx_send_fini(struct pl_ucx *ucx);

/* Slots of pl_transport_ops. */
int pl_ucx_send(struct pl_endpoint *endpoint, struct pl_outgoing *message);
bool pl_ucx_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *message);

/* Sends a control message with a copy of the data. */
int pl_ucx_post(struct pl_ucx_link *link, enum pl_ucx_control control, uint64_t token, const void *data, size_t bytes);

/* Returns a record to the list of spare ones. */
void pl_ucx_send_free(struct pl_ucx *ucx, struct pl_ucx_send *send);

#endif
