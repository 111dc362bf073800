/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for dead processes, and breaks the communicators that have them. See peer_failure.h. */
#include "core/engine/peer_failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/address_vector.h"
#include "core/engine/client.h"
#include "core/engine/comm.h"
#include "core/engine/comm_break.h"
#include "core/engine/comm_failures.h"
#include "core/engine/departure.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match_index.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/request.h"
#include "core/engine/wait.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

/* A check asks the system, so not every round of progress makes one. The coarse clock ticks every 1 to 10 ms. */
enum {
    FAILURE_CHECK_MS = 10,
    FAILURE_DYING_MS = 20, /* from the first resource that a process loses when it ends to the last */
    FAILURE_ROUNDS = 1024, /* for what a dead process has sent: living ones may send for ever */
};

struct pl_failure {
    struct pl_hook hook;
    struct pl_engine *engine;
    long check_at;      /* milliseconds */
    int next;           /* the rank that was checked last */
    uint32_t known;     /* pl_process_known_deaths() at the last check */
    bool taken;         /* messages were taken before a death counted: a probe looks again */
    uint32_t *first;    /* [job size] deaths that do not concern this engine */
    uint32_t counted[]; /* [2 * job size] deaths that were handled; then `first` */
};

/* The order of the two calls matters: a process that dies and is replaced in between is counted at the next check, not
 * twice. */
static uint32_t failure_deaths(int rank, bool asks)
{
    uint32_t before = pl_process_deaths(PL_PROC(0, rank));
    return before + pl_process_died(PL_PROC(0, rank), asks);
}

void pl_failure_break(struct pl_engine *engine, uint64_t proc)
{
    PL_TABLE_EACH(comm, &engine->comms.by_id, struct pl_comm, by_id) {
        const struct pl_comm *whole = comm->role.whole ? comm->role.whole : comm;
        int rank = pl_group_find(whole->group, proc);
        bool remote = rank < 0 && comm->inter.remote;
        if (remote)
            rank = pl_group_find(comm->inter.remote, proc);
        if (rank < 0)
            continue;
        struct pl_comm *root = pl_comm_root(comm);
        pl_comm_fail_member(root, pl_comm_member(root, rank, remote));
        if (root != comm && !pl_comm_keeps_failures(root) && !atomic_load(&comm->health.failed))
            pl_comm_break(comm, rank, MPI_ERR_PROC_ABORTED, NULL);
    }
}

void pl_failure_message_dropped(struct pl_engine *engine, struct pl_comm *comm, const struct pl_header *header)
{
    struct pl_header *first = &engine->early.starved;
    engine->dropped_messages++;
    if (!comm) {
        engine->early.all_starved |= first->serial && (first->serial != header->serial || first->home != header->home);
        *first = *header;
    } else if (!atomic_load(&comm->health.failed)) {
        char why[64];
        snprintf(why, sizeof why, "out of memory: a message from rank %d is lost", header->source);
        pl_comm_break_for_all_locked(comm, MPI_ERR_NO_MEM, why);
    }
}

void pl_failure_apply_dropped(struct pl_engine *engine, struct pl_comm *comm)
{
    const struct pl_header *first = &engine->early.starved;
    if (engine->early.all_starved || (first->serial == comm->id.serial && first->home == comm->id.home))
        pl_failure_message_dropped(engine, comm, first);
}

/* The id of the engine that has replaced a dead process's, as far as this listener knows; 0: none. */
static uint64_t failure_successor(const struct pl_engine *engine, int dead)
{
    unsigned char card[PL_CARD_MAX];
    size_t length = 0;
    uint64_t proc = PL_PROC(0, dead);
    bool known = !engine->instance && pl_process_alive(proc) == MPI_SUCCESS &&
                 pl_process_lookup(proc, PL_CARD_LISTENER, card, &length) == MPI_SUCCESS;
    return known ? pl_engine_card_id(card, length) : 0;
}

/* Ends sends to a dead process, and waits for its answers. */
static void failure_end_peers(struct pl_engine *engine, int dead)
{
    uint64_t spared = failure_successor(engine, dead);
    PL_TABLE_EACH(peer, &engine->peers.by_id, struct pl_peer, by_id)
        if (peer->proc == PL_PROC(0, dead) && peer->engine != spared && !peer->error) {
            pl_engine_peer_failed(engine, peer, MPI_ERR_PROC_ABORTED);
            if (peer->endpoint && peer->endpoint->ops->lose)
                peer->endpoint->ops->lose(peer->endpoint);
        }
}

