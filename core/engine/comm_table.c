/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of an engine, by id. Locking: the engine's. */
#include "core/engine/comm_table.h"

#include "core/base/compiler.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/match.h"
#include "core/engine/match_index.h"
#include "core/engine/peer_failure.h"

struct pl_comm *pl_engine_search_comm(struct pl_engine *engine, const struct pl_header *header)
{
    PL_TABLE_EACH_OF(comm, &engine->comms.by_id, pl_comm_key(header->home, header->serial), struct pl_comm, by_id)
        if (comm->id.home == header->home && comm->id.serial == header->serial)
            return engine->comms.last = comm;
    return NULL;
}

void pl_engine_add_comm(struct pl_engine *engine, struct pl_comm *comm)
{
    for (int kind = PL_MSG_P2P; kind <= PL_MSG_COLL; kind++)
        comm->envelopes[kind] = (struct pl_header){
            .home = comm->id.home, .serial = comm->id.serial, .source = comm->rank, .kind = (uint8_t)kind
        };
    if (pl_unlikely(engine->failure != NULL))
        pl_failure_catch_up(engine);
    pl_table_insert(&engine->comms.by_id, &comm->by_id, pl_comm_key(comm->id.home, comm->id.serial));
    if (pl_unlikely(engine->failure != NULL))
        pl_failure_check_new_comm(engine, comm);
    pl_comm_break_after_failures(engine, comm);
    pl_match_adopt(engine, comm);
}

void pl_engine_remove_comm(struct pl_engine *engine, struct pl_comm *comm)
{
    pl_table_remove(&engine->comms.by_id, &comm->by_id);
    if (engine->comms.last == comm)
        engine->comms.last = NULL;
    bool failed = atomic_load(&comm->health.failed);
    engine->comms.freed[engine->comms.next_freed++ % PL_COMMS_FREED] = (struct pl_comm_freed){
        .home = comm->id.home, .serial = comm->id.serial, .rank = comm->rank, .failed = failed
    };
    PL_LIST_EACH(early, &engine->early.messages, struct pl_unexpected, link)
        if (failed && early->header.home == comm->id.home && early->header.serial == comm->id.serial) {
            pl_list_remove(&early->link); /* of one that is revoked */
            pl_match_drop(engine, early, false);
        }
    for (int i = 0; i < PL_QUEUES; i++) {
        pl_match_index_drop(&comm->match.queues[i]);
        PL_LIST_EACH(unexpected, &comm->match.queues[i].unexpected, struct pl_unexpected, link) {
            pl_list_remove(&unexpected->link);
            bool waits = unexpected->rndv || (unexpected->header.flags & PL_FLAG_SYNC);
            if (i == PL_MSG_COLL && waits && !failed)
                pl_comm_break_sender(engine, unexpected->from, &unexpected->header, comm->rank);
            pl_match_drop(engine, unexpected, false);
        }
    }
}

const struct pl_comm_freed *pl_engine_freed_comm(const struct pl_engine *engine, const struct pl_header *header)
{
    for (int i = 0; i < PL_COMMS_FREED; i++)
        if (engine->comms.freed[i].serial == header->serial && engine->comms.freed[i].home == header->home)
            return &engine->comms.freed[i];
    return NULL;
}
