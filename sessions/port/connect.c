/* SPDX-License-Identifier: BSD-3-Clause */
/* The root negotiates with the other root, and broadcasts the result to its group. */
#include "sessions/port/connect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/comm/group_wire.h"
#include "core/comm/intercomm.h"
#include "core/engine/address_vector.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/job/process.h"
#include "core/object/info.h"
#include "sessions/port/negotiate.h"
#include "sessions/port/port.h"

enum { RESOLVED_MAX = 64 }; /* members of the other group that are connected at once */

/* What the root broadcasts, before the other group. */
struct port_result {
    int32_t error;
    uint64_t length; /* of the other group, serialized */
    struct pl_comm_id id, local_id;
    char why[PL_DETAIL_MAX];
};

typedef int negotiate_function(void *context, struct pl_port_negotiation *negotiation);

int pl_port_timeout(struct pl_info *info, long *milliseconds)
{
    *milliseconds = 0;
    return pl_info_seconds(info, "timeout", milliseconds);
}

static int port_broadcast_result(struct pl_comm *comm, int root, int error, struct pl_port_negotiation *negotiation,
                                 struct port_result *result)
{
    *result = (struct port_result){
        .error = error,
        .length = negotiation->remote_length,
        .id = negotiation->id,
        .local_id = pl_comm_new_id(),
    };
    if (error)
        snprintf(result->why, sizeof result->why, "%s", pl_error_detail(NULL));
    int rc = pl_bcast(comm, result, sizeof *result, PL_TYPE_BYTE, root);
    if (rc || result->error == PL_UNREACHABLE)
        return rc ? rc : result->error;
    if (result->error && comm->rank == root)
        return pl_fail(result->error, "%s", result->why); /* again: progress may have recorded another error */
    if (result->error)
        return pl_fail(result->error, "at the root, rank %d: %s", root, result->why);
    if (comm->rank != root && !(negotiation->remote = pl_malloc(result->length)))
        return pl_fail_memory("the members of another group");
    return pl_bcast(comm, negotiation->remote, (MPI_Count)result->length, PL_TYPE_BYTE, root);
}

/* Connects to members of the other group, so that each side notices a death on the other even if they never exchange
 * messages. Only where the transport notices deaths. */
static void port_resolve_members(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_peer *peer;
    pl_engine_enter(engine);
    bool shared = engine->transports > 1 && engine->transport[1].ops->share;
    for (int i = 0; shared && i < comm->inter.remote->size && i < RESOLVED_MAX; i++)
        pl_engine_resolve(comm, i, &peer); /* the first send to a member reports what fails here */
    pl_engine_leave(engine);
}

static int port_assemble(struct pl_comm *comm, const struct pl_port_negotiation *negotiation,
                         const struct port_result *result, bool first, struct pl_comm **made)
{
    struct pl_intercomm_parts parts = {
        .parent = comm, .local = comm->group, .id = result->id, .local_id = result->local_id, .first = first
    };
    int rc = pl_group_wire_read(comm->instance, negotiation->remote, result->length, &parts.remote, &parts.remote_av);
    if (rc)
        return rc;
    rc = pl_intercomm_assemble(comm->instance, &parts, made);
    pl_av_release(parts.remote_av);
    if (rc == MPI_SUCCESS)
        port_resolve_members(*made);
    pl_handle_drop(parts.remote);
    return rc;
}

/* One attempt. The root calls `negotiate`. */
static int port_attempt(int root, struct pl_comm *comm, negotiate_function *negotiate, void *context,
                        struct pl_port_negotiation *negotiation, struct port_result *result)
{
    unsigned char *wire = NULL;
    int rc = pl_group_wire_gather(comm, root, &wire, &negotiation->length);
    negotiation->wire = wire;
    if (rc == MPI_SUCCESS && comm->rank == root) {
        negotiation->networked = pl_group_wire_is_networked(wire, negotiation->length);
        rc = negotiate(context, negotiation);
    }
    rc = port_broadcast_result(comm, root, rc, negotiation, result);
    free(wire);
    return rc;
}

/* Each member sets memory aside: what follows the roots' agreement must not fail on one member alone, as the others may
 * wait for it in the new communicator. */
