/* SPDX-License-Identifier: BSD-3-Clause */
/* See agreement.h. */
#include "core/comm/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/comm/intercomm.h"
#include "core/engine/comm_break_notice.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/engine/wait_record.h"

/* The header's `part`; its tag is the agreement's number, its source the rank that sends. A member tells its view to a
 * coordinator, or the decision that it knows of. */
enum agreement_part { PART_VIEW, PART_KNOWN, PART_DECISION };

/* What a member contributes, and what is decided: the data of all messages, followed by two sets of members, a bit
 * each: those that have failed, and those whose failure is acknowledged by all. */
struct view {
    int32_t flags[2]; /* of the first group of an intercommunicator, and of the second; else the first counts */
    int32_t epoch;    /* of a decision: the coordinator; -1: none */
    uint32_t serial;
    uint32_t failing; /* of a decision: a member has failed, and not all have acknowledged it */
    uint32_t unused;
    uint64_t home;
};

struct agreement {
    struct pl_list link; /* in pl_agreements.open */
    uint32_t number;
    bool joined;                 /* this member has called it */
    bool ends;                   /* `known` is the decision */
    int coordinator;             /* the one that this member has told its view; -1: none */
    unsigned char *heard;        /* sets of members: those that have sent their view or a decision, */
    unsigned char *decided;      /* those that have sent the decision with which they ended, */
    unsigned char *gone;         /* those that have failed, as this process knows, */
    unsigned char *claimed;      /* and as others say, */
    unsigned char *acknowledged; /* and those of which this program has known that when it called */
    struct view *merged;         /* the views of this member and of those that it has heard */
    struct view *known;          /* the latest decision that it knows */
    size_t set_bytes;            /* of each set */

    struct pl_deferred deferred; /* delivers the outcome */
    struct pl_request *request;
    int *flag;
    MPI_Comm *newcomm;
    const char *maker;
};

struct pl_agreements {
    struct pl_list open; /* of struct agreement.link */
    uint32_t next;       /* the number of the next one that this member starts */
    bool busy, again;    /* the list is in use, and has to be gone through once more */
};

/* --- members ------------------------------------------------------------------------------------------------------ */

/* Members have numbers: ranks, and in an intercommunicator those of the second group follow the first group's. */
static int number_of(const struct pl_comm *comm, int rank, bool remote)
{
    bool behind = comm->inter.remote && remote == comm->inter.first_group;
    return !behind ? rank : rank + (remote ? comm->size : comm->inter.remote->size);
}

static int own_number(const struct pl_comm *comm)
{
    return number_of(comm, comm->rank, false);
}

/* The communicator in which a member is a target, and its rank there. */
static struct pl_comm *target_of(struct pl_comm *comm, int number, int *rank, bool *remote)
{
    int first = !comm->inter.remote ? comm->size : comm->inter.first_group ? comm->size : comm->inter.remote->size;
    *rank = number < first ? number : number - first;
    *remote = comm->inter.remote && (number < first) != comm->inter.first_group;
    return *remote || !comm->inter.remote ? comm : comm->inter.local;
}

/* The group whose flags this member contributes to, and the one whose flags it gets: that of the others. */
static int own_group(const struct pl_comm *comm)
{
    return comm->inter.remote && !comm->inter.first_group;
}

static int other_group(const struct pl_comm *comm)
{
    return comm->inter.remote && comm->inter.first_group;
}

/* --- sets --------------------------------------------------------------------------------------------------------- */

static bool set_has(const unsigned char *set, int member)
{
    return set[member / 8] >> member % 8 & 1;
}

static void set_add(unsigned char *set, int member)
{
    set[member / 8] |= (unsigned char)(1 << member % 8);
}

static unsigned char *view_failed(struct view *view)
{
    return (unsigned char *)(view + 1);
}

static unsigned char *view_acknowledged(struct view *view, size_t set_bytes)
{
    return view_failed(view) + set_bytes;
}

static size_t set_bytes_of(const struct pl_comm *comm)
{
    return ((size_t)pl_comm_members(comm) + 7) / 8;
}

static size_t view_bytes(size_t set_bytes)
{
    return sizeof(struct view) + 2 * set_bytes;
}

/* --- agreements under way ----------------------------------------------------------------------------------------- */

