/* SPDX-License-Identifier: BSD-3-Clause */
/* What an agent does with the frames of the runtime. */
#ifndef PLENUM_WORLD_RUNTIME_AGENT_ORDERS_H
#define PLENUM_WORLD_RUNTIME_AGENT_ORDERS_H

#include "world/runtime/agent/agent.h"

void pl_orders_obey(struct pl_frame *frame);

#endif
