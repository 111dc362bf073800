/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: making one from two groups, merging the two.
 *
 * The leaders tell each other who is in their group and how to reach them, and tell their own group. Each proposes an id;
 * the lesser of the two is taken, and its group counts as the first: that breaks ties later. An intercommunicator keeps a
 * communicator of its local group for what the group must agree on.
 */
#include "core/intercomm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/book.h"
#include "core/collective.h"
#include "core/comm_make.h"
#include "core/error.h"
#include "core/instance.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/request.h"

struct member {
    int32_t rank; /* in the job */
    uint16_t card_length;
    unsigned char card[PL_CARD_MAX];
};

struct offer {
    struct pl_comm_id id;
    int32_t members;
    int32_t error;
};

static bool less(struct pl_comm_id a, struct pl_comm_id b)
{
    return a.home != b.home ? a.home < b.home : a.serial < b.serial;
}

/* One exchange with the other leader. */
static int swap(struct pl_comm *peer, int rank, int tag, const void *out, size_t out_bytes, void *in, size_t in_bytes)
{
    struct pl_request *send, *recv;
    int rc = pl_coll_irecv(peer, in, (MPI_Count)in_bytes, PL_TYPE_BYTE, rank, tag, &recv);
    if (rc)
        return rc;
    rc = pl_coll_isend(peer, out, (MPI_Count)out_bytes, PL_TYPE_BYTE, rank, tag, &send);
    rc = rc ? rc : pl_request_finish(send);
    int received = pl_request_finish(recv);
    return rc ? rc : received;
}

/* Who is in the group of a communicator, as the other side needs it. */
static struct member *describe(struct pl_comm *comm)
{
    struct member *members = pl_calloc((size_t)comm->size, sizeof *members);
    if (!members) {
        pl_fail_memory("the members of an intercommunicator");
        return NULL;
    }
    for (int i = 0; i < comm->size; i++) {
        uint64_t proc = pl_group_proc(comm->group, i);
        int at = comm->book ? pl_group_find(comm->book->group, proc) : MPI_UNDEFINED;
        members[i].rank = PL_PROC_RANK(proc);
        if (at == MPI_UNDEFINED)
            continue;
        size_t length;
        const void *card = pl_book_card(comm->book, at, &length);
        members[i].card_length = (uint16_t)length;
        memcpy(members[i].card, card, length);
    }
    return members;
}

static struct pl_group *group_of(struct pl_instance *instance, const struct member *members, int count)
{
    uint64_t *procs = pl_malloc((size_t)count * sizeof *procs);
    if (!procs) {
        pl_fail_memory("the remote group");
        return NULL;
    }
    for (int i = 0; i < count; i++)
        procs[i] = PL_PROC(0, members[i].rank);
    struct pl_group *group = pl_group_create(instance, count, procs);
    free(procs);
    return group;
}

/* The addresses of the remote group's members, where the World's do not do. */
static int remote_book(struct pl_comm *local, struct pl_group *remote, const struct member *members,
                       struct pl_book **book)
{
    *book = NULL;
    if (!local->book)
        return MPI_SUCCESS;
    *book = pl_book_create(remote);
    if (!*book)
        return MPI_ERR_NO_MEM;
    size_t bytes = 0;
    for (int i = 0; i < remote->size; i++)
        bytes += members[i].card_length;
    int rc = pl_book_open(*book, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < remote->size; i++)
        pl_book_add(*book, i, members[i].card, members[i].card_length);
    return rc;
}

/* What the other side says is looked at before it is used. */
static int check_members(const struct member *members, int count)
{
    for (int i = 0; i < count; i++)
        if (members[i].card_length > PL_CARD_MAX || members[i].rank < 0 || members[i].rank >= pl_process.place.size)
            return pl_fail(MPI_ERR_OTHER, "what the remote leader says of rank %d of its group cannot be", i);
    return MPI_SUCCESS;
}

