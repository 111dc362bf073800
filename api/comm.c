/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicator management (MPI-5.0 chapter 7): queries, construction, names, info. */
#include <stdlib.h>
#include <string.h>

#include "api/comm.h"
#include "api/info.h"
#include "api/pmpi.h"
#include "core/base/memory.h"
#include "core/comm/create.h"
#include "core/comm/hw.h"
#include "core/comm/intercomm.h"
#include "core/engine/comm_info.h"
#include "sessions/create/comm_from_group.h"
#include "sessions/create/intercomm_from_groups.h"
#include "sessions/psets/psets.h"

/* --- queries ------------------------------------------------------------------------------------------------------ */

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    struct pl_call call = PL_CALL(MPI_Comm_size);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, size, "size");
    if (!call.err)
        *size = c->size;
    return pl_call_leave(&call);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    struct pl_call call = PL_CALL(MPI_Comm_rank);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, rank, "rank");
    if (!call.err)
        *rank = c->rank;
    return pl_call_leave(&call);
}

int MPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Comm_test_inter);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        *flag = pl_comm_is_inter(c);
    return pl_call_leave(&call);
}

int MPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    struct pl_call call = PL_CALL(MPI_Comm_remote_size);
    struct pl_comm *c = pl_arg_intercomm(&call, comm);
    pl_arg_output(&call, size, "size");
    if (!call.err)
        *size = c->inter.remote->size;
    return pl_call_leave(&call);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_Comm_group);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, group, "group");
    if (!call.err)
        *group = pl_object_handle(pl_handle_share(c->group));
    return pl_call_leave(&call);
}

int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_Comm_remote_group);
    struct pl_comm *c = pl_arg_intercomm(&call, comm);
    pl_arg_output(&call, group, "group");
    if (!call.err)
        *group = pl_object_handle(pl_handle_share(c->inter.remote));
    return pl_call_leave(&call);
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct pl_call call = PL_CALL(MPI_Comm_compare);
    call.names = &(const struct pl_arg_names){ .comm = "comm1" };
    struct pl_comm *a = pl_arg_comm(&call, comm1);
    call.names = &(const struct pl_arg_names){ .comm = "comm2" };
    struct pl_comm *b = pl_arg_comm(&call, comm2);
    pl_arg_output(&call, result, "result");
    if (call.err)
        return pl_call_leave(&call);
    if (a == b) {
        *result = MPI_IDENT;
    } else if (pl_comm_is_inter(a) != pl_comm_is_inter(b)) {
        *result = MPI_UNEQUAL;
    } else {
        int local = pl_group_compare(a->group, b->group);
        int remote = a->inter.remote ? pl_group_compare(a->inter.remote, b->inter.remote) : MPI_IDENT;
        *result = local == MPI_UNEQUAL || remote == MPI_UNEQUAL   ? MPI_UNEQUAL
                  : local == MPI_SIMILAR || remote == MPI_SIMILAR ? MPI_SIMILAR
                                                                  : MPI_CONGRUENT;
    }
    return MPI_SUCCESS;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

int MPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    struct pl_call call = PL_CALL(MPI_Comm_set_name);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, comm_name, "comm_name");
    if (call.err)
        return pl_call_leave(&call);
    pl_comm_set_name(c, comm_name);
    return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_name);
    struct pl_comm *c = comm == MPI_COMM_NULL ? NULL : pl_arg_comm(&call, comm);
    pl_arg_output(&call, comm_name, "comm_name");
    pl_arg_output(&call, resultlen, "resultlen");
    if (call.err)
        return pl_call_leave(&call);
    if (c)
        pl_comm_name(c, comm_name, MPI_MAX_OBJECT_NAME);
    else
        strcpy(comm_name, "MPI_COMM_NULL");
    *resultlen = (int)strlen(comm_name);
    return MPI_SUCCESS;
}

/* --- construction ------------------------------------------------------------------------------------------------- */

MPI_Comm pl_comm_give(const struct pl_call *call, struct pl_comm *made)
{
    if (!made)
        return MPI_COMM_NULL;
    made->role.maker = call->function;
    return pl_comm_handle(made);
}

void pl_comm_begin(struct pl_call *call, const struct pl_comm *comm)
{
    if (!call->err)
        call->err = pl_comm_reserve(comm);
}

void pl_comm_begin_anyway(const struct pl_call *call, const struct pl_comm *comm)
{
    if (!call->err && pl_comm_reserve(comm) != MPI_SUCCESS)
        pl_error_clear();
}

