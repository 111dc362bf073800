/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to the engine itself. See own_message.h. */
#include "core/engine/own_message.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/engine/client.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/comm_table.h"
#include "core/engine/match.h"
#include "core/engine/peer_failure.h"

/* A message to the engine itself may be too long to be sent eagerly: it is fetched into memory first. */
struct own_fetch {
    struct pl_request request;
    const struct pl_origin *from;
    struct pl_header header;
    unsigned char data[];
};

static void own_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                        const void *data)
{
    struct pl_comm *comm = header->kind == PL_MSG_LISTENER ? NULL : pl_engine_find_comm(engine, header);
    if (header->kind == PL_MSG_OWED)
        pl_message_ops[PL_MSG_OWED].arrived(engine, comm, from, header, data, NULL);
    else if (header->kind == PL_MSG_LISTENER && engine->arrived)
        engine->arrived(engine, from, header, data);
    else if (comm && header->kind == PL_MSG_AGREEMENT)
        pl_message_ops[PL_MSG_AGREEMENT].arrived(engine, comm, from, header, data, NULL);
    else if (comm)
        pl_comm_break_told(comm, header, data);
    else if (header->kind != PL_MSG_LISTENER && engine->instance)
        pl_match_keep_early(engine, NULL, from, header, data, NULL);
}

static void own_fetched(struct pl_request *request)
{
    struct own_fetch *fetch = PL_CONTAINER(request, struct own_fetch, request);
    if (request->outcome.error == MPI_SUCCESS)
        own_arrived(request->engine, fetch->from, &fetch->header, fetch->data);
    pl_origin_release(fetch->from);
    free(fetch);
}

void pl_own_message_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                            const void *data, struct pl_rndv *rndv)
{
    if (!rndv) {
        own_arrived(engine, from, header, data);
        return;
    }
    bool wanted = header->kind != PL_MSG_LISTENER || engine->arrived;
    struct own_fetch *fetched =
        wanted && header->size < PL_LISTENER_MAX ? pl_calloc(1, sizeof *fetched + header->size) : NULL;
    if (!fetched) {
        pl_match_refuse(engine, rndv);
        if (wanted && header->size < PL_LISTENER_MAX)
            pl_failure_own_message(engine, "out of memory for a message");
        return;
    }
    fetched->from = from;
    pl_origin_hold(from);
    fetched->header = *header;
    fetched->request.engine = engine;
    fetched->request.is.caller_owned = true;
    fetched->request.on.completed = own_fetched;
    pl_list_init(&fetched->request.link);
    pl_cursor_init(&fetched->request.in.data, fetched->data, (MPI_Count)header->size, PL_TYPE_BYTE);
    pl_match_fetch(&fetched->request, header, rndv);
}