static int port_reserve(struct pl_comm *comm)
{
    int failed = pl_comm_reserve(comm), any = failed;
    int rc = pl_allreduce(comm, MPI_IN_PLACE, &any, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    if (rc == MPI_SUCCESS && any)
        rc = pl_error_agreed(failed ? failed : pl_fail(any, "the call failed on another process of the group"));
    return rc;
}

static int port_negotiate_reserved(int root, struct pl_comm *comm, bool accepts, negotiate_function *negotiate,
                                   void *context, struct pl_comm **made)
{
    struct pl_port_negotiation negotiation = { .comm = comm,
                                               .final = strcmp(pl_config_text("transport"), "auto") != 0 };
    struct port_result result;
    int rc = port_attempt(root, comm, negotiate, context, &negotiation, &result);
    if (rc == PL_UNREACHABLE) {
        negotiation.final = true;
        if (pl_engine_add_network(&comm->instance->engine)) /* the root notices by the member's card */
            snprintf(negotiation.why, sizeof negotiation.why, "%s", pl_error_detail(NULL));
        rc = port_attempt(root, comm, negotiate, context, &negotiation, &result);
    }
    if (rc == MPI_SUCCESS)
        rc = port_assemble(comm, &negotiation, &result, accepts, made);
    free(negotiation.remote);
    return rc;
}

static int port_negotiate(int root, struct pl_comm *comm, bool accepts, negotiate_function *negotiate, void *context,
                          struct pl_comm **made)
{
    int rc = pl_engine_widen(&comm->instance->engine);
    if (rc) /* it fails only in a job of one process, so no other member waits */
        return rc;
    rc = port_reserve(comm);
    if (rc == MPI_SUCCESS)
        rc = port_negotiate_reserved(root, comm, accepts, negotiate, context, made);
    pl_memory_free_reserve();
    return rc;
}

/* --- the root's part ---------------------------------------------------------------------------------------------- */

struct port_arguments {
    const char *name;
    struct pl_info *info;
};

static int port_root_accept(void *context, struct pl_port_negotiation *negotiation)
{
    const struct port_arguments *arguments = context;
    int rc = pl_port_timeout(arguments->info, &negotiation->timeout);
    return rc ? rc : pl_port_negotiate_accept(arguments->name, negotiation);
}

static int port_root_connect(void *context, struct pl_port_negotiation *negotiation)
{
    const struct port_arguments *arguments = context;
    int rc = pl_port_timeout(arguments->info, &negotiation->timeout);
    return rc ? rc : pl_port_negotiate_connect(arguments->name, negotiation);
}

/* A port for processes that the root has had started. */
struct port_started {
    const struct pl_port_starter *starter;
    char name[MPI_MAX_PORT_NAME]; /* empty: not opened yet */
};

/* Where they are on other hosts, the port must be of the network; the caller's host alone may do without one. */
static int port_open_for_started(struct port_started *started)
{
    const struct pl_identity *identity = &pl_process.identity;
    int rc = pl_port_open(started->starter->far, started->name);
    if (rc && started->starter->far && identity->local_size == identity->size)
        rc = pl_port_open(false, started->name);
    if (rc)
        started->name[0] = '\0';
    return rc;
}

/* Opens the port, has the processes started, and accepts them there. The second attempt only accepts them. */
static int port_root_accept_started(void *context, struct pl_port_negotiation *negotiation)
{
    struct port_started *started = context;
    const struct pl_port_starter *starter = started->starter;
    negotiation->final |= !starter->far; /* they are on this node */
    negotiation->failure = starter->failure;
    negotiation->context = starter->context;
    if (!started->name[0]) {
        int rc = port_open_for_started(started);
        if (rc == MPI_SUCCESS)
            rc = starter->start(starter->context, started->name);
        if (rc)
            return rc;
    }
    return pl_port_negotiate_accept(started->name, negotiation);
}

int pl_port_accept(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made)
{
    return port_negotiate(root, comm, true, port_root_accept, &(struct port_arguments){ name, info }, made);
}

int pl_port_connect(const char *name, struct pl_info *info, int root, struct pl_comm *comm, struct pl_comm **made)
{
    return port_negotiate(root, comm, false, port_root_connect, &(struct port_arguments){ name, info }, made);
}

int pl_port_accept_started(struct pl_port_starter *starter, int root, struct pl_comm *comm, struct pl_comm **made)
{
    struct port_started started = { .starter = starter };
    char why[PL_DETAIL_MAX];
    int rc = port_negotiate(root, comm, true, port_root_accept_started, &started, made);
    snprintf(why, sizeof why, "%s", rc ? pl_error_detail(NULL) : "");
    if (started.name[0])
        pl_port_close(started.name);
    return rc ? pl_fail(rc, "%s", why) : MPI_SUCCESS;
}
