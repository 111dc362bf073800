/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_break.h. */
#include "core/engine/comm_break.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/base/visible.h"
#include "core/engine/address_vector.h"
#include "core/engine/client.h"
#include "core/engine/comm.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/match_index.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "mpi-ext.h"

enum { BREAK_WORDS = 288, BREAK_CAUSE = 161, BREAK_LINK_CAUSE = 97 };

/* The header's `part`: what is at fault. That rank; the link to it; or that rank has freed the communicator, which it
 * tells only one member: the one that waits for it; or it has revoked the communicator. */
enum break_part { PART_RANK, PART_LINK, PART_FREED, PART_REVOKED };

/* The data of PL_MSG_BROKEN; its header names the communicator, and the member at fault as the source. */
struct break_notice {
    int32_t class;
    uint32_t made;           /* when the sender last made a communicator from this one (pl_comm_coll.made) */
    uint32_t idups;          /* its pl_comm_coll.idups_ended */
    char words[BREAK_WORDS]; /* empty: that member has died */
};

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
            if (request->comm == comm && pl_comm_fails(comm, request->context))
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

/* The cause stays the first one where only collective operations failed before. */
static void break_one(struct pl_comm *comm, int rank, int class, const char *words)
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

static bool break_concerns(const struct pl_comm *comm, const struct pl_comm *root)
{
    const struct pl_comm *whole = comm->role.whole ? comm->role.whole : comm;
    return whole == root || whole == root->inter.local;
}

void pl_comm_break(struct pl_comm *comm, int rank, int class, const char *words)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_comm *root = pl_comm_root(comm);
    PL_TABLE_EACH(other, &engine->comms.by_id, struct pl_comm, by_id)
        if (break_concerns(other, root))
            break_one(other, rank, class, words);
}

void pl_comm_break_confined(struct pl_comm *comm, int rank)
{
    struct pl_engine *engine = &comm->instance->engine;
    PL_TABLE_EACH(other, &engine->comms.by_id, struct pl_comm, by_id)
        if (other != comm && break_concerns(other, comm))
            break_one(other, rank, MPI_ERR_PROC_ABORTED, NULL);
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
        break_one(comm, failed - 1, like->health.class, like->health.words);
}

/* --- for all members ---------------------------------------------------------------------------------------------- */

static void break_message_destroyed(struct pl_request *request)
{
    free(request->on.owner);
}

bool pl_comm_tell(struct pl_comm *via, int to, const struct pl_header *header, const void *data)
{
    void *copy = pl_malloc(header->size);
    struct pl_request *request = copy ? pl_request_create(PL_REQ_COMPLETE, via, NULL, true) : NULL;
    if (!request) {
        free(copy);
        return false;
    }
    memcpy(copy, data, header->size);
    request->kind = PL_REQ_SEND;
    request->is.detached = true; /* its completion frees it */
    atomic_fetch_add_explicit(&via->requests.detached, 1, memory_order_relaxed);
    request->on.owner = copy;
    request->on.destroyed = break_message_destroyed;
    request->args.peer_rank = to;
    request->out.header = *header;
    request->out.header.token = ++via->instance->engine.sends.tokens;
    pl_cursor_init(&request->out.data, copy, (MPI_Count)header->size, PL_TYPE_BYTE);
    pl_engine_send_to(via, to, request);
    return true;
}

/* Sends the notice to a rank of `via`, whose address need not be known yet. */
static void break_tell(const struct pl_comm *root, struct pl_comm *via, int to, int rank, enum break_part part,
                       const struct break_notice *notice)
{
    const struct pl_header header = {
        .home = root->id.home,
        .serial = root->id.serial,
        .source = rank,
        .tag = root->rank, /* the sender */
        .kind = PL_MSG_BROKEN,
        .part = part,
        .size = sizeof *notice,
    };
    if (!pl_comm_tell(via, to, &header, notice))
        pl_log("engine", 1, "out of memory to tell rank %d that %s is broken", to, pl_comm_label(root));
}

/* Tells all other members. A notice to a peer whose link is lost ends at once. */
static void break_tell_all(struct pl_comm *root, int rank, enum break_part part, const struct break_notice *notice)
{
    struct pl_comm *own = root->inter.remote ? root->inter.local : root;
    for (int i = 0; own && i < own->size; i++)
        if (i != own->rank && !pl_comm_knows_failed(root, pl_comm_member(root, i, false)))
            break_tell(root, own, i, rank, part, notice);
    for (int i = 0; root->inter.remote && i < root->inter.remote->size; i++)
        if (!pl_comm_knows_failed(root, pl_comm_member(root, i, true)))
            break_tell(root, root, i, rank, part, notice);
}

