/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of an engine, in a hash table by id. Locking: the engine's. */
#include "core/engine/comm_table.h"

#include <stdlib.h>

#include "core/base/compiler.h"
#include "core/base/memory.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/match.h"
#include "core/engine/match_index.h"
#include "core/engine/peer_failure.h"

static size_t comm_bucket(const struct pl_engine *engine, const struct pl_comm *comm)
{
    return (comm->id.home ^ comm->id.serial) & (engine->comms.buckets - 1);
}

static void grow_comms(struct pl_engine *engine)
{
    size_t old = engine->comms.buckets;
    struct pl_comm **from = engine->comms.table, **table = pl_calloc(old * 2, sizeof *table);
    if (!table)
        return;
    engine->comms.buckets = old * 2;
    for (size_t i = 0; i < old; i++)
        for (struct pl_comm *comm = from[i], *next; comm; comm = next) {
            next = comm->next;
            comm->next = table[comm_bucket(engine, comm)];
            table[comm_bucket(engine, comm)] = comm;
        }
    free(from);
    engine->comms.table = table;
}

void pl_engine_add_comm(struct pl_engine *engine, struct pl_comm *comm)
{
    for (int kind = PL_MSG_P2P; kind <= PL_MSG_COLL; kind++)
        comm->envelopes[kind] = (struct pl_header){
            .home = comm->id.home, .serial = comm->id.serial, .source = comm->rank, .kind = (uint8_t)kind
        };
    if (++engine->comms.count > engine->comms.buckets)
        grow_comms(engine);
    size_t bucket = comm_bucket(engine, comm);
    comm->next = engine->comms.table[bucket];
    engine->comms.table[bucket] = comm;
    if (pl_unlikely(engine->failure != NULL))
        pl_failure_check_new_comm(engine, comm);
    pl_match_adopt(engine, comm);
}

void pl_engine_remove_comm(struct pl_engine *engine, struct pl_comm *comm)
{
    struct pl_comm **at = &engine->comms.table[comm_bucket(engine, comm)];
    while (*at && *at != comm)
        at = &(*at)->next;
    if (*at) {
        *at = comm->next;
        engine->comms.count--;
    }
    if (engine->comms.last == comm)
        engine->comms.last = NULL;
    pl_match_index_drop(comm);
    for (int i = 0; i < PL_QUEUES; i++)
        PL_LIST_EACH(unexpected, &comm->match.queues[i].unexpected, struct pl_unexpected, link) {
            pl_list_remove(&unexpected->link);
            pl_match_drop(engine, unexpected, false);
        }
}
