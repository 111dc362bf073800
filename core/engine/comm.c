/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: creation, agreement on an id, freeing, error handling. */
#include "core/engine/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/engine/address_vector.h"
#include "core/engine/bsend.h"
#include "core/engine/client.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_table.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/match_index.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"
#include "core/job/process.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"

/* Sets everything except the id. On failure pl_comm_destroy() releases what it has set. */
static int comm_fill(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group,
                     struct pl_group *remote, struct pl_comm *made)
{
    made->instance = pl_object_retain(instance);
    made->rank = group->rank;
    made->size = group->size;
    made->topology.kind = MPI_UNDEFINED;
    pl_lock_init(&made->lock, PL_RANK_OBJECT, true);
    pl_table_node_init(&made->by_id);
    pl_list_init(&made->siblings);
    pl_list_init(&made->requests.spares);
    pl_list_init(&made->coll.persistent);
    pl_list_init(&made->coll.idups_pending);
    pl_list_init(&made->partitioned.channels);
    pl_list_init(&made->partitioned.sends);
    for (int i = 0; i < PL_QUEUES; i++) {
        pl_list_init(&made->match.queues[i].posted);
        pl_list_init(&made->match.queues[i].unexpected);
    }
    int rc = pl_comm_peers_init(made, remote ? remote->size : group->size);
    if (rc)
        return rc;
    made->group = pl_object_retain(group);
    made->inter.remote = remote ? pl_object_retain(remote) : NULL;
    if (parent) {
        pl_lock_take(&parent->lock);
        made->errhandler = pl_object_retain(parent->errhandler);
        pl_lock_drop(&parent->lock);
        made->peers.av = pl_av_retain(parent->peers.av);
        made->role.parent = parent->id;
        made->role.made = parent->coll.tags.blocking + parent->coll.area.count + parent->coll.idups;
    } else {
        made->errhandler = pl_errhandler_of(PL_SESSION, instance);
        if (made->errhandler->target) { /* a function for sessions cannot be called with a communicator */
            pl_object_release(made->errhandler);
            pl_errhandler_initial(&made->errhandler);
        }
    }
    pl_lock_take(&instance->lock);
    pl_list_append(&instance->comms, &made->siblings);
    pl_lock_drop(&instance->lock);
    return MPI_SUCCESS;
}

/* Enters it into the engine, unless `parent` was revoked meanwhile: the others have been told that this process has not
 * made it (comm_break.c). NULL: it does not depend on one. */
static bool comm_enroll(struct pl_comm *comm, struct pl_comm_id id, struct pl_comm *parent)
{
    struct pl_engine *engine = &comm->instance->engine;
    comm->id = id;
    pl_engine_enter(engine);
    bool may = !parent || !atomic_load(&parent->health.revoked);
    if (may)
        pl_engine_add_comm(engine, comm);
    else
        comm->id = (struct pl_comm_id){ .home = 0 }; /* or it would count as one that was made and is freed */
    if (may && parent) {
        pl_comm_note_made(parent, comm->role.made);
        pl_comm_break_stopped(comm, parent);
    }
    pl_engine_leave(engine);
    return may;
}

int pl_comm_build(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group, struct pl_group *remote,
                  struct pl_comm **comm)
{
    struct pl_comm *made = pl_object_create(PL_COMM);
    if (!made)
        return MPI_ERR_NO_MEM;
    int rc = comm_fill(instance, parent, group, remote, made);
    if (rc)
        pl_object_release(made);
    else
        *comm = made;
    return rc;
}

int pl_comm_create_with_av(struct pl_instance *instance, struct pl_comm *parent, struct pl_av *av,
                           struct pl_group *group, struct pl_group *remote, struct pl_comm_id id, struct pl_comm **comm)
{
    int rc = pl_comm_build(instance, parent, group, remote, comm);
    if (rc)
        return rc;
    if (av) {
        pl_av_release((*comm)->peers.av);
        (*comm)->peers.av = av;
    }
    if (comm_enroll(*comm, id, parent))
        return MPI_SUCCESS;
    if (av)
        (*comm)->peers.av = NULL; /* the caller's again */
    pl_object_release(*comm);
    *comm = NULL;
    return pl_comm_broken_record(parent);
}