/* `c` is one that the call has retained, or NULL. */
static int comm_leave_kept(struct pl_call *call, struct pl_comm *c, struct pl_comm *made, MPI_Comm *newcomm)
{
    pl_memory_free_reserve();
    if (!call->err)
        *newcomm = pl_comm_give(call, made);
    else if (made)
        pl_comm_free(made);
    return pl_call_leave_kept(call, c);
}

int pl_comm_leave(struct pl_call *call, struct pl_comm *made, MPI_Comm *newcomm)
{
    return comm_leave_kept(call, NULL, made, newcomm);
}

/* The same for a communicator whose info object may select an error handler; `chosen` is stolen. */
static int give_handled(struct pl_call *call, struct pl_comm *made, struct pl_errhandler *chosen, MPI_Comm *newcomm)
{
    if (!call->err && made && chosen)
        pl_errhandler_attach(PL_COMM, made, chosen);
    pl_object_release(chosen);
    return pl_comm_leave(call, made, newcomm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_dup);
    struct pl_comm *c = pl_arg_comm(&call, comm), *made = NULL;
    pl_arg_output(&call, newcomm, "newcomm");
    if (c)
        pl_object_retain(c); /* a copy callback may free it */
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err = pl_comm_dup(c, NULL, &made);
    return comm_leave_kept(&call, c, made, newcomm);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_dup_with_info);
    struct pl_comm *c = pl_arg_comm(&call, comm), *made = NULL;
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    struct pl_errhandler *chosen = pl_arg_info_errhandler(&call, i);
    pl_arg_output(&call, newcomm, "newcomm");
    if (c)
        pl_object_retain(c);
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err = pl_comm_dup(c, i, &made);
    if (!call.err && chosen)
        pl_errhandler_attach(PL_COMM, made, chosen);
    pl_object_release(chosen);
    return comm_leave_kept(&call, c, made, newcomm);
}

static int mpi_comm_idup(struct pl_call *call, MPI_Comm comm, struct pl_info *info, MPI_Comm *newcomm,
                         MPI_Request *request)
{
    struct pl_comm *c = pl_arg_comm(call, comm), *made;
    struct pl_errhandler *chosen = pl_arg_info_errhandler(call, info);
    struct pl_request *r;
    pl_arg_output(call, newcomm, "newcomm");
    pl_arg_output(call, request, "request");
    if (c)
        pl_object_retain(c);
    pl_comm_begin(call, c);
    if (!call->err)
        call->err = pl_comm_idup(c, info, &made, &r);
    if (!call->err) {
        if (chosen)
            pl_errhandler_attach(PL_COMM, made, chosen);
        *newcomm = pl_comm_give(call, made);
        *request = pl_object_handle(r);
    }
    pl_object_release(chosen);
    pl_memory_free_reserve();
    return pl_call_leave_kept(call, c);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return mpi_comm_idup(&(struct pl_call)PL_CALL_TOGETHER(MPI_Comm_idup), comm, NULL, newcomm, request);
}

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_idup_with_info);
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    return mpi_comm_idup(&call, comm, i, newcomm, request);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_create);
    struct pl_comm *c = pl_arg_comm(&call, comm), *made = NULL;
    struct pl_group *g = pl_arg_group(&call, group, "group");
    pl_arg_output(&call, newcomm, "newcomm");
    if (!call.err)
        pl_arg_subset(&call, c, g);
    pl_comm_begin_anyway(&call, c);
    if (!call.err)
        call.err = pl_comm_create_members(c, g, &made);
    return pl_comm_leave(&call, made, newcomm);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_create_group);
    struct pl_comm *c = pl_arg_intracomm(&call, comm), *made = NULL;
    struct pl_group *g = pl_arg_group(&call, group, "group");
    pl_arg_tag(&call, tag);
    pl_arg_output(&call, newcomm, "newcomm");
    if (!call.err)
        pl_arg_subset(&call, c, g);
    pl_comm_begin_anyway(&call, c);
    if (!call.err)
        call.err = pl_comm_create_group(c, g, tag, &made);
    return pl_comm_leave(&call, made, newcomm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_split);
    struct pl_comm *c = pl_arg_comm(&call, comm), *made = NULL;
    pl_arg_output(&call, newcomm, "newcomm");
    if (color < 0 && color != MPI_UNDEFINED)
        pl_call_error(&call, MPI_ERR_ARG, "color is %d; it must not be negative, or be MPI_UNDEFINED", color);
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err = pl_comm_split(c, color, key, &made);
    return pl_comm_leave(&call, made, newcomm);
}

