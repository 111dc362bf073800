/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: making one from two groups, merging the two. See intercomm.h. */
#include "core/comm/intercomm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/comm/create.h"
#include "core/comm/group_wire.h"
#include "core/engine/address_vector.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_failures.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"
#include "core/job/process.h"

/* A leader's first message. */
struct proposal {
    struct pl_comm_id id;
    int32_t error;
    int16_t far;       /* the World's addresses do not suffice: addresses travel too ... */
    int16_t networked; /* ... and those for other nodes may be needed */
};

/* A serialized group (core/comm/group_wire.h), for free(). */
struct wire {
    uint64_t length;
    unsigned char *data;
};

/* A leader's second message. */
struct announcement {
    uint64_t length; /* of its serialized group, which follows */
    int64_t error;   /* nothing follows */
};

/* The way from the local group to the remote one, from leader to leader. */
struct bridge {
    struct pl_comm *local;
    int local_leader;
    bool leads;           /* this process is the local leader, for which alone the rest is valid: */
    struct pl_comm *peer; /* a communicator of both leaders */
    int remote_leader;    /* its rank there */
    int tag;
};

static bool intercomm_less(struct pl_comm_id a, struct pl_comm_id b)
{
    return a.home != b.home ? a.home < b.home : a.serial < b.serial;
}

/* Any failure in `peer` ends a receive from the other leader, of which there were `before` when it was posted. Is it to
 * be posted again? */
static bool intercomm_goes_on(const struct bridge *bridge, int received, int before)
{
    struct pl_comm *peer = bridge->peer;
    if (received != MPI_ERR_PROC_ABORTED || atomic_load(&peer->health.failures.count) <= before)
        return false;
    pl_engine_enter(&peer->instance->engine);
    bool fails = pl_comm_fails(peer, PL_MSG_COLL, bridge->tag) || pl_comm_member_failed(peer, bridge->remote_leader);
    pl_engine_leave(&peer->instance->engine);
    return !fails;
}

/* Sends to the other leader and receives from it. */
static int intercomm_swap(const struct bridge *bridge, const void *out, size_t out_bytes, void *in, size_t in_bytes)
{
    struct pl_request *send, *recv;
    int rank = bridge->remote_leader, tag = bridge->tag, before = atomic_load(&bridge->peer->health.failures.count);
    int rc = pl_coll_irecv(bridge->peer, in, (MPI_Count)in_bytes, PL_TYPE_BYTE, rank, tag, &recv);
    if (rc)
        return rc;
    rc = pl_coll_isend(bridge->peer, out, (MPI_Count)out_bytes, PL_TYPE_BYTE, rank, tag, &send);
    rc = rc ? rc : pl_request_finish(send);
    int received = pl_request_finish(recv);
    while (intercomm_goes_on(bridge, received, before)) {
        before = atomic_load(&bridge->peer->health.failures.count);
        received = pl_coll_irecv(bridge->peer, in, (MPI_Count)in_bytes, PL_TYPE_BYTE, rank, tag, &recv);
        received = received ? received : pl_request_finish(recv);
    }
    return rc ? rc : received;
}

/* The leaders exchange their serialized groups, or what has failed meanwhile. */
static int intercomm_swap_groups(const struct bridge *bridge, int failed, const struct wire *own, struct wire *theirs)
{
    struct announcement out = { own->length, failed }, in;
    int rc = intercomm_swap(bridge, &out, sizeof out, &in, sizeof in);
    if (failed || rc)
        return failed ? failed : rc;
    if (in.error)
        return pl_fail((int)in.error, "the call failed on a process of the remote group");
    theirs->length = in.length;
    theirs->data = pl_malloc(in.length);
    if (!theirs->data)
        rc = pl_fail_memory("the remote group");
    return rc ? rc : intercomm_swap(bridge, own->data, own->length, theirs->data, theirs->length);
}