/* Takes what has arrived, so that it can still be received. */
static void failure_take_rest(struct pl_engine *engine)
{
    for (int rounds = FAILURE_ROUNDS; rounds > 0 && pl_engine_progress_transports(engine) > 0; rounds--)
        engine->failure->taken = true;
}

/* `asks`: the system, too, not only what is known. Not inside a transport's progress. */
static void failure_check_rank(struct pl_engine *engine, int rank, bool asks)
{
    struct pl_failure *watch = engine->failure;
    uint32_t now = rank == pl_process.identity.rank ? watch->counted[rank] : failure_deaths(rank, asks);
    if ((int32_t)(now - watch->counted[rank]) <= 0) /* less when it is replaced between the two calls */
        return;
    watch->counted[rank] = now;
    engine->comms.news++;
    failure_take_rest(engine); /* after its death: it sends nothing any more */
    failure_end_peers(engine, rank);
    pl_failure_break(engine, PL_PROC(0, rank));
    pl_engine_wake(engine);
}

static void failure_check(struct pl_engine *engine, bool asks)
{
    for (int r = 0; engine->failure && r < pl_process.identity.size; r++)
        failure_check_rank(engine, r, asks);
}

/* The runtime tells of most deaths, and the ranks tell each other of those that they find: each asks the system for one
 * rank at a time, another one than its neighbors do. */
static void failure_check_next(struct pl_engine *engine)
{
    struct pl_failure *watch = engine->failure;
    uint32_t known;
    if (!pl_process_known_deaths(&known)) {
        failure_check(engine, true);
        return;
    }
    watch->next = (watch->next + 1) % pl_process.identity.size;
    failure_check_rank(engine, watch->next, true);
    if (known == watch->known)
        return;
    watch->known = known;
    failure_check(engine, false);
}

/* Has this member died since it agreed to take part, replaced or not? A member without a card is the World's first
 * process of that rank. */
static bool member_has_died_since(const struct pl_failure *watch, const struct pl_comm *comm, uint64_t proc)
{
    const struct pl_av *avs[] = { comm->peers.av, comm->inter.local ? comm->inter.local->peers.av : NULL };
    int member = PL_PROC_RANK(proc);
    for (int b = 0; b < 2; b++) {
        int at = avs[b] ? pl_group_find(avs[b]->group, proc) : -1;
        size_t length = 0;
        const void *card = at < 0 ? NULL : pl_av_card(avs[b], at, &length);
        if (length < sizeof(uint64_t))
            continue;
        return (pl_engine_card_id(card, length) & 0xff) != (watch->counted[member] & 0xff);
    }
    return comm->instance->world && watch->counted[member] != watch->first[member];
}

void pl_failure_catch_up(struct pl_engine *engine)
{
    uint32_t known;
    failure_check(engine, !pl_process_known_deaths(&known));
}

void pl_failure_check_new_comm(struct pl_engine *engine, struct pl_comm *comm)
{
    const struct pl_group *groups[] = { comm->group, comm->inter.remote };
    for (int g = 0; g < 2 && groups[g]; g++)
        for (int i = 0; i < groups[g]->size; i++) {
            uint64_t proc = pl_group_proc(groups[g], i);
            if (PL_PROC_JOB(proc) == 0 && proc != pl_process_self() &&
                member_has_died_since(engine->failure, comm, proc))
                pl_comm_fail_member(comm, pl_comm_member(comm, i, g > 0));
        }
}

void pl_failure_check_now(struct pl_engine *engine)
{
    failure_check(engine, true);
}

static int failure_check_hook(struct pl_hook *hook)
{
    struct pl_failure *watch = PL_CONTAINER(hook, struct pl_failure, hook);
    long now = (long)pl_clock_coarse_ms();
    if (now >= watch->check_at) {
        watch->check_at = now + FAILURE_CHECK_MS;
        watch->taken = false;
        failure_check_next(watch->engine);
        return watch->taken;
    }
    return 0;
}

