/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators from communicators. See create.h. */
#include "core/comm/create.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/agree.h"
#include "core/coll/collective.h"
#include "core/comm/intercomm.h"
#include "core/comm/topology.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_info.h"
#include "core/engine/comm_table.h"
#include "core/engine/instance.h"
#include "core/engine/request.h"
#include "core/job/process.h"
#include "core/object/attr.h"

int pl_comm_reserve(const struct pl_comm *parent)
{
    enum { AT_LEAST = 65536, EACH = 1024 }; /* bytes: a member's address, and its place in tables */
    return pl_memory_reserve(AT_LEAST + (size_t)pl_comm_members(parent) * EACH)
               ? MPI_SUCCESS
               : pl_fail_memory("what other processes make, too");
}

/* A copy callback that fails on one process must not leave the others waiting: all processes agree on the outcome. */
static int comm_dup_agree(struct pl_comm *parent, int failed, struct pl_comm_id *id)
{
    int any = failed != MPI_SUCCESS, ignored; /* the code may be any number */
    if (parent->inter.remote)
        return pl_intercomm_agree(parent, 0, failed, &ignored, id);
    int rc = pl_allreduce(parent, MPI_IN_PLACE, &any, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    if (rc == MPI_SUCCESS && any)
        rc = pl_error_agreed(
            failed ? failed : pl_fail(MPI_ERR_OTHER, "the copy function of an attribute failed on another process"));
    *id = pl_comm_new_id();
    return rc ? rc : pl_bcast(parent, id, sizeof *id, PL_TYPE_BYTE, 0);
}

int pl_comm_dup(struct pl_comm *parent, struct pl_info *info, struct pl_comm **comm)
{
    struct pl_comm_id id;
    struct pl_attrs *attrs = NULL;
    struct pl_comm *made;
    int rc = comm_dup_agree(parent, pl_attrs_copy(&parent->attrs, pl_comm_handle(parent), &attrs), &id);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(parent->instance, parent, parent->group, parent->inter.remote, id, &made);
    if (rc) {
        pl_attrs_discard(&attrs, pl_comm_handle(parent));
        return rc;
    }
    made->attrs = attrs;
    rc = pl_comm_info_set(made, info);
    if (rc == MPI_SUCCESS)
        rc = pl_topology_copy(parent, made);
    if (rc == MPI_SUCCESS && parent->inter.remote)
        rc = pl_intercomm_finish_dup(parent, made);
    if (rc)
        pl_comm_free(made);
    else
        *comm = made;
    return rc;
}

/* --- duplicates without waiting ----------------------------------------------------------------------------------- */

/* A group's proposal: the ids that its first member has chosen, and whether a member failed to copy its attributes. It
 * is the maximum of a reduction, to which members without a choice, or without a failure, contribute 0. */
struct words {
    uint64_t failed, home, serial, local_serial;
};

/* An intercommunicator needs two reductions: in the local group, and between the groups. */
struct idup {
    struct words own;           /* sent to the remote group */
    struct words words, remote; /* the two groups' results */
    struct pl_comm *comm;       /* retained */
    struct pl_request *user;    /* the reduction whose request the user has; it completes last */
    struct pl_request *local;   /* the reduction in the local group of an intercommunicator, or NULL */
    struct pl_list order;       /* in coll.idups_pending of the parent */
    int pending, error;
    void (*destroyed)(struct pl_request *request);
};

/* The engine's lock is held. */
static void idup_finish(struct idup *idup)
{
    struct pl_comm *comm = idup->comm;
    const struct words *chosen = comm->inter.remote && !comm->inter.first_group ? &idup->remote : &idup->words;
    int error = idup->error;
    if (error == MPI_SUCCESS)
        pl_comm_note_idup(idup->user->comm, comm->role.idup);
    if (error == MPI_SUCCESS && (idup->words.failed || idup->remote.failed))
        error = MPI_ERR_OTHER;
    if (error == MPI_SUCCESS) {
        comm->id = (struct pl_comm_id){ chosen->home, (uint32_t)chosen->serial };
        pl_engine_add_comm(idup->user->engine, comm);
        if (comm->inter.local) {
            comm->inter.local->id = (struct pl_comm_id){ idup->words.home, (uint32_t)idup->words.local_serial };
            pl_engine_add_comm(idup->user->engine, comm->inter.local);
            pl_intercomm_share_loss_locked(comm);
        }
        pl_comm_break_stopped(comm, idup->user->comm);
    }
    idup->user->on.completed = NULL;
    pl_request_complete(idup->user, error);
}

/* Duplicates of one parent are finished in their order, so that their number tells which ones have been made. After one
 * that failed, those whose reductions have ended were told as not made, too. The engine's lock is held. */
static void idup_completed(struct pl_request *request)
{
    struct idup *idup = request->on.owner;
    struct pl_comm *parent = idup->user->comm;
    int failed = MPI_SUCCESS;
    idup->error = idup->error ? idup->error : request->outcome.error;
    if (--idup->pending > 0)
        return;
    PL_LIST_EACH(each, &parent->coll.idups_pending, struct idup, order) {
        if (each->pending > 0)
            return;
        pl_list_remove(&each->order);
        failed = each->error = each->error ? each->error : failed;
        idup_finish(each);
    }
}

static void idup_destroyed(struct pl_request *request)
{
    struct idup *idup = request->on.owner;
    idup->destroyed(request);
    if (idup->local)
        pl_handle_drop(idup->local);
    pl_object_release(idup->comm);
    free(idup);
}

int pl_comm_idup_report(const struct pl_request *request, int error)
{
    if (request->on.destroyed != idup_destroyed)
        return pl_agree_report(request, error);
    const struct idup *idup = request->on.owner;
    return idup->error ? error
                       : pl_error_agreed(pl_fail(error, "the duplicate failed on another process, which reports the "
                                                        "reason"));
}

static int idup_prepare_reduction(struct idup *idup, struct pl_comm *comm, struct words *result,
                                  struct pl_request **request)
{
    struct pl_coll reduction = {
        .kind = PL_COLL_ALLREDUCE,
        .comm = comm,
        .sendbuf = comm->inter.remote ? (void *)&idup->own : MPI_IN_PLACE,
        .recvbuf = result,
        .recvcount = sizeof *result / sizeof(uint64_t),
        .recvtype = pl_type_predefined((uintptr_t)MPI_UINT64_T),
        .op = pl_op_predefined((uintptr_t)MPI_MAX),
    };
    int rc = pl_coll_prepare_once(&reduction, request);
    if (rc)
        return rc;
    (*request)->on.owner = idup;
    (*request)->on.completed = idup_completed;
    idup->pending++;
    return MPI_SUCCESS;
}

static int idup_prepare(struct idup *idup, struct pl_comm *parent)
{
    int rc = idup_prepare_reduction(idup, parent, parent->inter.remote ? &idup->remote : &idup->words, &idup->user);
    if (rc == MPI_SUCCESS && parent->inter.remote) {
        rc = idup_prepare_reduction(idup, parent->inter.local, &idup->words, &idup->local);
        if (rc)
            pl_handle_drop(idup->user);
    }
    return rc;
}

static int idup_restart(struct idup *idup, struct pl_comm *parent)
{
    struct pl_engine *engine = idup->user->engine;
    pl_engine_enter(engine);
    pl_list_append(&parent->coll.idups_pending, &idup->order);
    pl_engine_leave(engine);
    int rc = idup->local ? idup->local->coll.restart(idup->local) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = idup->user->coll.restart(idup->user);
    if (rc == MPI_SUCCESS)
        return rc;
    pl_engine_enter(engine);
    pl_list_remove(&idup->order);
    pl_engine_leave(engine);
    return rc;
}

static int idup_start(struct pl_comm *parent, struct pl_comm *made, bool failed, struct pl_request **request)
{
    struct idup *idup = pl_calloc(1, sizeof *idup);
    if (!idup)
        return pl_fail_memory("a duplicate");
    struct pl_comm_id id = pl_comm_new_id();
    if (parent->rank == 0)
        idup->words =
            (struct words){ .home = id.home, .serial = id.serial, .local_serial = pl_comm_second_id(id).serial };
    idup->words.failed = failed;
    idup->own = idup->words;
    int rc = idup_prepare(idup, parent);
    if (rc) {
        free(idup);
        return rc;
    }
    idup->comm = pl_object_retain(made);
    idup->destroyed = idup->user->on.destroyed;
    idup->user->on.destroyed = idup_destroyed;
    *request = idup->user;
    return idup_restart(idup, parent);
}

/* The communicator of an intercommunicator's local group, without an id. */
static int idup_build_local(struct pl_comm *parent, struct pl_comm *made)
{
    made->inter.first_group = parent->inter.first_group;
    int rc = pl_comm_build(parent->instance, parent->inter.local, parent->group, NULL, &made->inter.local);
    if (rc)
        return rc;
    made->inter.local->role.serves = "";
    pl_handle_drop(pl_object_retain(made->inter.local));
    return MPI_SUCCESS;
}

int pl_comm_idup(struct pl_comm *parent, struct pl_info *info, struct pl_comm **comm, struct pl_request **request)
{
    struct pl_comm *made;
    parent->coll.idups++;
    int rc = pl_comm_build(parent->instance, parent, parent->group, parent->inter.remote, &made);
    if (rc)
        return rc;
    made->role.idup = parent->coll.idups;
    rc = parent->inter.remote ? idup_build_local(parent, made) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = pl_attrs_copy(&parent->attrs, pl_comm_handle(parent), &made->attrs);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_info_set(made, info);
    if (rc == MPI_SUCCESS)
        rc = pl_topology_copy(parent, made);
    /* A process that has failed tells the others so, and does not wait. */
    int started = idup_start(parent, made, rc != MPI_SUCCESS, request);
    if (rc && started == MPI_SUCCESS)
        pl_request_let_go(*request);
    rc = rc ? pl_error_agreed(rc) : started;
    if (rc)
        pl_comm_free(made);
    else
        *comm = made;
    return rc;
}

/* --- split -------------------------------------------------------------------------------------------------------- */

static int vote_compare(const void *a, const void *b)
{
    const struct pl_vote *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->rank - y->rank;
}

int pl_votes_of_color(struct pl_vote *votes, int size, int color)
{
    int count = 0;
    for (int i = 0; i < size; i++)
        if (votes[i].color == color)
            votes[count++] = votes[i];
    qsort(votes, (size_t)count, sizeof *votes, vote_compare);
    return count;
}

struct pl_group *pl_votes_group(struct pl_instance *instance, const struct pl_group *from, const struct pl_vote *votes,
                                int count)
{
    uint64_t *procs = pl_malloc((size_t)count * sizeof *procs);
    if (!procs) {
        pl_fail_memory("the members of a communicator");
        return NULL;
    }
    for (int i = 0; i < count; i++)
        procs[i] = pl_group_proc(from, votes[i].rank);
    struct pl_group *group = pl_instance_group(instance, count, procs);
    free(procs);
    return group;
}

int pl_comm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm)
{
    if (parent->inter.remote)
        return pl_intercomm_split(parent, color, key, comm);
    struct pl_comm_id id = pl_comm_new_id();
    struct pl_vote own = { color, key, parent->rank, id.serial, 0, id.home };
    struct pl_vote *votes = pl_malloc((size_t)parent->size * sizeof *votes);
    *comm = NULL;
    if (!votes)
        return pl_fail_memory("the colors of a split");
    int rc = pl_allgather(parent, &own, sizeof own, PL_TYPE_BYTE, votes, sizeof own, PL_TYPE_BYTE);
    if (rc || color == MPI_UNDEFINED)
        goto votes;
    int members = pl_votes_of_color(votes, parent->size, color);
    struct pl_group *group = pl_votes_group(parent->instance, parent->group, votes, members);
    rc = MPI_ERR_NO_MEM;
    if (!group)
        goto votes;
    id = (struct pl_comm_id){ votes[0].home, votes[0].serial };
    rc = pl_comm_create(parent->instance, parent, group, NULL, id, comm);
    pl_handle_drop(group);
votes:
    free(votes);
    return rc;
}