static struct pl_agreements *agreements_of(struct pl_comm *comm)
{
    if (comm->health.agreements || (comm->health.agreements = pl_calloc(1, sizeof *comm->health.agreements)) == NULL)
        return comm->health.agreements;
    pl_list_init(&comm->health.agreements->open);
    return comm->health.agreements;
}

static struct agreement *agreement_find(struct pl_agreements *all, uint32_t number)
{
    PL_LIST_EACH(agreement, &all->open, struct agreement, link)
        if (agreement->number == number)
            return agreement;
    return NULL;
}

/* One that nothing is known of yet. NULL: out of memory. */
static struct agreement *agreement_create(struct pl_comm *comm, struct pl_agreements *all, uint32_t number)
{
    size_t set = set_bytes_of(comm), view = (view_bytes(set) + 7) / 8 * 8;
    struct agreement *made = pl_calloc(1, sizeof *made + 2 * view + 5 * set);
    if (!made)
        return NULL;
    unsigned char *at = (unsigned char *)(made + 1);
    made->merged = (struct view *)at;
    made->known = (struct view *)(at + view);
    made->heard = at + 2 * view;
    made->decided = made->heard + set;
    made->gone = made->decided + set;
    made->acknowledged = made->gone + set;
    made->claimed = made->acknowledged + set;
    made->set_bytes = set;
    made->number = number;
    made->coordinator = made->known->epoch = made->merged->epoch = -1;
    made->merged->flags[0] = made->merged->flags[1] = -1; /* all bits */
    memset(view_acknowledged(made->merged, set), 0xff, set);
    pl_list_append(&all->open, &made->link);
    return made;
}

/* False: out of memory. */
static bool agreement_send(const struct agreement *agreement, struct pl_comm *comm, int to, enum agreement_part part,
                           const struct view *view)
{
    const struct pl_header header = {
        .home = comm->id.home,
        .serial = comm->id.serial,
        .source = own_number(comm),
        .tag = (int32_t)agreement->number,
        .kind = PL_MSG_AGREEMENT,
        .part = (uint16_t)part,
        .size = view_bytes(agreement->set_bytes),
    };
    int rank;
    bool remote;
    struct pl_comm *via = target_of(comm, to, &rank, &remote);
    bool sent = pl_comm_tell(via, rank, &header, view);
    if (!sent)
        pl_log("comm", 1, "out of memory for an agreement with rank %d of %s", rank, pl_comm_label(comm));
    return sent;
}

/* The decision is in `known`. Passes it on, also to members that it takes for failed and this process does not. The
 * thread that leaves the engine delivers it. */
static void agreement_finish(struct agreement *agreement, struct pl_comm *comm)
{
    unsigned char *failed = view_failed(agreement->known);
    int rank, own = own_number(comm);
    bool remote;
    pl_list_remove(&agreement->link);
    for (int i = 0; i < pl_comm_members(comm); i++)
        if (i != own && !set_has(agreement->gone, i))
            agreement_send(agreement, comm, i, PART_DECISION, agreement->known);
    pl_list_append(&comm->instance->engine.deferred.work, &agreement->deferred.link);
    for (int i = 0; i < pl_comm_members(comm); i++)
        if (i != own && set_has(failed, i)) {
            target_of(comm, i, &rank, &remote);
            pl_comm_lose_member(comm, pl_comm_member(comm, rank, remote)); /* so that the program can acknowledge it */
        }
}

static int number_of_failed(const struct pl_comm *comm, int i)
{
    int member = comm->health.failures.members[i];
    bool remote = member >= comm->size;
    return number_of(comm, remote ? member - comm->size : member, remote);
}

static void agreement_note_failures(struct agreement *agreement, const struct pl_comm *comm)
{
    for (int i = 0; i < atomic_load(&comm->health.failures.count); i++)
        set_add(agreement->gone, number_of_failed(comm, i));
}

/* As the coordinator, which has heard from all members that live. */
static void agreement_decide(struct agreement *agreement, const struct pl_comm *comm)
{
    size_t set = agreement->set_bytes;
    struct view *known = agreement->known;
    if (known->epoch < 0) {
        memcpy(known, agreement->merged, view_bytes(set));
        struct pl_comm_id id = pl_comm_new_id();
        known->home = id.home;
        known->serial = id.serial;
        for (size_t i = 0; i < set; i++) {
            view_failed(known)[i] |= agreement->gone[i] | agreement->claimed[i];
            known->failing |= (view_failed(known)[i] & ~view_acknowledged(known, set)[i]) != 0;
        }
    }
    known->epoch = own_number(comm);
}