/* The leader passes the remote group on to the local group. */
static int intercomm_share_group(const struct bridge *bridge, int failed, struct wire *wire)
{
    int64_t word[2] = { failed, (int64_t)wire->length };
    int rc = pl_bcast(bridge->local, word, sizeof word, PL_TYPE_BYTE, bridge->local_leader);
    if (rc == MPI_SUCCESS && word[0])
        rc = bridge->leads
                 ? failed
                 : pl_fail((int)word[0], "the leader, rank %d, could not exchange groups with the remote leader",
                           bridge->local_leader);
    if (rc)
        return rc;
    wire->length = (uint64_t)word[1];
    if (!bridge->leads && !(wire->data = pl_malloc(wire->length)))
        return pl_fail_memory("the remote group");
    return pl_bcast(bridge->local, wire->data, (MPI_Count)wire->length, PL_TYPE_BYTE, bridge->local_leader);
}

static bool intercomm_is_networked(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    bool networked = pl_engine_is_networked(engine);
    pl_engine_leave(engine);
    return networked;
}

/* What the proposals say has failed: in this group, between the leaders, or in the other group. */
static int intercomm_check_proposals(const struct bridge *bridge, int failed, const struct proposal proposals[2])
{
    int ours = proposals[0].error, theirs = proposals[1].error;
    if (ours)
        return pl_error_agreed(failed ? failed : pl_fail(ours, "the call failed on another process of the group"));
    if (theirs && proposals[1].id.home)
        return pl_error_agreed(pl_fail(theirs, "the call failed on a process of the remote group"));
    if (theirs && !bridge->leads)
        return pl_fail(theirs, "the leader, rank %d, could not reach the remote leader", bridge->local_leader);
    return theirs;
}

/* The leaders exchange their groups, if no proposal says that something has failed. */
static int intercomm_exchange_groups(const struct bridge *bridge, const struct proposal proposals[2],
                                     struct wire *remote)
{
    struct pl_comm *local = bridge->local;
    struct wire own = { 0, NULL };
    size_t length = 0;
    int rc = MPI_SUCCESS;
    bool far = proposals[0].far || proposals[1].far;
    if (far && (proposals[0].networked || proposals[1].networked))
        pl_engine_add_network(
            &local->instance->engine); /* if this fails, so does the first message to a remote process */
    if (far)
        rc = pl_group_wire_gather(local, bridge->local_leader, &own.data, &length);
    else if (bridge->leads)
        rc = pl_group_wire_write(local, &own.data, &length);
    if (bridge->leads) {
        own.length = length;
        rc = intercomm_swap_groups(bridge, rc, &own, remote);
        free(own.data);
    }
    return intercomm_share_group(bridge, rc, remote);
}

/* The leaders exchange proposals and groups, and share both with their groups. `failed`: the error of this process so
 * far. Whatever fails in a group, its leader tells the other one so: that one waits. */
static int intercomm_exchange(const struct bridge *bridge, int failed, struct proposal proposals[2],
                              struct wire *remote)
{
    struct pl_comm *local = bridge->local;
    bool leads = bridge->leads;
    int any = failed;
    int agreed = pl_allreduce(local, MPI_IN_PLACE, &any, 1, pl_type_predefined((uintptr_t)MPI_INT),
                              pl_op_predefined((uintptr_t)MPI_MAX));
    proposals[0] = (struct proposal){ .id = pl_comm_new_id(),
                                      .error = agreed ? agreed : any,
                                      .far = leads && (local->peers.av || bridge->peer->peers.av),
                                      .networked = intercomm_is_networked(local) };
    proposals[1] = (struct proposal){ .error = MPI_ERR_OTHER };
    if (leads) {
        int rc = intercomm_swap(bridge, &proposals[0], sizeof proposals[0], &proposals[1], sizeof proposals[1]);
        if (rc)
            proposals[1] = (struct proposal){ .error = rc };
    }
    if (agreed)
        return agreed;
    bool awaited = leads && !proposals[0].error && !proposals[1].error;
    int shared = pl_bcast(local, proposals, 2 * sizeof *proposals, PL_TYPE_BYTE, bridge->local_leader);
    if (shared)
        return awaited ? intercomm_swap_groups(bridge, shared, &(struct wire){ 0, NULL }, remote) : shared;
    int rc = intercomm_check_proposals(bridge, failed, proposals);
    return rc ? rc : intercomm_exchange_groups(bridge, proposals, remote);
}