int pl_comm_create_of_living(struct pl_comm *parent, struct pl_group *group, struct pl_group *remote,
                             struct pl_comm_id id, struct pl_comm **comm)
{
    int rc = pl_comm_build(parent->instance, parent, group, remote, comm);
    if (rc)
        return rc;
    (*comm)->role.parent = (struct pl_comm_id){ .home = 0 };
    comm_enroll(*comm, id, NULL);
    return MPI_SUCCESS;
}

int pl_comm_create(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group,
                   struct pl_group *remote, struct pl_comm_id id, struct pl_comm **comm)
{
    return pl_comm_create_with_av(instance, parent, NULL, group, remote, id, comm);
}

int pl_comm_create_grouped(struct pl_comm *parent, struct pl_group *group, struct pl_comm_id id, struct pl_comm **comm)
{
    int rc = pl_comm_build(parent->instance, parent, group, NULL, comm);
    if (rc)
        return rc;
    (*comm)->role.grouped = true;
    if (comm_enroll(*comm, id, parent))
        return MPI_SUCCESS;
    pl_object_release(*comm);
    *comm = NULL;
    return pl_comm_broken_record(parent);
}

int pl_comm_create_predefined(struct pl_instance *instance, struct pl_group *group, struct pl_comm_id id,
                              struct pl_comm *comm)
{
    *comm = (struct pl_comm){ .obj = comm->obj }; /* an initialization may have failed before */
    int rc = comm_fill(instance, NULL, group, NULL, comm);
    if (rc)
        pl_comm_destroy(comm);
    else
        comm_enroll(comm, id, NULL);
    return rc;
}

void pl_comm_destroy(void *object)
{
    struct pl_comm *comm = object;
    struct pl_instance *instance = comm->instance;
    if (!comm->health.orphan && comm->group) { /* else it is not in the engine's table */
        pl_engine_enter(&instance->engine);
        pl_engine_remove_comm(&instance->engine, comm);
        pl_engine_leave(&instance->engine);
        pl_lock_take(&instance->lock);
        pl_list_remove(&comm->siblings);
        pl_lock_drop(&instance->lock);
    }
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].destroyed)
            pl_engine_clients[i].destroyed(comm);
    if (!comm->health.orphan && comm->peers.slots) {
        pl_engine_enter(&instance->engine);
        pl_comm_peers_fini(comm);
        pl_engine_leave(&instance->engine);
    }
    pl_object_release(comm->inter.local);
    pl_object_release(comm->hints.info);
    pl_object_release(comm->errhandler);
    pl_object_release(comm->group);
    pl_object_release(comm->inter.remote);
    pl_av_release(comm->peers.av);
    free(comm->peers.slots);
    free(comm->health.words);
    free(comm->health.failures.members);
    pl_lock_fini(&comm->lock);
    pl_object_release(instance);
}

int pl_comm_fail_orphan(void)
{
    return pl_fail(MPI_ERR_REQUEST, "the communicator is gone: its session, or the World, is finalized");
}

void pl_comm_orphan(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    if (comm->instance->world) /* a callback may communicate, with this process at least */
        pl_attrs_discard(&comm->attrs, pl_comm_handle(comm));
    else
        pl_attrs_forget(&comm->attrs); /* in a session only objects that are freed have callbacks (section 11.3.1) */
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].closing)
            pl_engine_clients[i].closing(comm);
    pl_engine_enter(engine);
    for (int i = 0; i < PL_QUEUES; i++) {
        pl_match_index_drop(&comm->match.queues[i]);
        PL_LIST_EACH(request, &comm->match.queues[i].posted, struct pl_request, link) {
            pl_list_remove(&request->link);
            request->outcome.cancelled = true;
            pl_request_complete(request, MPI_SUCCESS);
        }
    }
    pl_engine_remove_comm(engine, comm);
    comm->health.orphan = true;
    pl_engine_leave(engine);
    while (!comm->obj.predefined && atomic_load(&comm->obj.handles) > 0)
        pl_handle_drop(comm);
    pl_request_free_spares(comm);
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].orphaned)
            pl_engine_clients[i].orphaned(comm);
}