/* Goes as far as possible. Returns whether the agreement has ended. Sending may bring news of failures, which are dealt
 * with in the next round. */
static bool agreement_step(struct agreement *agreement, struct pl_comm *comm)
{
    int coordinator = 0, own = own_number(comm), before = agreement->coordinator;
    if (!agreement->joined)
        return false;
    agreement_note_failures(agreement, comm);
    while (coordinator != own && set_has(agreement->gone, coordinator))
        coordinator++;
    agreement->coordinator = coordinator;
    if (coordinator != own && set_has(agreement->decided, coordinator))
        agreement->ends = true; /* it will decide nothing else */
    for (int i = 0; coordinator == own && i < pl_comm_members(comm); i++)
        if (i != own && !set_has(agreement->heard, i) && !set_has(agreement->gone, i) && !agreement->ends)
            return false;
    if (coordinator == own && !agreement->ends)
        agreement_decide(agreement, comm);
    if (coordinator == own || agreement->ends) {
        agreement_finish(agreement, comm);
        return true;
    }
    if (coordinator != before) {
        bool knows = agreement->known->epoch >= 0;
        for (size_t i = 0; i < agreement->set_bytes; i++)
            view_failed(agreement->merged)[i] = agreement->gone[i] | agreement->claimed[i];
        if (!agreement_send(agreement, comm, coordinator, knows ? PART_KNOWN : PART_VIEW,
                            knows ? agreement->known : agreement->merged))
            agreement->coordinator = -1; /* a thread that waits long tries again */
    }
    return false;
}

/* What this does may be the news on which it is called again: that only lets it go on. */
static void agreements_step(struct pl_comm *comm)
{
    struct pl_agreements *all = comm->health.agreements;
    if (!all)
        return;
    all->again = true;
    if (all->busy)
        return;
    all->busy = true;
    while (all->again) {
        all->again = false;
        PL_LIST_EACH(agreement, &all->open, struct agreement, link)
            if (agreement_step(agreement, comm)) {
                all->again = true;
                break;
            }
    }
    all->busy = false;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static void agreement_merge(struct agreement *agreement, const struct view *view, const unsigned char *sets)
{
    size_t set = agreement->set_bytes;
    agreement->merged->flags[0] &= view->flags[0];
    agreement->merged->flags[1] &= view->flags[1];
    for (size_t i = 0; i < set; i++) {
        agreement->claimed[i] |= sets[i];
        view_acknowledged(agreement->merged, set)[i] &= sets[set + i];
    }
}

static void agreement_know(struct agreement *agreement, const void *data, int epoch)
{
    if (epoch > agreement->known->epoch)
        memcpy(agreement->known, data, view_bytes(agreement->set_bytes));
}

void pl_agreement_arrived(struct pl_engine *engine, struct pl_comm *comm, const struct pl_origin *from,
                          const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    (void)from, (void)rndv; /* the data has been fetched */
    struct pl_agreements *all = agreements_of(comm);
    uint32_t number = (uint32_t)header->tag;
    struct view view;
    if (header->size != view_bytes(set_bytes_of(comm)) || header->source < 0 || header->source >= pl_comm_members(comm))
        return;
    struct agreement *agreement = all ? agreement_find(all, number) : NULL;
    if (!agreement && all && (int32_t)(number - all->next) < 0)
        return; /* this member has passed the decision on */
    if (!agreement && all)
        agreement = agreement_create(comm, all, number);
    if (!agreement) {
        pl_failure_message_dropped(engine, comm, header);
        return;
    }
    memcpy(&view, data, sizeof view);
    bool repeated = set_has(agreement->heard, header->source);
    set_add(agreement->heard, header->source);
    if (header->part == PART_VIEW && !repeated)
        agreement_merge(agreement, &view, (const unsigned char *)data + sizeof view);
    else if (header->part == PART_KNOWN || header->part == PART_DECISION)
        agreement_know(agreement, data, view.epoch);
    if (header->part == PART_DECISION)
        set_add(agreement->decided, header->source);
    if (header->part == PART_DECISION && agreement->joined && view.epoch >= agreement->coordinator)
        agreement->ends = true;
    agreements_step(comm);
}

void pl_agreement_failed(struct pl_comm *comm)
{
    agreements_step(comm);
}

/* Notes the members that this one waits for in the agreement, and that have departed. */
static void agreement_note_departed(struct pl_comm *comm, struct agreement *agreement)
{
    int rank, own = own_number(comm);
    bool remote;
    for (int i = 0; agreement->joined && i < pl_comm_members(comm); i++) {
        bool awaited =
            agreement->coordinator == own ? i != own && !set_has(agreement->heard, i) : i == agreement->coordinator;
        struct pl_comm *via = target_of(comm, i, &rank, &remote);
        if (awaited && pl_departure_has(via, rank))
            set_add(agreement->gone, i);
    }
}

/* A thread waits for long: perhaps for members that have departed. */
void pl_agreement_awaited(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what)
{
    (void)request, (void)what;
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id) {
        if (!comm->health.agreements)
            continue;
        comm->health.agreements->busy = true; /* to ask for a departure may bring news of failures */
        PL_LIST_EACH(agreement, &comm->health.agreements->open, struct agreement, link)
            agreement_note_departed(comm, agreement);
        comm->health.agreements->busy = false;
        agreements_step(comm);
    }
}