/* The members of a process set, for MPI_COMM_TYPE_RESOURCE_GUIDED, with a handle. NULL: unknown, or no name. */
static struct pl_group *named_members(struct pl_call *call, const struct pl_comm *comm, const char *name)
{
    struct pl_group *members = NULL;
    if (!name || call->err || pl_psets_group(comm->instance, name, &members) == MPI_SUCCESS)
        return members;
    pl_error_clear(); /* the standard requires MPI_COMM_NULL for an unknown name */
    return NULL;
}

static bool is_split_type(int split)
{
    return split == MPI_UNDEFINED || split == MPI_COMM_TYPE_SHARED || split == MPI_COMM_TYPE_HW_GUIDED ||
           split == MPI_COMM_TYPE_HW_UNGUIDED || split == MPI_COMM_TYPE_RESOURCE_GUIDED;
}

int MPI_Comm_split_type(MPI_Comm comm, int split, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Comm_split_type);
    struct pl_comm *c = pl_arg_comm(&call, comm), *made = NULL;
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, newcomm, "newcomm");
    struct pl_errhandler *chosen = pl_arg_info_errhandler(&call, i);
    if (!is_split_type(split))
        pl_call_error(&call, MPI_ERR_ARG, "split_type is %d; it must be one of MPI_COMM_TYPE_*", split);
    char text[MPI_MAX_PSET_NAME_LEN];
    size_t length;
    bool named =
        i && split == MPI_COMM_TYPE_RESOURCE_GUIDED && pl_info_read(i, "mpi_pset_name", text, sizeof text, &length);
    const char *name = named ? text : NULL;
    struct pl_group *members = named_members(&call, c, name);
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err = pl_comm_split_type(c, split, key, i, name, members, &made);
    if (!call.err && made)
        call.err = pl_comm_info_set(made, i);
    if (members)
        pl_handle_drop(members);
    return give_handled(&call, made, chosen, newcomm);
}

/* Arguments of the constructors from groups. The handler is for the new communicator; errors of the constructor are the
 * session's (MPI-5.0 section 9.3). */
struct wishes {
    struct pl_info *info;
    struct pl_errhandler *handler; /* or NULL */
    struct pl_errhandler *chosen;  /* by the info object, preferred; owned; or NULL */
};

static struct wishes arg_wishes(struct pl_call *call, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                const MPI_Comm *newcomm, const char *name)
{
    struct wishes wishes = { NULL, NULL, NULL };
    pl_arg_output(call, stringtag, "stringtag");
    wishes.info = pl_arg_info_or_null(call, info);
    if (errhandler != MPI_ERRHANDLER_NULL)
        wishes.handler = pl_arg_errhandler(call, errhandler, PL_COMM);
    wishes.chosen = pl_arg_info_errhandler(call, wishes.info);
    pl_arg_output(call, newcomm, name);
    if (!call->err && strlen(stringtag) >= MPI_MAX_STRINGTAG_LEN)
        pl_call_error(call, MPI_ERR_ARG, "stringtag has %zu characters; at most %d are allowed", strlen(stringtag),
                      MPI_MAX_STRINGTAG_LEN - 1);
    return wishes;
}

/* Another thread may free these objects while this one waits. */
static void wishes_keep(const struct wishes *wishes, struct pl_group *group, struct pl_group *remote)
{
    void *const given[] = { wishes->info, wishes->handler, group, remote };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i])
            pl_object_retain(given[i]);
}

static void wishes_drop(const struct wishes *wishes, struct pl_group *group, struct pl_group *remote)
{
    pl_object_release(wishes->info);
    pl_object_release(wishes->handler);
    pl_object_release(group);
    pl_object_release(remote);
}