/* The leaders meet. Who has no memory to describe its group says that, so that the other one does not wait. */
static int meet(struct pl_comm *local, struct pl_comm *peer, int remote_leader, int tag, struct offer offers[2],
                struct member **remote)
{
    struct member *members = describe(local);
    offers[0].error = members ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    int rc = swap(peer, remote_leader, tag, &offers[0], sizeof offers[0], &offers[1], sizeof offers[1]);
    if (rc == MPI_SUCCESS && offers[0].error)
        rc = offers[0].error;
    else if (rc == MPI_SUCCESS && (offers[1].error || offers[1].members < 1 || offers[1].members > pl_process.place.size))
        rc = pl_fail(MPI_ERR_OTHER, "the remote leader, rank %d of peer_comm, cannot describe its group", remote_leader);
    if (rc == MPI_SUCCESS && !(*remote = pl_calloc((size_t)offers[1].members, sizeof **remote)))
        rc = pl_fail_memory("the remote group");
    if (rc == MPI_SUCCESS)
        rc = swap(peer, remote_leader, tag, members, (size_t)local->size * sizeof *members, *remote,
                  (size_t)offers[1].members * sizeof **remote);
    free(members);
    return rc ? rc : check_members(*remote, offers[1].members);
}

/* The leaders meet; then all of the local group know what the other side offers. */
static int exchange(struct pl_comm *local, int local_leader, struct pl_comm *peer, int remote_leader, int tag,
                    struct offer *mine, struct offer *theirs, struct member **remote)
{
    bool leads = local->rank == local_leader;
    struct offer offers[2] = { { .id = pl_comm_new_id(), .members = local->size } };
    *remote = NULL;
    if (leads)
        offers[1].error = meet(local, peer, remote_leader, pl_comm_user_tag(tag), offers, remote);
    int rc = pl_bcast(local, offers, sizeof offers, PL_TYPE_BYTE, local_leader);
    if (rc == MPI_SUCCESS && offers[1].error)
        rc = leads ? offers[1].error
                   : pl_fail(offers[1].error, "the leader, rank %d, could not meet the remote leader", local_leader);
    if (rc == MPI_SUCCESS && !leads && !(*remote = pl_calloc((size_t)offers[1].members, sizeof **remote)))
        rc = pl_fail_memory("the remote group");
    if (rc == MPI_SUCCESS)
        rc = pl_bcast(local, *remote, (MPI_Count)((size_t)offers[1].members * sizeof **remote), PL_TYPE_BYTE,
                      local_leader);
    *mine = offers[0];
    *theirs = offers[1];
    return rc;
}

/* The communicator of the local group, that the user does not see. */
static int hidden_local(struct pl_instance *instance, struct pl_comm *parent, struct pl_group *group,
                        struct pl_comm_id id, struct pl_comm **made)
{
    int rc = pl_comm_create(instance, parent, group, NULL, id, made);
    if (rc == MPI_SUCCESS) {
        (*made)->serves = "";
        pl_handle_drop(pl_object_retain(*made)); /* a reference without a handle */
    }
    return rc;
}

static int shadow(struct pl_comm *comm, struct pl_comm **made)
{
    struct pl_comm_id id;
    int rc = pl_comm_agree(comm, comm->group, pl_comm_next_tag(comm), &id);
    return rc ? rc : hidden_local(comm->instance, comm, comm->group, id, made);
}

static int disjoint(const struct pl_group *a, const struct pl_group *b)
{
    for (int i = 0; i < b->size; i++)
        if (pl_group_find(a, pl_group_proc(b, i)) != MPI_UNDEFINED)
            return pl_fail(MPI_ERR_COMM,
                           "the groups are not disjoint: rank %d of the remote group is in the local one too", i);
    return MPI_SUCCESS;
}

