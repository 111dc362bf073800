/* SPDX-License-Identifier: BSD-3-Clause */
/* What the listener's messages are for: exchanges, and ports. */
#include "sessions/create/exchange_message.h"
#include "sessions/create/listener.h"
#include "sessions/port/calls.h"

const struct pl_listener_client pl_listener_clients[PL_LISTENER_CLIENTS] = {
    { .first = PL_EXCHANGE_JOIN,
      .last = PL_EXCHANGE_REFUSAL,
      .arrived = pl_exchange_message_arrived,
      .starved = pl_exchange_message_starved,
      .forget = pl_exchange_forget_peer,
      .holds = pl_exchange_holds_peer,
      .closed = pl_exchange_forget_early },
    { .first = PL_PORT_CALL,
      .last = PL_PORT_HANG_UP,
      .arrived = pl_port_message_arrived,
      .starved = pl_port_message_starved,
      .forget = pl_port_forget_peer,
      .holds = pl_port_holds_peer,
      .closing = pl_port_remove_all,
      .closed = pl_port_forget_callers },
};