/* The communicator of the local group is one that the user does not see: it keeps a reference without a handle. */
static void intercomm_hide(struct pl_comm *local)
{
    local->role.serves = "";
    pl_handle_drop(pl_object_retain(local));
}

static int intercomm_create_local(struct pl_instance *instance, struct pl_comm *parent, struct pl_av *av,
                                  struct pl_group *group, struct pl_comm_id id, struct pl_comm **made)
{
    int rc = pl_comm_create_with_av(instance, parent, av, group, NULL, id, made);
    if (rc == MPI_SUCCESS)
        intercomm_hide(*made);
    return rc;
}

static int intercomm_agree_local(struct pl_comm *comm, struct pl_comm **made)
{
    struct pl_comm_id id;
    int rc = pl_comm_agree(comm, comm->group, pl_comm_next_tag(comm), &id);
    return rc ? rc : intercomm_create_local(comm->instance, comm, NULL, comm->group, id, made);
}

void pl_intercomm_share_loss_locked(struct pl_comm *comm)
{
    struct pl_comm *local = comm->inter.local;
    if (atomic_load(&local->health.confined)) /* it was not yet known to be a part of `comm` */
        pl_comm_share_failures(comm, local);
    else
        pl_comm_break_alike(comm, local);
    pl_comm_break_alike(local, comm);
}

static void intercomm_share_loss(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    pl_comm_break_after_failures(engine, comm);
    pl_intercomm_share_loss_locked(comm);
    pl_engine_leave(engine);
}

/* Ends the making of an intercommunicator. `rc`: an error in making the communicator of its local group. */
static int intercomm_complete(struct pl_comm *made, int rc, struct pl_comm **comm)
{
    if (rc) {
        pl_comm_free(made);
        return rc;
    }
    intercomm_share_loss(made);
    *comm = made;
    return MPI_SUCCESS;
}

static int intercomm_disjoint(const struct pl_group *a, const struct pl_group *b)
{
    for (int i = 0; i < b->size; i++)
        if (pl_group_find(a, pl_group_proc(b, i)) != MPI_UNDEFINED)
            return pl_fail(MPI_ERR_COMM,
                           "the groups are not disjoint: rank %d of the remote group is also in the local group", i);
    return MPI_SUCCESS;
}

/* The new communicator, with the remote group's addresses unless the World's suffice. */
static int intercomm_make(struct pl_comm *local, struct pl_group *remote, struct pl_av **av,
                          const struct proposal proposals[2], struct pl_comm **comm)
{
    struct pl_comm *made;
    bool first = intercomm_less(proposals[0].id, proposals[1].id);
    int rc = intercomm_disjoint(local->group, remote);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create_with_av(local->instance, local, *av, local->group, remote, proposals[!first].id, &made);
    if (rc)
        return rc;
    *av = NULL;
    made->inter.first_group = first;
    return intercomm_complete(made, intercomm_agree_local(local, &made->inter.local), comm);
}

int pl_intercomm_create(struct pl_comm *local, int local_leader, struct pl_comm *peer, int remote_leader, int tag,
                        struct pl_comm **comm)
{
    const struct bridge bridge = { .local = local,
                                   .local_leader = local_leader,
                                   .leads = local->rank == local_leader,
                                   .peer = peer,
                                   .remote_leader = remote_leader,
                                   .tag = pl_comm_user_tag(tag) };
    struct proposal proposals[2];
    struct wire wire = { 0, NULL };
    struct pl_group *remote = NULL;
    struct pl_av *av = NULL;
    int rc = intercomm_exchange(&bridge, pl_comm_reserve(local), proposals, &wire);
    if (rc == MPI_SUCCESS) {
        bool far = proposals[0].far || proposals[1].far;
        rc = pl_group_wire_read(local->instance, wire.data, wire.length, &remote, far ? &av : NULL);
    }
    if (rc == MPI_SUCCESS) {
        rc = intercomm_make(local, remote, &av, proposals, comm);
        pl_handle_drop(remote);
    }
    pl_av_release(av);
    free(wire.data);
    pl_memory_free_reserve();
    return rc;
}

/* A process's message to the other group: its group's proposal, and whether a member has failed. */
struct word {
    struct pl_comm_id id;
    int32_t value;
    int32_t failed;
};