/* A callback may have freed the communicator meanwhile, or finalized its session. */
int pl_comm_free(struct pl_comm *comm)
{
    void *buffer;
    MPI_Count size;
    pl_object_retain(comm);
    int rc = pl_attrs_delete(&comm->attrs, pl_comm_handle(comm));
    if (rc == MPI_SUCCESS && atomic_load(&comm->obj.handles) > 0) {
        pl_bsend_detach(pl_bsend_of_comm(comm), &buffer, &size);
        pl_handle_drop(comm);
        pl_request_free_spares(comm);
    }
    if (atomic_load(&comm->obj.handles) <= 0)
        pl_attrs_forget(&comm->attrs); /* the attribute of a callback that freed it and then failed */
    pl_object_release(comm);
    return rc;
}

MPI_Comm pl_comm_handle(const struct pl_comm *comm)
{
    return pl_object_handle(comm);
}

void *pl_comm_predefined(uintptr_t constant)
{
    if (constant == (uintptr_t)MPI_COMM_WORLD)
        return pl_world_comm;
    if (constant == (uintptr_t)MPI_COMM_SELF)
        return pl_self_comm;
    return NULL;
}

/* Any function may need a name for a message, also below the locks that objects have. */
static struct pl_lock names_lock = PL_LOCK_INIT(PL_RANK_LEAF);

void pl_comm_name(const struct pl_comm *comm, char *name, size_t capacity)
{
    pl_lock_take(&names_lock);
    snprintf(name, capacity, "%s", comm->name);
    pl_lock_drop(&names_lock);
}

void pl_comm_set_name(struct pl_comm *comm, const char *name)
{
    pl_lock_take(&names_lock);
    snprintf(comm->name, sizeof comm->name, "%s", name);
    pl_lock_drop(&names_lock);
}

const char *pl_comm_label(const struct pl_comm *comm)
{
    static _Thread_local char label[MPI_MAX_OBJECT_NAME];
    pl_comm_name(comm, label, sizeof label);
    if (label[0])
        return label;
    return comm->role.unnamed ? comm->role.unnamed : "unnamed communicator";
}

void pl_comm_abort(struct pl_comm *comm, int code, const char *message)
{
    const struct pl_group *groups[] = { comm->group, comm->inter.remote };
    bool all = !comm->inter.remote && comm->size == pl_process.identity.size;
    for (int g = 0; g < 2 && !all; g++)
        for (int i = 0; groups[g] && i < groups[g]->size; i++)
            pl_process_abort_also(pl_group_proc(groups[g], i));
    pl_process_abort(code, pl_comm_label(comm), message);
}

/* A process may make thousands of millions, and hold one all the time. */
struct pl_comm_id pl_comm_new_id(void)
{
    const uint64_t serials = PL_SECOND_SERIAL - 1, number = atomic_fetch_add(&pl_process.comms, 1);
    return (struct pl_comm_id){ pl_process.id + number / serials, 1 + (uint32_t)(number % serials) };
}

/* The first member of this part of `comm` that has failed, or -1. */
static int comm_group_failed(const struct pl_comm *comm, const struct pl_group *group)
{
    int failed = -1;
    pl_engine_enter(&comm->instance->engine);
    for (int i = 0; i < atomic_load(&comm->health.failures.count) && failed < 0; i++)
        if (pl_group_find(group, pl_group_proc(comm->group, comm->health.failures.members[i])) >= 0)
            failed = comm->health.failures.members[i];
    pl_engine_leave(&comm->instance->engine);
    return failed;
}

static int comm_record_failed(const struct pl_comm *comm, int tag, int failed)
{
    return pl_comm_fails(comm, PL_MSG_COLL, tag) ? pl_comm_broken_record(comm)
                                                 : pl_departure_record_failed(comm, failed);
}

/* What the members of a group pass on. A call that fails leaves such messages behind, which are not for another
 * group. */
struct group_notice {
    struct pl_comm_id id;
    uint64_t group; /* a hash of its members' ranks in the communicator, which are the same on all */
};