/* The notice of a rank that makes nothing more from this communicator. */
static struct break_notice break_stopping(const struct pl_comm *root, int class)
{
    return (struct break_notice){ .class = class,
                                  .made = atomic_load_explicit(&root->coll.made, memory_order_relaxed),
                                  .idups = root->coll.idups_ended };
}

static void break_stop(struct pl_comm *comm, const struct break_notice *notice)
{
    if (comm->health.stopped)
        return;
    comm->health.stopped = true;
    comm->health.stopped_at = notice->made;
    comm->health.stopped_idups = notice->idups;
}

void pl_comm_break_for_all_locked(struct pl_comm *comm, int class, const char *why)
{
    struct pl_comm *root = pl_comm_root(comm);
    struct break_notice notice = break_stopping(root, class);
    if (atomic_load(&root->health.failed))
        return;
    char cause[BREAK_CAUSE];
    pl_visible(cause, sizeof cause, why);
    snprintf(notice.words, sizeof notice.words, "%.64s is broken: an operation failed on rank %d: %s",
             pl_comm_label(root), root->rank, cause);
    break_stop(root, &notice);
    pl_comm_break(root, root->rank, class, notice.words);
    break_tell_all(root, root->rank, PART_RANK, &notice);
}

/* --- revoked ------------------------------------------------------------------------------------------------------ */

/* Messages that nothing will receive. Those whose senders wait are kept elsewhere: these senders learn from the notice
 * why, and ask them back. */
static void revoke_messages(struct pl_comm *comm)
{
    for (int i = 0; i < PL_QUEUES; i++)
        PL_LIST_EACH(unexpected, &comm->match.queues[i].unexpected, struct pl_unexpected, link) {
            pl_match_take(comm, unexpected);
            if (unexpected->rndv || unexpected->header.flags & PL_FLAG_SYNC)
                pl_list_append(&comm->instance->engine.early.messages, &unexpected->link);
            else
                pl_match_drop(&comm->instance->engine, unexpected, false);
        }
}

/* Sends find their peers no more, so that they take the way on which they are refused. */
static void revoke_here(struct pl_comm *root, int rank)
{
    struct pl_engine *engine = &root->instance->engine;
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id)
        if (break_concerns(comm, root)) {
            atomic_store(&comm->health.revoked, rank + 1);
            pl_comm_peers_hide(comm);
            break_one(comm, rank, MPI_ERR_PROC_ABORTED, NULL);
            revoke_messages(comm);
        }
}

/* Every member that hears of it passes it on first: the one that has revoked it may die before it has told all. */
static void revoke_and_tell(struct pl_comm *root, int rank)
{
    const struct break_notice notice = break_stopping(root, MPIX_ERR_REVOKED);
    revoke_here(root, rank);
    break_tell_all(root, rank, PART_REVOKED, &notice);
}

void pl_comm_revoke(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    if (!atomic_load(&comm->health.revoked))
        revoke_and_tell(comm, comm->rank);
    pl_engine_leave(engine);
}

/* --- one member --------------------------------------------------------------------------------------------------- */

/* Sends the notice to one process, which is known from a message of it. */
static bool break_reply(struct pl_engine *engine, const struct pl_origin *to, const struct pl_header *header,
                        const struct break_notice *notice)
{
    struct pl_peer *peer;
    return pl_engine_peer(engine, to->card, to->card_length, UINT64_MAX, &peer) == MPI_SUCCESS &&
           pl_engine_control(engine, peer, header, notice, sizeof *notice) == MPI_SUCCESS;
}

void pl_comm_break_sender(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *message,
                          int rank)
{
    struct break_notice notice = { .class = MPI_ERR_OTHER };
    struct pl_header header = {
        .home = message->home, .serial = message->serial, .source = rank, .kind = PL_MSG_BROKEN, .part = PART_FREED
    };
    snprintf(notice.words, sizeof notice.words,
             "the calls differ: rank %d sends %llu bytes in a collective, and rank %d has freed the communicator "
             "without receiving them",
             message->source, (unsigned long long)message->size, rank);
    if (!break_reply(engine, from, &header, &notice))
        pl_log("engine", 1, "out of memory to tell a sender that its communicator is freed");
}

