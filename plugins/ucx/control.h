/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages between two UCX transports. They share the numbering of the engine's messages.
 *
 * ASK and ACK are needed because a send that UCX calls complete may lie in a socket's buffer, and a socket that is
 * closed with unread data discards what it was still sending. So an engine that closes asks every peer that it has
 * sent to, and waits for the ACK of its last message, for LEAVE, or for the peer's end.
 */
#ifndef PLENUM_PLUGINS_UCX_CONTROL_H
#define PLENUM_PLUGINS_UCX_CONTROL_H

#include "plugins/ucx/ucx.h"

/* Sends this engine's card and address. */
int pl_ucx_control_send_hello(struct pl_ucx_link *link);
/* Answers an ASK that came before this side was connected. */
int pl_ucx_control_send_owed(struct pl_ucx_link *link);
/* Handles a control message that is in turn. Its errors fail the link. */
void pl_ucx_control_handle(struct pl_ucx_link *link, const struct pl_ucx_wire *wire, const void *data, size_t bytes);
/* Have all peers acknowledged the engine's messages? Sends ASK where that is still to be done. */
bool pl_ucx_control_flushed(struct pl_ucx *ucx);

#endif
