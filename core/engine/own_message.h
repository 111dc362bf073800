/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to an engine itself, which no receive matches: between listeners, of broken communicators, of agreements,
 * and questions about messages that are owed. One that is too long to be sent eagerly is fetched into memory first.
 *
 * Locking: the engine's lock is held.
 */
#ifndef PLENUM_CORE_ENGINE_OWN_MESSAGE_H
#define PLENUM_CORE_ENGINE_OWN_MESSAGE_H

#include "core/engine/engine.h"

/* Hands such a message to the room that it is for; consumes `rndv`. */
void pl_own_message_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                            const void *data, struct pl_rndv *rndv);

#endif