void pl_comm_break_repeat(const struct pl_comm *comm, const struct pl_origin *to)
{
    int revoked = atomic_load(&comm->health.revoked);
    struct break_notice notice = { .class = pl_comm_broken_class(comm) };
    struct pl_header header = { .home = comm->id.home,
                                .serial = comm->id.serial,
                                .source = (revoked ? revoked : atomic_load(&comm->health.failed)) - 1,
                                .tag = -1, /* says nothing of what this rank has made */
                                .kind = PL_MSG_BROKEN,
                                .part = revoked ? PART_REVOKED : PART_LINK };
    if (comm->health.words)
        snprintf(notice.words, sizeof notice.words, "%s", comm->health.words);
    break_reply(&comm->instance->engine, to, &header, &notice); /* a rank that is not told asks again */
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
    struct break_notice notice = { .class = class };
    char cause[BREAK_LINK_CAUSE];
    int member = break_member(comm, root, rank);
    if (break_stays_here(root)) {
        pl_comm_fail_member(root, member);
        return;
    }
    pl_visible(cause, sizeof cause, why ? why : "");
    if (why)
        snprintf(notice.words, sizeof notice.words, "%.64s is broken: rank %d lost the connection to %srank %d: %s",
                 pl_comm_label(root), root->rank, comm->inter.remote ? "remote " : "", rank, cause);
    pl_comm_break(root, rank, class, notice.words);
    pl_comm_fail_member(root, member);
    break_tell_all(root, rank, why ? PART_LINK : PART_RANK, &notice);
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

static void break_children(struct pl_comm *comm, int rank, const struct break_notice *notice)
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

/* A member has heard of the revocation, and tells all others. They may wait for it in a communicator, a window or a
 * file that it will not make any more. */
static void revoke_told(struct pl_comm *root, const struct pl_header *header, int rank, struct break_notice *notice)
{
    int from = header->tag;
    if (!atomic_load(&root->health.revoked))
        revoke_and_tell(root, rank);
    if (from < 0 || (from >= root->size && from >= pl_comm_targets(root))) /* of either group */
        return;
    snprintf(notice->words, sizeof notice->words, "rank %d has not made it: %.64s, of which it is made, is revoked",
             from, pl_comm_label(root));
    break_children(root, from, notice);
}

/* The rank that lost the link cannot tell the one at its other end: the two ranks behind that do, of which one may be
 * the rank that told this one. */
static bool break_is_next(const struct pl_comm *comm, int rank)
{
    return comm->rank != rank && (comm->rank - rank + comm->size) % comm->size <= 2;
}

void pl_comm_break_told(struct pl_comm *comm, const struct pl_header *header, const void *data)
{
    struct break_notice notice;
    if (header->size != sizeof notice || !data)
        return;
    memcpy(&notice, data, sizeof notice);
    notice.words[sizeof notice.words - 1] = '\0';
    bool known = notice.class > MPI_SUCCESS && notice.class < MPI_ERR_LASTCODE && pl_error_class_name(notice.class);
    int rank = header->source >= 0 && header->source < pl_comm_targets(comm) ? header->source : 0;
    bool news = !atomic_load(&comm->health.failed);
    if (header->part == PART_REVOKED) {
        revoke_told(pl_comm_root(comm), header, rank, &notice);
        return;
    }
    if (notice.class == MPI_ERR_PROC_ABORTED && !notice.words[0] && pl_comm_keeps_failures(comm)) {
        if (comm->inter.remote)
            pl_comm_confine(comm, rank); /* it may be a rank of either group */
        else
            pl_comm_fail_member(comm, rank);
        return;
    }
    if (header->part == PART_RANK) {
        break_children(comm, rank, &notice);
        break_stop(comm, &notice);
    }
    pl_comm_break(comm, rank, known ? notice.class : MPI_ERR_OTHER, notice.words);
    if (news && header->part == PART_LINK && !comm->inter.remote && break_is_next(comm, rank))
        break_tell(comm, comm, rank, rank, PART_LINK, &notice);
    if (news && header->part == PART_FREED) {
        struct pl_comm *root = pl_comm_root(comm);
        notice.made = atomic_load_explicit(&root->coll.made, memory_order_relaxed);
        notice.idups = root->coll.idups_ended;
        break_tell_all(root, rank, PART_RANK, &notice);
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