int pl_intercomm_agree(struct pl_comm *comm, int value, int failed, int *remote_value, struct pl_comm_id *id)
{
    struct word own = { pl_comm_new_id(), value, 0 };
    int any = failed != MPI_SUCCESS;
    int rc = pl_allreduce(comm->inter.local, MPI_IN_PLACE, &any, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    if (rc == MPI_SUCCESS)
        rc = pl_bcast(comm->inter.local, &own, sizeof own, PL_TYPE_BYTE, 0);
    struct word *theirs = pl_calloc((size_t)comm->inter.remote->size, sizeof *theirs);
    if (!theirs)
        return pl_fail_memory("an agreement of two groups");
    own.failed = any;
    if (rc == MPI_SUCCESS)
        rc = pl_allgather(comm, &own, sizeof own, PL_TYPE_BYTE, theirs, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS && (any || theirs[0].failed))
        rc = pl_error_agreed(failed ? failed : pl_fail(MPI_ERR_OTHER, "the call failed on another process"));
    *remote_value = theirs[0].value;
    *id = comm->inter.first_group ? own.id : theirs[0].id;
    free(theirs);
    return rc;
}

/* --- from parts --------------------------------------------------------------------------------------------------- */

int pl_intercomm_assemble(struct pl_instance *instance, struct pl_intercomm_parts *parts, struct pl_comm **comm)
{
    struct pl_comm *made;
    int rc = pl_comm_create_with_av(instance, parts->parent, parts->remote_av, parts->local, parts->remote, parts->id,
                                    &made);
    if (rc)
        return rc;
    parts->remote_av = NULL;
    made->inter.first_group = parts->first;
    rc = intercomm_create_local(instance, parts->parent, parts->local_av, parts->local, parts->local_id,
                                &made->inter.local);
    if (rc == MPI_SUCCESS)
        parts->local_av = NULL;
    return intercomm_complete(made, rc, comm);
}

/* The two groups have no member in common, so one id does for the communicators of both. */
int pl_intercomm_create_of_living(struct pl_comm *parent, struct pl_group *local, struct pl_group *remote,
                                  struct pl_comm_id id, struct pl_comm **comm)
{
    struct pl_comm *made;
    int rc = pl_comm_create_of_living(parent, local, remote, id, &made);
    if (rc)
        return rc;
    made->inter.first_group = parent->inter.first_group;
    rc = pl_comm_create_of_living(parent->inter.local, local, NULL, pl_comm_second_id(id), &made->inter.local);
    if (rc == MPI_SUCCESS)
        intercomm_hide(made->inter.local);
    return intercomm_complete(made, rc, comm);
}

/* --- split -------------------------------------------------------------------------------------------------------- */

static int intercomm_part(struct pl_comm *parent, const struct pl_vote *ours, int our_count,
                          const struct pl_vote *theirs, int their_count, struct pl_comm **comm)
{
    struct pl_group *local = pl_votes_group(parent->instance, parent->group, ours, our_count);
    struct pl_group *remote = pl_votes_group(parent->instance, parent->inter.remote, theirs, their_count);
    struct pl_comm *made = NULL;
    const struct pl_vote *head = parent->inter.first_group ? ours : theirs;
    int rc = local && remote ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(parent->instance, parent, local, remote, (struct pl_comm_id){ head->home, head->serial },
                            &made);
    if (rc == MPI_SUCCESS) {
        made->inter.first_group = parent->inter.first_group;
        rc =
            intercomm_create_local(parent->instance, parent->inter.local, NULL, local,
                                   (struct pl_comm_id){ ours->home, (uint32_t)ours->local_serial }, &made->inter.local);
        rc = intercomm_complete(made, rc, comm);
    }
    if (local)
        pl_handle_drop(local);
    if (remote)
        pl_handle_drop(remote);
    return rc;
}

int pl_intercomm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm)
{
    struct pl_comm_id id = pl_comm_new_id();
    struct pl_vote own = { color, key, parent->rank, id.serial, pl_comm_second_id(id).serial, id.home };
    struct pl_vote *ours = pl_malloc((size_t)parent->size * sizeof own),
                   *theirs = pl_malloc((size_t)parent->inter.remote->size * sizeof own);
    *comm = NULL;
    int rc = ours && theirs ? MPI_SUCCESS : pl_fail_memory("the colors of a split");
    if (rc == MPI_SUCCESS)
        rc = pl_allgather(parent->inter.local, &own, sizeof own, PL_TYPE_BYTE, ours, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS)
        rc = pl_allgather(parent, &own, sizeof own, PL_TYPE_BYTE, theirs, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS && color != MPI_UNDEFINED) {
        int our_count = pl_votes_of_color(ours, parent->size, color),
            their_count = pl_votes_of_color(theirs, parent->inter.remote->size, color);
        if (their_count > 0)
            rc = intercomm_part(parent, ours, our_count, theirs, their_count, comm);
    }
    free(theirs);
    free(ours);
    return rc;
}