void pl_agreement_closing(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    pl_engine_enter(engine);
    if (comm->health.agreements)
        PL_LIST_EACH(agreement, &comm->health.agreements->open, struct agreement, link)
            if (agreement->joined) {
                pl_list_remove(&agreement->link);
                agreement->request->on.owner = NULL;
                agreement->request->outcome.cancelled = true;
                pl_request_complete(agreement->request, MPI_SUCCESS);
                free(agreement);
            }
    pl_engine_leave(engine);
}

void pl_agreement_release(struct pl_comm *comm)
{
    struct pl_list *node;
    if (!comm->health.agreements)
        return;
    while ((node = pl_list_pop(&comm->health.agreements->open)) != NULL)
        free(PL_CONTAINER(node, struct agreement, link));
    free(comm->health.agreements);
    comm->health.agreements = NULL;
}

/* --- the outcome -------------------------------------------------------------------------------------------------- */

/* The members of one group that live, with one handle. MPI_ERR_PROC_ABORTED: there is none. */
static int agreement_living(struct agreement *agreement, struct pl_comm *comm, bool remote, struct pl_group **living)
{
    const struct pl_group *all = remote ? comm->inter.remote : comm->group;
    uint64_t *procs = pl_malloc((size_t)all->size * sizeof *procs);
    int count = 0;
    if (!procs)
        return pl_fail_memory("the members of a communicator");
    for (int i = 0; i < all->size; i++)
        if (!set_has(view_failed(agreement->known), number_of(comm, i, remote)))
            procs[count++] = pl_group_proc(all, i);
    *living = count ? pl_instance_group(comm->instance, count, procs) : NULL;
    free(procs);
    if (*living)
        return MPI_SUCCESS;
    return count ? MPI_ERR_NO_MEM : MPI_ERR_PROC_ABORTED;
}

/* The communicator of the members that live; its id has been decided with them. */
static int agreement_make_comm(struct agreement *agreement, struct pl_comm *comm)
{
    struct pl_group *local = NULL, *remote = NULL;
    struct pl_comm_id id = { agreement->known->home, agreement->known->serial };
    struct pl_comm *made = NULL;
    int rc = agreement_living(agreement, comm, false, &local);
    if (rc == MPI_SUCCESS && comm->inter.remote)
        rc = agreement_living(agreement, comm, true, &remote);
    if (rc == MPI_SUCCESS)
        rc = remote ? pl_intercomm_create_of_living(comm, local, remote, id, &made)
                    : pl_comm_create_of_living(comm, local, NULL, id, &made);
    if (remote)
        pl_handle_drop(remote);
    if (local)
        pl_handle_drop(local);
    if (rc)
        return rc;
    made->role.maker = agreement->maker;
    *agreement->newcomm = pl_comm_handle(made);
    return MPI_SUCCESS;
}