int pl_intercomm_create(struct pl_comm *local, int local_leader, struct pl_comm *peer, int remote_leader, int tag,
                        struct pl_comm **comm)
{
    struct offer mine, theirs;
    struct member *members;
    struct pl_group *remote = NULL;
    struct pl_book *book = NULL;
    struct pl_comm *made;
    int rc = exchange(local, local_leader, peer, remote_leader, tag, &mine, &theirs, &members);
    if (rc == MPI_SUCCESS && !(remote = group_of(local->instance, members, theirs.members)))
        rc = MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS)
        rc = disjoint(local->group, remote);
    if (rc == MPI_SUCCESS)
        rc = remote_book(local, remote, members, &book);
    if (rc)
        goto out;
    bool first = less(mine.id, theirs.id);
    rc = pl_comm_create(local->instance, local, local->group, remote, first ? mine.id : theirs.id, &made);
    if (rc)
        goto out;
    if (book) {
        pl_book_release(made->book);
        made->book = book;
        book = NULL;
    }
    made->first_group = first;
    rc = shadow(local, &made->local);
    if (rc)
        pl_comm_free(made);
    else
        *comm = made;
out:
    pl_book_release(book);
    if (remote)
        pl_handle_drop(remote);
    free(members);
    return rc;
}

/* What one process tells the other group: its group's proposal, and what its members found. */
struct word {
    struct pl_comm_id id;
    int32_t value;
    int32_t failed;
};