int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
                               MPI_Comm *newcomm)
{
    struct pl_call call = PL_CALL(MPI_Comm_create_from_group);
    struct pl_group *g = pl_arg_group(&call, group, "group");
    struct pl_comm *made = NULL;
    struct wishes w = arg_wishes(&call, stringtag, info, errhandler, newcomm, "newcomm");
    if (!call.err) {
        wishes_keep(&w, g, NULL);
        call.err = pl_comm_from_group(g, stringtag, w.info, w.handler, &made);
        wishes_drop(&w, g, NULL);
    }
    return give_handled(&call, made, w.chosen, newcomm);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    struct pl_call call = PL_CALL(MPI_Comm_free);
    pl_arg_output(&call, comm, "comm");
    struct pl_comm *c = call.err ? NULL : pl_arg_comm(&call, *comm);
    if (c && c->obj.predefined)
        pl_call_error(&call, MPI_ERR_COMM, "%s belongs to the library and cannot be freed", pl_comm_label(c));
    bool parent = c && c == pl_parent_comm;
    if (c)
        pl_object_retain(c); /* a callback may free it and fail: its handler handles the error */
    if (!call.err)
        call.err = pl_comm_free(c);
    if (!call.err)
        *comm = MPI_COMM_NULL;
    if (!call.err && parent)
        pl_parent_comm = NULL;
    return pl_call_leave_kept(&call, c);
}

/* --- info --------------------------------------------------------------------------------------------------------- */

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_Comm_set_info);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    if (!call.err)
        call.err = pl_comm_info_set(c, i);
    return pl_call_leave(&call);
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    struct pl_call call = PL_CALL(MPI_Comm_get_info);
    struct pl_comm *c = pl_arg_comm(&call, comm);
    pl_arg_output(&call, info_used, "info_used");
    struct pl_info *made = call.err ? NULL : pl_info_create();
    if (made)
        call.err = pl_comm_info_get(c, made);
    return pl_info_leave(&call, made, info_used);
}

/* --- intercommunicators ------------------------------------------------------------------------------------------- */

/* A process, unlike pl_arg_dest(): MPI_PROC_NULL cannot be a leader. */
static void arg_leader(struct pl_call *call, const struct pl_comm *comm, int rank, const char *name)
{
    if (comm && (rank < 0 || rank >= pl_comm_targets(comm)))
        pl_bad_rank(call, MPI_ERR_RANK, comm, name, rank);
}

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                         MPI_Comm *newintercomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Intercomm_create);
    call.names = &(const struct pl_arg_names){ .comm = "local_comm" };
    struct pl_comm *local = pl_arg_intracomm(&call, local_comm), *peer = NULL, *made = NULL;
    arg_leader(&call, local, local_leader, "local_leader");
    if (!call.err && local->rank == local_leader) { /* the other arguments are significant only at the leader */
        call.names = &(const struct pl_arg_names){ .comm = "peer_comm" };
        peer = pl_arg_comm(&call, peer_comm);
        call.names = NULL;
        arg_leader(&call, peer, remote_leader, "remote_leader");
        if (!call.err && peer->instance != local->instance)
            pl_call_error(&call, MPI_ERR_COMM, "local_comm and peer_comm are of different sessions");
    }
    pl_arg_tag(&call, tag);
    pl_arg_output(&call, newintercomm, "newintercomm");
    if (!call.err)
        call.err = pl_intercomm_create(local, local_leader, peer, remote_leader, tag, &made);
    return pl_comm_leave(&call, made, newintercomm);
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Intercomm_merge);
    call.names = &(const struct pl_arg_names){ .comm = "intercomm" };
    struct pl_comm *c = pl_arg_intercomm(&call, intercomm), *made = NULL;
    pl_arg_output(&call, newintracomm, "newintracomm");
    pl_comm_begin(&call, c);
    if (!call.err)
        call.err = pl_intercomm_merge(c, high, &made);
    return pl_comm_leave(&call, made, newintracomm);
}

int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
                                     const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                     MPI_Comm *newintercomm)
{
    struct pl_call call = PL_CALL(MPI_Intercomm_create_from_groups);
    struct pl_group *local = pl_arg_group(&call, local_group, "local_group"), *remote = NULL;
    struct pl_comm *made = NULL;
    if (!call.err && local->rank == local_leader) /* the remote group is significant only at the leader */
        remote = pl_arg_group(&call, remote_group, "remote_group");
    struct wishes w = arg_wishes(&call, stringtag, info, errhandler, newintercomm, "newintercomm");
    if (!call.err) {
        wishes_keep(&w, local, remote);
        call.err =
            pl_intercomm_from_groups(local, local_leader, remote, remote_leader, stringtag, w.info, w.handler, &made);
        wishes_drop(&w, local, remote);
    }
    return give_handled(&call, made, w.chosen, newintercomm);
}

PL_NAMES_COMM(PL_PMPI)
