/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Incoming messages: put into order, checked, and handed to the engine; rendezvous data is fetched or discarded.
 *
 * The descriptor of a rendezvous message belongs to UCX. It is given back exactly once: to ucp_am_recv_data_nbx()
 * (fetch), to ucp_am_data_release() (drop), or, while UCX's own callback for it still runs, by that callback's return
 * value.
 */
#ifndef PLENUM_PLUGINS_UCX_RECEIVE_H
#define PLENUM_PLUGINS_UCX_RECEIVE_H

#include "plugins/ucx/ucx.h"

int pl_ucx_receive_init(struct pl_ucx *ucx);
void pl_ucx_receive_fini(struct pl_ucx *ucx);

/* Slots of pl_transport_ops. */
int pl_ucx_fetch(void *self, struct pl_rndv *rndv, struct pl_incoming *message);
void pl_ucx_drop(void *self, struct pl_rndv *rndv, bool cancelled);

/* This side has sent a rendezvous message. */
void pl_ucx_fetch_after_send(struct pl_ucx_link *link);
/* In progress(): fetches what was put off. Returns the number of events. */
int pl_ucx_fetch_put_off(struct pl_ucx *ucx);

/* Discards a message that is not being fetched; its send completes. Steals `rndv`. */
void pl_ucx_rndv_release(struct pl_ucx_rndv *rndv);
/* Gives up a message at close(). */
void pl_ucx_rndv_abandon(struct pl_ucx_rndv *rndv);

#endif