int pl_intercomm_agree(struct pl_comm *comm, int value, int failed, int *remote_value, struct pl_comm_id *id)
{
    struct word own = { pl_comm_new_id(), value, 0 };
    int any = failed != MPI_SUCCESS;
    int rc = pl_allreduce(comm->local, MPI_IN_PLACE, &any, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    if (rc == MPI_SUCCESS)
        rc = pl_bcast(comm->local, &own, sizeof own, PL_TYPE_BYTE, 0);
    struct word *theirs = pl_calloc((size_t)comm->remote->size, sizeof *theirs);
    if (!theirs)
        return pl_fail_memory("an agreement of two groups");
    own.failed = any;
    if (rc == MPI_SUCCESS)
        rc = pl_allgather(comm, &own, sizeof own, PL_TYPE_BYTE, theirs, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS && (any || theirs[0].failed))
        rc = failed ? failed : pl_fail(MPI_ERR_OTHER, "another process failed to take part");
    *remote_value = theirs[0].value;
    *id = comm->first_group ? own.id : theirs[0].id;
    free(theirs);
    return rc;
}

/* --- from parts ---------------------------------------------------------------------------------------------------------- */

int pl_intercomm_assemble(struct pl_instance *instance, const struct pl_intercomm_parts *parts, struct pl_comm **comm)
{
    struct pl_comm *made;
    int rc = pl_comm_create(instance, NULL, parts->local, parts->remote, parts->id, &made);
    if (rc)
        return rc;
    made->first_group = parts->first;
    rc = hidden_local(instance, NULL, parts->local, parts->local_id, &made->local);
    if (rc) {
        pl_comm_free(made);
        return rc;
    }
    made->book = parts->remote_book;
    made->local->book = parts->local_book;
    *comm = made;
    return MPI_SUCCESS;
}

/* --- split ---------------------------------------------------------------------------------------------------------------- */

static int part(struct pl_comm *parent, const struct pl_vote *ours, int our_count, const struct pl_vote *theirs,
                int their_count, struct pl_comm **comm)
{
    struct pl_group *local = pl_votes_group(parent->instance, parent->group, ours, our_count);
    struct pl_group *remote = pl_votes_group(parent->instance, parent->remote, theirs, their_count);
    struct pl_comm *made = NULL;
    const struct pl_vote *head = parent->first_group ? ours : theirs;
    int rc = local && remote ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(parent->instance, parent, local, remote, (struct pl_comm_id){ head->home, head->serial },
                            &made);
    if (rc == MPI_SUCCESS) {
        made->first_group = parent->first_group;
        rc = hidden_local(parent->instance, parent->local, local, (struct pl_comm_id){ ours->home, (uint32_t)ours->local_serial },
                          &made->local);
        if (rc)
            pl_comm_free(made);
    }
    if (local)
        pl_handle_drop(local);
    if (remote)
        pl_handle_drop(remote);
    if (rc == MPI_SUCCESS)
        *comm = made;
    return rc;
}

int pl_intercomm_split(struct pl_comm *parent, int color, int key, struct pl_comm **comm)
{
    struct pl_comm_id id = pl_comm_new_id(), local_id = pl_comm_new_id();
    struct pl_vote own = { color, key, parent->rank, id.serial, local_id.serial, id.home };
    struct pl_vote *ours = pl_malloc((size_t)parent->size * sizeof own),
                *theirs = pl_malloc((size_t)parent->remote->size * sizeof own);
    *comm = NULL;
    int rc = ours && theirs ? MPI_SUCCESS : pl_fail_memory("the colors of a split");
    if (rc == MPI_SUCCESS)
        rc = pl_allgather(parent->local, &own, sizeof own, PL_TYPE_BYTE, ours, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS)
        rc = pl_allgather(parent, &own, sizeof own, PL_TYPE_BYTE, theirs, sizeof own, PL_TYPE_BYTE);
    if (rc == MPI_SUCCESS && color != MPI_UNDEFINED) {
        int our_count = pl_votes_of_color(ours, parent->size, color),
            their_count = pl_votes_of_color(theirs, parent->remote->size, color);
        if (their_count > 0)
            rc = part(parent, ours, our_count, theirs, their_count, comm);
    }
    free(theirs);
    free(ours);
    return rc;
}

/* --- duplicates ----------------------------------------------------------------------------------------------------------- */

int pl_intercomm_finish_dup(struct pl_comm *parent, struct pl_comm *made)
{
    made->first_group = parent->first_group;
    return shadow(parent->local, &made->local);
}

/* --- merge ------------------------------------------------------------------------------------------------------------- */

static struct pl_group *joined(struct pl_comm *comm, const struct pl_group *low, const struct pl_group *high)
{
    int size = low->size + high->size;
    uint64_t *procs = pl_malloc((size_t)size * sizeof *procs);
    if (!procs) {
        pl_fail_memory("the merged group");
        return NULL;
    }
    for (int i = 0; i < size; i++)
        procs[i] = i < low->size ? pl_group_proc(low, i) : pl_group_proc(high, i - low->size);
    struct pl_group *group = pl_group_create(comm->instance, size, procs);
    free(procs);
    return group;
}

/* The remote addresses are in the intercommunicator's book, the local ones in its shadow's. */
static const void *card_of(const struct pl_comm *comm, uint64_t proc, size_t *length)
{
    const struct pl_book *book = comm->book;
    int at = pl_group_find(book->group, proc);
    if (at == MPI_UNDEFINED) {
        book = comm->local->book;
        at = pl_group_find(book->group, proc);
    }
    assert(at != MPI_UNDEFINED);
    return pl_book_card(book, at, length);
}

static int joined_book(struct pl_comm *comm, struct pl_group *group, struct pl_book **book)
{
    *book = NULL;
    if (!comm->book)
        return MPI_SUCCESS;
    *book = pl_book_create(group);
    if (!*book)
        return MPI_ERR_NO_MEM;
    size_t length, bytes = 0;
    for (int i = 0; i < group->size; i++) {
        card_of(comm, pl_group_proc(group, i), &length);
        bytes += length;
    }
    int rc = pl_book_open(*book, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < group->size; i++) {
        const void *card = card_of(comm, pl_group_proc(group, i), &length);
        pl_book_add(*book, i, card, length);
    }
    return rc;
}

int pl_intercomm_merge(struct pl_comm *comm, int high, struct pl_comm **merged)
{
    int remote_high;
    struct pl_comm_id id;
    struct pl_book *book = NULL;
    int rc = pl_intercomm_agree(comm, high != 0, MPI_SUCCESS, &remote_high, &id);
    if (rc)
        return rc;
    bool low = (high != 0) != remote_high ? !high : comm->first_group;
    struct pl_group *group = low ? joined(comm, comm->group, comm->remote) : joined(comm, comm->remote, comm->group);
    if (!group)
        return MPI_ERR_NO_MEM;
    rc = joined_book(comm, group, &book);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create(comm->instance, comm->local, group, NULL, id, merged);
    if (rc == MPI_SUCCESS && book) {
        pl_book_release((*merged)->book);
        (*merged)->book = book;
        book = NULL;
    }
    pl_book_release(book);
    pl_handle_drop(group);
    return rc;
}
