/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_break.h. */
#include "core/engine/comm_break.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/visible.h"
#include "core/engine/address_vector.h"
#include "core/engine/client.h"
#include "core/engine/comm.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match_index.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"
#include "core/engine/send_answer.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "mpi-ext.h"

enum { BREAK_CAUSE = 161, BREAK_LINK_CAUSE = 97 };

/* --- here --------------------------------------------------------------------------------------------------------- */

static void break_end_receives(struct pl_comm *comm)
{
    struct pl_list *node;
    for (int i = 0; i < PL_QUEUES; i++) {
        pl_match_index_drop(&comm->match.queues[i]);
        while ((node = pl_list_pop(&comm->match.queues[i].posted)) != NULL)
            pl_request_complete(PL_CONTAINER(node, struct pl_request, link), pl_comm_broken_class(comm));
    }
}

/* Sends to surviving ranks: they may have left the communicator, or its collectives, and then never match the message.
 */
static void break_end_sends(struct pl_engine *engine, const struct pl_comm *comm)
{
    struct pl_list *lists[] = { &engine->sends.moving, &engine->sends.awaiting };
    for (int i = 0; i < 2; i++)
        PL_LIST_EACH(request, lists[i], struct pl_request, link)
            if (request->comm == comm && pl_comm_fails(comm, request->context, request->args.tag))
                pl_send_ask_back(request);
}

static void break_tell_clients(struct pl_comm *comm)
{
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].failed)
            pl_engine_clients[i].failed(comm);
    if (atomic_load(&comm->instance->engine.wait.sleepers) > 0)
        pl_engine_wake(&comm->instance->engine);
}

void pl_comm_break_alone(struct pl_comm *comm, int rank, int class, const char *words)
{
    struct pl_engine *engine = &comm->instance->engine;
    bool confined = atomic_exchange(&comm->health.confined, false);
    engine->comms.news++;
    if (atomic_load(&comm->health.failed) && !confined)
        return;
    if (!confined) {
        comm->health.class = class;
        comm->health.words = words && *words ? pl_strdup(words) : NULL; /* without memory the class alone has to do */
        atomic_store(&comm->health.failed, rank + 1);
    }
    break_end_receives(comm);
    break_end_sends(engine, comm);
    break_tell_clients(comm);
}

struct pl_comm *pl_comm_root(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_comm *root = comm->role.whole ? comm->role.whole : comm;
    PL_TABLE_EACH(other, &engine->comms.by_id, struct pl_comm, by_id)
        if (other->inter.local == root)
            return other;
    return root;
}

bool pl_comm_breaks_with(const struct pl_comm *comm, const struct pl_comm *root)
{
    const struct pl_comm *whole = comm->role.whole ? comm->role.whole : comm;
    return whole == root || whole == root->inter.local;
}

void pl_comm_break(struct pl_comm *comm, int rank, int class, const char *words)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_comm *root = pl_comm_root(comm);
    PL_TABLE_EACH(other, &engine->comms.by_id, struct pl_comm, by_id)
        if (pl_comm_breaks_with(other, root))
            pl_comm_break_alone(other, rank, class, words);
}

void pl_comm_break_confined(struct pl_comm *comm, int rank)
{
    struct pl_engine *engine = &comm->instance->engine;
    PL_TABLE_EACH(other, &engine->comms.by_id, struct pl_comm, by_id)
        if (other != comm && pl_comm_breaks_with(other, comm))
            pl_comm_break_alone(other, rank, MPI_ERR_PROC_ABORTED, NULL);
    if (atomic_load(&comm->health.failed))
        return;
    atomic_store(&comm->health.confined, true);
    atomic_store(&comm->health.failed, rank + 1);
    break_end_sends(engine, comm);
    break_tell_clients(comm);
}

void pl_comm_break_alike(struct pl_comm *comm, const struct pl_comm *like)
{
    int failed = atomic_load(&like->health.failed);
    if (failed)
        pl_comm_break_alone(comm, failed - 1, like->health.class, like->health.words);
}

/* --- communicators that were made from it ------------------------------------------------------------------------- */

/* The rank at fault should be a member of `child`, which was made from `comm`, and has not made it: it failed before it
 * could. */
static void break_child(struct pl_comm *child, const struct pl_comm *comm, int rank, int class, const char *words)
{
    int at = comm->inter.remote ? -1 : pl_group_find(child->group, pl_group_proc(comm->group, rank));
    if (at >= 0 || comm->inter.remote || child->inter.remote)
        pl_comm_break(child, at < 0 ? 0 : at, class, words);
}