static int agreement_outcome(struct agreement *agreement, struct pl_comm *comm)
{
    const unsigned char *failed = view_failed(agreement->known);
    bool excluded = set_has(failed, own_number(comm)); /* the others could not reach this process */
    if (agreement->flag)
        *agreement->flag = agreement->known->flags[other_group(comm)];
    if (excluded || (!agreement->newcomm && agreement->known->failing))
        return MPI_ERR_PROC_ABORTED;
    return agreement->newcomm ? agreement_make_comm(agreement, comm) : MPI_SUCCESS;
}

static void agreement_deliver(struct pl_deferred *deferred)
{
    struct agreement *agreement = PL_CONTAINER(deferred, struct agreement, deferred);
    struct pl_request *request = agreement->request;
    struct pl_engine *engine = request->engine;
    int rc = agreement_outcome(agreement, request->comm);
    pl_engine_enter(engine);
    request->on.owner = NULL;
    free(agreement);
    pl_request_complete(request, rc);
    pl_engine_leave(engine);
}

/* For the job report: the rank that this one waits for. */
void pl_agreement_describe(const struct pl_request *request, struct pl_job_item *item)
{
    const struct agreement *agreement = request->on.owner;
    struct pl_comm *comm = request->comm;
    int rank, own = own_number(comm), awaited = agreement ? agreement->coordinator : -1;
    bool remote;
    for (int i = 0; awaited == own && i < pl_comm_members(comm); i++)
        if (i != own && !set_has(agreement->heard, i) && !set_has(agreement->gone, i))
            awaited = i;
    if (awaited < 0 || awaited == own)
        return;
    const struct pl_comm *via = target_of(comm, awaited, &rank, &remote);
    pl_wait_record_add_peer(item, via, rank);
}

static bool agreement_calls_user(const struct pl_deferred *deferred)
{
    (void)deferred;
    return false;
}

static const struct pl_deferred_ops agreement_ops = { .run = agreement_deliver, .calls_user = agreement_calls_user };

/* --- starting ----------------------------------------------------------------------------------------------------- */

/* This member's part. */
static void agreement_join(struct agreement *agreement, struct pl_comm *comm)
{
    size_t set = agreement->set_bytes;
    unsigned char *acknowledged = view_acknowledged(agreement->merged, set), *told = agreement->acknowledged;
    agreement->joined = true;
    if (agreement->flag)
        agreement->merged->flags[own_group(comm)] &= *agreement->flag;
    for (int k = 0; k < atomic_load(&comm->health.failures.acknowledged); k++)
        set_add(told, number_of_failed(comm, k));
    for (size_t i = 0; i < set; i++)
        acknowledged[i] &= told[i];
}

static struct agreement *agreement_of_call(struct pl_comm *comm)
{
    struct pl_agreements *all = agreements_of(comm);
    if (!all)
        return NULL;
    struct agreement *agreement = agreement_find(all, all->next);
    if (!agreement)
        agreement = agreement_create(comm, all, all->next);
    all->next += agreement != NULL;
    return agreement;
}

int pl_agreement_start(struct pl_comm *comm, int *flag, MPI_Comm *newcomm, const char *maker,
                       struct pl_request **request)
{
    struct pl_engine *engine = &comm->instance->engine;
    struct pl_request *made = pl_request_create(PL_REQ_AGREEMENT, comm, NULL, false);
    if (!made)
        return MPI_ERR_NO_MEM;
    made->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    made->args.peer_rank = MPI_UNDEFINED;
    made->is.active = true;
    pl_engine_enter(engine);
    struct agreement *agreement = agreement_of_call(comm);
    if (agreement) {
        pl_failure_check_now(engine);
        agreement->request = made;
        made->on.owner = agreement;
        agreement->flag = flag;
        agreement->newcomm = newcomm;
        agreement->maker = maker;
        agreement->deferred.ops = &agreement_ops;
        agreement_join(agreement, comm);
        agreement->ends = agreement->known->epoch >= 0; /* the others have decided without this member */
        agreements_step(comm);
    }
    pl_engine_leave(engine);
    if (!agreement) {
        pl_handle_drop(made);
        return pl_fail_memory("an agreement");
    }
    *request = made;
    return MPI_SUCCESS;
}