/* --- duplicates --------------------------------------------------------------------------------------------------- */

int pl_intercomm_finish_dup(struct pl_comm *parent, struct pl_comm *made)
{
    made->inter.first_group = parent->inter.first_group;
    int rc = intercomm_agree_local(parent->inter.local, &made->inter.local);
    if (rc == MPI_SUCCESS)
        intercomm_share_loss(made);
    return rc;
}

/* --- merge -------------------------------------------------------------------------------------------------------- */

static struct pl_group *intercomm_joined_group(struct pl_comm *comm, const struct pl_group *low,
                                               const struct pl_group *high)
{
    int size = low->size + high->size;
    uint64_t *procs = pl_malloc((size_t)size * sizeof *procs);
    if (!procs) {
        pl_fail_memory("the merged group");
        return NULL;
    }
    for (int i = 0; i < size; i++)
        procs[i] = i < low->size ? pl_group_proc(low, i) : pl_group_proc(high, i - low->size);
    struct pl_group *group = pl_instance_group(comm->instance, size, procs);
    free(procs);
    return group;
}

/* The intercommunicator has the remote addresses, the communicator of its local group the local ones. Length 0: the
 * World's address is meant. */
static const void *intercomm_card_of(const struct pl_comm *comm, uint64_t proc, size_t *length)
{
    const struct pl_av *avs[] = { comm->peers.av, comm->inter.local->peers.av };
    *length = 0;
    for (int i = 0; i < 2; i++) {
        int at = avs[i] ? pl_group_find(avs[i]->group, proc) : MPI_UNDEFINED;
        if (at != MPI_UNDEFINED)
            return pl_av_card(avs[i], at, length);
    }
    return "";
}

static int intercomm_joined_av(struct pl_comm *comm, struct pl_group *group, struct pl_av **av)
{
    *av = NULL;
    if (!comm->peers.av)
        return MPI_SUCCESS;
    *av = pl_av_create(group);
    if (!*av)
        return MPI_ERR_NO_MEM;
    size_t length, bytes = 0;
    for (int i = 0; i < group->size; i++) {
        intercomm_card_of(comm, pl_group_proc(group, i), &length);
        bytes += length;
    }
    int rc = pl_av_open(*av, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < group->size; i++) {
        const void *card = intercomm_card_of(comm, pl_group_proc(group, i), &length);
        pl_av_add(*av, i, card, length);
    }
    return rc;
}

int pl_intercomm_merge(struct pl_comm *comm, int high, struct pl_comm **merged)
{
    int remote_high;
    struct pl_comm_id id;
    struct pl_av *av = NULL;
    int rc = pl_intercomm_agree(comm, high != 0, MPI_SUCCESS, &remote_high, &id);
    if (rc)
        return rc;
    bool low = (high != 0) != remote_high ? !high : comm->inter.first_group;
    struct pl_group *group = low ? intercomm_joined_group(comm, comm->group, comm->inter.remote)
                                 : intercomm_joined_group(comm, comm->inter.remote, comm->group);
    if (!group)
        return MPI_ERR_NO_MEM;
    rc = intercomm_joined_av(comm, group, &av);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create_with_av(comm->instance, comm->inter.local, av, group, NULL, id, merged);
    if (rc)
        pl_av_release(av);
    pl_handle_drop(group);
    return rc;
}