/* One by MPI_Comm_idup ends when it can, maybe after one that began later in another way. */
static bool break_is_newer(const struct pl_comm *child, uint32_t made, uint32_t idups)
{
    return (int32_t)(child->role.idup ? child->role.idup - idups : child->role.made - made) > 0;
}

void pl_comm_break_children(struct pl_comm *comm, int rank, const struct pl_break_notice *notice)
{
    struct pl_engine *engine = &comm->instance->engine;
    int class = pl_error_class_name(notice->class) && notice->class > 0 ? notice->class : MPI_ERR_OTHER;
    PL_TABLE_EACH(child, &engine->comms.by_id, struct pl_comm, by_id) {
        bool here = child->role.parent.home == comm->id.home && child->role.parent.serial == comm->id.serial;
        if (here && break_is_newer(child, notice->made, notice->idups))
            break_child(child, comm, rank, class, notice->words);
    }
}

void pl_comm_break_stopped(struct pl_comm *child, const struct pl_comm *parent)
{
    int failed = atomic_load(&parent->health.failed);
    if (failed && parent->health.stopped &&
        break_is_newer(child, parent->health.stopped_at, parent->health.stopped_idups))
        break_child(child, parent, failed - 1, pl_comm_broken_class(parent), parent->health.words);
}

void pl_comm_break_stop(struct pl_comm *comm, const struct pl_break_notice *notice)
{
    if (comm->health.stopped)
        return;
    comm->health.stopped = true;
    comm->health.stopped_at = notice->made;
    comm->health.stopped_idups = notice->idups;
}

/* --- for all members ---------------------------------------------------------------------------------------------- */

void pl_comm_break_for_all_locked(struct pl_comm *comm, int class, const char *why)
{
    struct pl_comm *root = pl_comm_root(comm);
    struct pl_break_notice notice = pl_comm_break_stopping(root, class);
    if (atomic_load(&root->health.failed))
        return;
    char cause[BREAK_CAUSE];
    pl_visible(cause, sizeof cause, why);
    snprintf(notice.words, sizeof notice.words, "%.64s is broken: an operation failed on rank %d: %s",
             pl_comm_label(root), root->rank, cause);
    pl_comm_break_stop(root, &notice);
    pl_comm_break(root, root->rank, class, notice.words);
    pl_comm_break_tell_all(root, root->rank, PL_FAULT_RANK, &notice);
}

int pl_comm_break_for_all(struct pl_comm *comm, int class)
{
    struct pl_engine *engine = &comm->instance->engine;
    int recorded = MPI_SUCCESS;
    if (pl_error_is_agreed())
        return class;
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(&recorded));
    /* Only what the arguments of the call do not explain: the others cannot know it either. */
    bool unforeseen = class == MPI_ERR_NO_MEM || class == MPI_ERR_PROC_ABORTED || class == MPI_ERR_INTERN;
    if (!unforeseen || comm->health.orphan || (comm->size == 1 && !comm->inter.remote && !comm->role.serves))
        return class; /* no other process waits */
    pl_engine_enter(engine);
    pl_comm_break_for_all_locked(comm, class, recorded == class ? why : pl_error_class_text(class));
    pl_engine_leave(engine);
    return recorded ? pl_fail(recorded, "%s", why), class : class;
}

/* --- lost links --------------------------------------------------------------------------------------------------- */

/* Does this card begin with the id of the peer's engine? */
static bool break_is_card_of(const void *card, size_t length, const struct pl_peer *peer)
{
    return length >= sizeof peer->engine && memcmp(card, &peer->engine, sizeof peer->engine) == 0;
}

/* A process may have had other engines before, so the address decides: that in the communicator, or the one that a
 * process of the World has published. */
static bool break_is_member(const struct pl_comm *comm, uint64_t proc, const struct pl_peer *peer)
{
    const struct pl_av *av = comm->peers.av;
    unsigned char card[PL_CARD_MAX];
    size_t length = 0;
    if (av) {
        int at = pl_group_find(av->group, proc);
        const void *own = at < 0 ? NULL : pl_av_card(av, at, &length);
        return own && break_is_card_of(own, length, peer);
    }
    if (!comm->instance->world || PL_PROC_JOB(proc) != 0 || peer->proc != UINT64_MAX)
        return comm->instance->world && proc == peer->proc;
    return pl_process_lookup(proc, PL_CARD_WORLD, card, &length) == MPI_SUCCESS && break_is_card_of(card, length, peer);
}