int pl_failure_open(struct pl_engine *engine)
{
    if (!pl_process.identity.watched)
        return MPI_SUCCESS;
    struct pl_failure *watch =
        pl_calloc(1, sizeof *watch + 2 * (size_t)pl_process.identity.size * sizeof *watch->counted);
    if (!watch)
        return pl_fail_memory("the failure detection of a pool");
    watch->engine = engine;
    watch->hook.run = failure_check_hook;
    watch->first = watch->counted + pl_process.identity.size;
    /* The dead of a pool are replaced. A process of a job is not: it is missed however early it has died. */
    for (int r = 0; r < pl_process.identity.size; r++)
        watch->first[r] = watch->counted[r] = pl_process.bootstrap->deaths ? failure_deaths(r, true) : 0;
    watch->next = pl_process.identity.rank;
    pl_engine_enter(engine);
    engine->failure = watch;
    pl_list_push(&engine->hooks, &watch->hook.link);
    pl_engine_leave(engine);
    return MPI_SUCCESS;
}

void pl_failure_close(struct pl_engine *engine)
{
    struct pl_failure *watch = engine->failure;
    if (!watch)
        return;
    pl_engine_enter(engine);
    engine->failure = NULL;
    pl_list_remove(&watch->hook.link);
    pl_engine_leave(engine);
    free(watch);
}

bool pl_failure_engine_is_dead(uint64_t engine, uint64_t proc)
{
    return pl_process.identity.watched && (engine & 0xff) != (failure_deaths(PL_PROC_RANK(proc), true) & 0xff);
}

void pl_failure_await(const struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    failure_check(engine, true);
    for (int waited = 0; engine->failure && !atomic_load(&comm->health.failed) && waited < FAILURE_DYING_MS; waited++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        failure_check(engine, true);
    }
}

int pl_failure_explain(const struct pl_comm *comm, int rank, int rc)
{
    struct pl_engine *engine = &comm->instance->engine;
    if (engine->failure && engine->wait.inside)
        return PL_AGAIN; /* what the member has sent can only be taken outside */
    failure_check(engine, true);
    for (int waited = 0; engine->failure && !atomic_load(&comm->health.failed) && !pl_comm_member_failed(comm, rank) &&
                         waited < FAILURE_DYING_MS;
         waited++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        failure_check(engine, true);
    }
    if (pl_comm_member_failed(comm, rank) && atomic_load(&comm->health.confined))
        return pl_departure_record_failed(comm, rank);
    return pl_comm_fails(comm, PL_MSG_P2P, 0) ? pl_comm_broken_record(comm) : rc;
}

uint64_t pl_failure_proc(const struct pl_comm *comm, int rank)
{
    const struct pl_group *group =
        comm->inter.remote && rank < comm->inter.remote->size ? comm->inter.remote : comm->group;
    return rank < group->size ? pl_group_proc(group, rank) : pl_process_self();
}

int pl_failure_record_about(const struct pl_comm *comm, int rank, const char *what)
{
    uint64_t proc = pl_failure_proc(comm, rank);
    char label[PL_JOB_NAME_MAX + 32];
    if (PL_PROC_JOB(proc) == 0)
        return pl_fail(MPI_ERR_PROC_ABORTED, "rank %d of %s %s", rank, pl_comm_label(comm), what);
    pl_jobs_describe(proc, label, sizeof label);
    return pl_fail(MPI_ERR_PROC_ABORTED, "%s, %srank %d of %s, %s", label, comm->inter.remote ? "remote " : "", rank,
                   pl_comm_label(comm), what);
}

/* What ends a link is often the end of the process, which the launcher knows a little later. */
bool pl_failure_is_death(uint64_t proc)
{
    if (proc == UINT64_MAX || PL_PROC_JOB(proc) != 0 || !pl_process.bootstrap)
        return false;
    bool died = pl_process_died(proc, true);
    for (int waited = 0; !died && pl_process.bootstrap->died && waited < FAILURE_DYING_MS; waited++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        died = pl_process_died(proc, true);
    }
    return died;
}

void pl_failure_own_message(struct pl_engine *engine, const char *why)
{
    if (engine->arrived && !engine->instance)
        engine->arrived(engine, NULL, &(struct pl_header){ .kind = PL_MSG_BROKEN, .size = strlen(why) + 1 }, why);
}

void pl_failure_link(struct pl_engine *engine, const struct pl_peer *peer, int error, const char *why)
{
    if (!engine->instance) {
        if (error == MPI_ERR_NO_MEM)
            pl_failure_own_message(engine, why);
        return; /* its users look after the processes that they wait for */
    }
    bool died = !why || pl_failure_is_death(peer->proc);
    if (died && peer->proc != UINT64_MAX && PL_PROC_JOB(peer->proc) != 0)
        pl_failure_break(engine, peer->proc);
    pl_comm_break_link(engine, peer, died ? MPI_ERR_PROC_ABORTED : error, died ? NULL : why);
}