static uint64_t comm_hash_group(const struct pl_comm *comm, const struct pl_group *group)
{
    uint64_t hash = PL_HASH_BEGIN;
    for (int i = 0; i < group->size; i++) {
        int rank = pl_group_find(comm->group, pl_group_proc(group, i));
        hash = pl_hash_bytes(hash, &rank, sizeof rank);
    }
    return hash;
}

/* Any failure in `comm` ends a receive with a user's tag: the sender may be a living member that has given up for a
 * failed one. If that is not in the group, the receive is posted again. */
static int comm_receive_id(struct pl_comm *comm, const struct pl_group *group, int from, int tag,
                           struct group_notice *notice)
{
    struct pl_request *request;
    uint64_t expected = notice->group;
    for (;;) {
        int before = atomic_load(&comm->health.failures.count);
        int rc = pl_coll_irecv(comm, notice, sizeof *notice, PL_TYPE_BYTE, from, tag, &request);
        if (rc)
            return rc;
        int failed = comm_group_failed(comm, group);
        if (failed >= 0)
            pl_cancel(request);
        rc = pl_request_finish(request);
        if (failed >= 0)
            return comm_record_failed(comm, tag, failed);
        if (rc == MPI_SUCCESS && notice->group != expected)
            continue;
        bool news = atomic_load(&comm->health.failures.count) > before;
        if (rc != MPI_ERR_PROC_ABORTED || !news || pl_comm_fails(comm, PL_MSG_COLL, tag))
            return rc;
    }
}

/* The id goes down a binomial tree over the group's ranks. */
int pl_comm_agree(struct pl_comm *comm, const struct pl_group *group, int tag, struct pl_comm_id *id)
{
    const struct pl_type *byte = PL_TYPE_BYTE;
    struct group_notice notice = { .group = comm_hash_group(comm, group) };
    struct pl_request *request;
    int rank = group->rank, mask = 1, rc, failed = pl_comm_is_user_tag(tag) ? comm_group_failed(comm, group) : -1;
    if (failed >= 0)
        return comm_record_failed(comm, tag, failed);
    if (rank == 0)
        notice.id = pl_comm_new_id();
    while (mask < group->size && !(rank & mask))
        mask <<= 1;
    if (rank != 0) {
        int from = pl_group_find(comm->group, pl_group_proc(group, rank - mask));
        rc = comm_receive_id(comm, group, from, tag, &notice);
        if (rc)
            return rc;
    }
    *id = notice.id;
    while ((mask >>= 1) > 0) {
        if (rank + mask >= group->size)
            continue;
        int to = pl_group_find(comm->group, pl_group_proc(group, rank + mask));
        rc = pl_coll_isend(comm, &notice, sizeof notice, byte, to, tag, &request);
        rc = rc ? rc : pl_request_finish(request);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static struct pl_errhandler **comm_errhandler(void *object, struct pl_lock **lock)
{
    struct pl_comm *comm = object;
    *lock = &comm->lock;
    return &comm->errhandler;
}

/* The standard hands errors of no object to the handler of MPI_COMM_SELF. */
static void comm_errhandler_attached(void *object, struct pl_errhandler *handler)
{
    if (object == pl_self_comm)
        pl_errhandler_of_nothing(handler);
}

static void comm_error_name(void *comm, char *name, size_t capacity)
{
    pl_comm_name(comm, name, capacity);
}

static int comm_job_rank(void *comm)
{
    return pl_instance_rank(((struct pl_comm *)comm)->instance);
}

static PL_NORETURN void comm_end(void *comm, bool members_only, int code, const char *message)
{
    if (members_only)
        pl_comm_abort(comm, code, message);
    pl_process_abort(code, pl_comm_label(comm), message);
}

/* With a handle it kept spare requests. */
static void comm_unshared(void *comm)
{
    if (atomic_load(&((struct pl_comm *)comm)->obj.handles) <= 0)
        pl_request_free_spares(comm);
}

const struct pl_kind_errors pl_comm_errors = {
    .slot = comm_errhandler,
    .attached = comm_errhandler_attached,
    .name = comm_error_name,
    .unshared = comm_unshared,
    .rank = comm_job_rank,
    .end = comm_end,
};
