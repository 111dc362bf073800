/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of an engine, by id. The engine's lock is held in all functions. */
#ifndef PLENUM_CORE_ENGINE_COMM_TABLE_H
#define PLENUM_CORE_ENGINE_COMM_TABLE_H

#include <stdint.h>

#include "core/engine/comm.h"
#include "core/engine/engine.h"

/* The key of a communicator's id in the table. Two ids may have the same. */
static inline uint64_t pl_comm_key(uint64_t home, uint32_t serial)
{
    return home ^ serial;
}

/* The communicator of this message; NULL: there is none yet, or none any more. */
struct pl_comm *pl_engine_search_comm(struct pl_engine *engine, const struct pl_header *header);
static inline struct pl_comm *pl_engine_find_comm(struct pl_engine *engine, const struct pl_header *header)
{
    struct pl_comm *comm = engine->comms.last;
    if (comm && comm->id.home == header->home && comm->id.serial == header->serial)
        return comm;
    return pl_engine_search_comm(engine, header);
}

/* Enters a communicator: messages find it. Delivers those that have arrived early. */
void pl_engine_add_comm(struct pl_engine *engine, struct pl_comm *comm);

/* Takes it out, if it is in, and drops its unexpected messages. A sender that waits in a collective is told. */
void pl_engine_remove_comm(struct pl_engine *engine, struct pl_comm *comm);

/* The communicator of this message if it was removed, and not long ago; NULL. */
const struct pl_comm_freed *pl_engine_freed_comm(const struct pl_engine *engine, const struct pl_header *header);

#endif