/* --- from a group ------------------------------------------------------------------------------------------------- */

/* Another thread may free the group while this one waits. */
static int create_agreed(struct pl_comm *parent, struct pl_group *group, int tag, struct pl_comm **comm)
{
    struct pl_comm_id id;
    pl_object_retain(group);
    int rc = pl_comm_agree(parent, group, tag, &id);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_is_user_tag(tag) ? pl_comm_create_grouped(parent, group, id, comm)
                                      : pl_comm_create(parent->instance, parent, group, NULL, id, comm);
    pl_object_release(group);
    return rc;
}

int pl_comm_create_group(struct pl_comm *parent, struct pl_group *group, int tag, struct pl_comm **comm)
{
    *comm = NULL;
    return group->rank == MPI_UNDEFINED ? MPI_SUCCESS : create_agreed(parent, group, pl_comm_user_tag(tag), comm);
}

int pl_comm_create_members(struct pl_comm *parent, struct pl_group *group, struct pl_comm **comm)
{
    if (parent->inter.remote)
        return pl_intercomm_split(parent, group->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, group->rank, comm);
    int tag = pl_comm_next_tag(parent);
    *comm = NULL;
    return group->rank == MPI_UNDEFINED ? MPI_SUCCESS : create_agreed(parent, group, tag, comm);
}