/* The rank of a peer among the members that `comm` sends to, or -1. */
static int break_find(const struct pl_comm *comm, const struct pl_peer *peer)
{
    const struct pl_group *group = comm->inter.remote ? comm->inter.remote : comm->group;
    for (int i = 0; i < group->size; i++) {
        const struct pl_peer *known = pl_comm_peer(comm, i);
        if (known ? known == peer || known->engine == peer->engine
                  : break_is_member(comm, pl_group_proc(group, i), peer))
            return i;
    }
    return -1;
}

/* The number of that rank of `comm` as a member of its root. */
static int break_member(const struct pl_comm *comm, const struct pl_comm *root, int rank)
{
    return pl_comm_member(root, rank, comm == root && root->inter.remote);
}

/* The rank of a peer of whose end the communicator does not know yet, or -1. */
static int break_find_news(struct pl_comm *comm, const struct pl_peer *peer)
{
    int rank = comm->role.whole ? -1 : break_find(comm, peer);
    const struct pl_comm *root = rank < 0 ? comm : pl_comm_root(comm);
    bool known = rank >= 0 && pl_comm_knows_failed(root, break_member(comm, root, rank));
    return known || root->health.failures.starved ? -1 : rank;
}

/* Do the others find it themselves, if it concerns them? They do in one that goes on without failed members, and in one
 * that is broken or revoked already, where only an agreement may still wait for that member. */
static bool break_stays_here(const struct pl_comm *root)
{
    return pl_comm_keeps_failures(root) || (atomic_load(&root->health.failed) && !atomic_load(&root->health.confined));
}

static void break_lose(struct pl_comm *comm, int rank, int class, const char *why)
{
    struct pl_comm *root = pl_comm_root(comm);
    struct pl_break_notice notice = { .class = class };
    char cause[BREAK_LINK_CAUSE];
    int member = break_member(comm, root, rank);
    if (break_stays_here(root)) {
        (why ? pl_comm_lose_member : pl_comm_fail_member)(root, member);
        return;
    }
    pl_visible(cause, sizeof cause, why ? why : "");
    if (why)
        snprintf(notice.words, sizeof notice.words, "%.64s is broken: rank %d lost the connection to %srank %d: %s",
                 pl_comm_label(root), root->rank, comm->inter.remote ? "remote " : "", rank, cause);
    pl_comm_break(root, rank, class, notice.words);
    pl_comm_fail_member(root, member);
    pl_comm_break_tell_all(root, rank, why ? PL_FAULT_LINK : PL_FAULT_RANK, &notice);
}

static struct pl_comm *break_next(struct pl_engine *engine, const struct pl_peer *peer, int *rank)
{
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id)
        if ((*rank = break_find_news(comm, peer)) >= 0)
            return comm;
    return NULL;
}

void pl_comm_break_link(struct pl_engine *engine, const struct pl_peer *peer, int class, const char *why)
{
    int rank;
    struct pl_comm *comm;
    while ((comm = break_next(engine, peer, &rank)) != NULL)
        break_lose(comm, rank, class, why);
}

void pl_comm_break_after_failures(struct pl_engine *engine, struct pl_comm *comm)
{
    if (comm->inter.remote && !comm->inter.local)
        return; /* asked again once its local group can be told */
    PL_LIST_EACH(peer, &engine->peers.gone, struct pl_peer, gone) {
        int rank = peer->error && !peer->closed ? break_find_news(comm, peer) : -1;
        if (rank >= 0)
            break_lose(comm, rank, peer->error, "it was lost before the communicator was made");
    }
}

/* --- afterwards --------------------------------------------------------------------------------------------------- */

int pl_comm_broken_class(const struct pl_comm *comm)
{
    if (atomic_load(&comm->health.revoked))
        return MPIX_ERR_REVOKED;
    return comm->health.class ? comm->health.class : MPI_ERR_PROC_ABORTED;
}

int pl_comm_broken_record(const struct pl_comm *comm)
{
    int rank = atomic_load(&comm->health.failed) - 1, class = pl_comm_broken_class(comm);
    int revoked = atomic_load(&comm->health.revoked);
    if (revoked)
        return pl_fail(class, "rank %d has revoked %s", revoked - 1, pl_comm_label(comm));
    if (comm->health.words)
        return pl_fail(class, "%s", comm->health.words);
    if (class != MPI_ERR_PROC_ABORTED)
        return pl_fail(class, "%s is broken: rank %d failed", pl_comm_label(comm), rank);
    return pl_departure_record_failed(comm->role.whole ? comm->role.whole : comm, rank);
}
