/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting and connecting as a group: its root deals with the other, and tells the others what came of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/group_wire.h"
#include "core/comm/intercomm.h"
#include "core/engine/address_vector.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/object/info.h"
#include "sessions/port/parts.h"
#include "sessions/port/port.h"

enum { REACHED = 64 }; /* members of the other group to whom a connection is made at once */

/* What the root tells its group. */
struct news {
    int32_t error;
    uint64_t length; /* of the other group's list, which follows */
    struct pl_comm_id id, local_id;
    char why[PL_DETAIL_MAX];
};

int pl_port_patience(struct pl_info *info, long *milliseconds)
{
    *milliseconds = 0;
    return pl_info_seconds(info, "timeout", milliseconds);
}

/* The root's result, at all. */
static int port_comm_share(struct pl_comm *comm, int root, int error, struct pl_deal *deal, struct news *news)
{
    *news =
        (struct news){ .error = error, .length = deal->remote_length, .id = deal->id, .local_id = pl_comm_new_id() };
    if (error)
        snprintf(news->why, sizeof news->why, "%s", pl_error_detail(NULL));
    int rc = pl_bcast(comm, news, sizeof *news, PL_TYPE_BYTE, root);
    if (rc || news->error == PL_UNREACHABLE)
        return rc ? rc : news->error;
    if (news->error && comm->rank == root)
        return pl_fail(news->error, "%s", news->why); /* again: what came in meanwhile may have recorded its own */
    if (news->error)
        return pl_fail(news->error, "at the root, rank %d: %s", root, news->why);
    if (comm->rank != root && !(deal->remote = pl_malloc(news->length)))
        return pl_fail_memory("the members of another group");
    return pl_bcast(comm, deal->remote, (MPI_Count)news->length, PL_TYPE_BYTE, root);
}

/* Who is connected notices when the other dies, though they never talk. Where the way is one that notices. */
static void cma_others(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_peer *peer;
    pl_engine_enter(engine);
    bool shared = engine->transports > 1 && engine->transport[1].ops->share;
    for (int i = 0; shared && i < comm->inter.remote->size && i < REACHED; i++)
        pl_engine_resolve(comm, i, &peer); /* what fails here is an error of who sends there */
    pl_engine_leave(engine);
}

static int port_comm_assemble(struct pl_comm *comm, const struct pl_deal *deal, const struct news *news, bool first,
                              struct pl_comm **made)
{
    struct pl_intercomm_parts parts = {
        .parent = comm, .local = comm->group, .id = news->id, .local_id = news->local_id, .first = first
    };
    int rc = pl_group_wire_read(comm->instance, deal->remote, news->length, &parts.remote, &parts.remote_av);
    if (rc)
        return rc;
    rc = pl_intercomm_assemble(comm->instance, &parts, made);
    pl_av_release(parts.remote_av);
    if (rc == MPI_SUCCESS)
        cma_others(*made);
    pl_handle_drop(parts.remote);
    return rc;
}

typedef int work_function(void *context, struct pl_deal *deal);

/* The root's part is `work`. */
static int port_comm_negotiate(int root, struct pl_comm *comm, work_function *work, void *context, struct pl_deal *deal,
                               struct news *news)
{
    unsigned char *wire = NULL;
    int rc = pl_group_wire_gather(comm, root, &wire, &deal->length);
    deal->wire = wire;
    if (rc == MPI_SUCCESS && comm->rank == root) {
        deal->networked = pl_group_wire_is_networked(wire, deal->length);
        rc = work(context, deal);
    }
    rc = port_comm_share(comm, root, rc, deal, news);
    free(wire);
    return rc;
}

static int port_comm_meet(int root, struct pl_comm *comm, bool accepts, work_function *work, void *context,
                          struct pl_comm **made)
{
    struct pl_deal deal = { .comm = comm, .final = strcmp(pl_config_text("transport"), "auto") != 0 };
    struct news news;
    int rc = pl_engine_widen(&comm->instance->engine);
    if (rc) /* only who is alone in its job can fail here */
        return rc;
    rc = port_comm_negotiate(root, comm, work, context, &deal, &news);
    if (rc == PL_UNREACHABLE) {
        deal.final = true;
        if (pl_engine_add_network(&comm->instance->engine)) /* the root sees it by the card */
            snprintf(deal.why, sizeof deal.why, "%s", pl_error_detail(NULL));
        rc = port_comm_negotiate(root, comm, work, context, &deal, &news);
    }
    if (rc == MPI_SUCCESS)
        rc = port_comm_assemble(comm, &deal, &news, accepts, made);
    free(deal.remote);
    return rc;
}

struct call {
    const char *name;
    struct pl_info *info;
};

static int accept_at(void *context, struct pl_deal *deal)
{
    const struct call *call = context;
    int rc = pl_port_patience(call->info, &deal->patience);
    return rc ? rc : pl_port_wait_accept(call->name, deal);
}

static int connect_to(void *context, struct pl_deal *deal)
{
    const struct call *call = context;
    int rc = pl_port_patience(call->info, &deal->patience);
    return rc ? rc : pl_port_wait_connect(call->name, deal);
}

int pl_port_accept(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made)
{
    return port_comm_meet(root, comm, true, accept_at, &(struct call){ name, info }, made);
}

int pl_port_connect(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made)
{
    return port_comm_meet(root, comm, false, connect_to, &(struct call){ name, info }, made);
}

/* Opens a port, has somebody started who will connect to it, and accepts. */
static int port_comm_host(void *context, struct pl_deal *deal)
{
    const struct pl_port_participants *participants = context;
    char name[MPI_MAX_PORT_NAME];
    int rc = pl_port_open(false, name);
    if (rc)
        return rc;
    deal->final = true; /* they are on this node */
    deal->abort_reason = participants->abort_reason;
    deal->context = participants->context;
    rc = participants->invite(participants->context, name);
    if (rc == MPI_SUCCESS)
        rc = pl_port_wait_accept(name, deal);
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    pl_port_close(name);
    return rc ? pl_fail(rc, "%s", why) : MPI_SUCCESS;
}

int pl_port_host(struct pl_port_participants *participants, int root, struct pl_comm *comm, struct pl_comm **made)
{
    return port_comm_meet(root, comm, true, port_comm_host, participants, made);
}
