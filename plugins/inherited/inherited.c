/* SPDX-License-Identifier: BSD-3-Clause */
/* Bootstrap by inheritance: the job segment that the embedded launcher left open for this process. See rank_claim.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/transport.h"
#include "core/job/card.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/unable.h"
#include "plugins/inherited/job_map.h"
#include "plugins/inherited/rank_claim.h"

enum { NOTE_TRIES = 5000 }; /* a millisecond apart, to write a note into a pipe that is full */

/* --- several hosts ------------------------------------------------------------------------------------------- */

/* The ranks of this host as a list, and their number. */
static int inherited_find_neighbours(struct pl_identity *identity)
{
    size_t used = 0;
    identity->local_size = 0;
    pl_inherited.neighbours = pl_calloc((size_t)pl_inherited.job->size, 12);
    if (!pl_inherited.neighbours)
        return pl_fail_memory("the ranks of this host");
    for (uint32_t r = 0; r < pl_inherited.job->size; r++)
        if (pl_job_host_of(pl_inherited.job, r) == pl_inherited.job->host) {
            used += (size_t)sprintf(pl_inherited.neighbours + used, used ? ",%u" : "%u", (unsigned)r);
            identity->local_size++;
        }
    identity->local_ranks = pl_inherited.neighbours;
    return MPI_SUCCESS;
}

/* The slot of this rank has changed: the agent of this host passes it on to the other hosts. A pipe that is full has
 * notes that the agent will read after this change. */
static int inherited_tell_hosts(void)
{
    if (pl_inherited.job->hosts <= 1 ||
        pl_job_note_send(pl_inherited.job, &(struct pl_job_note){ .kind = PL_NOTE_SLOT, .rank = pl_inherited.held }) ||
        errno == EAGAIN)
        return MPI_SUCCESS;
    return pl_fail(
        MPI_ERR_OTHER,
        "cannot reach the agent of this host, process %d, through /proc: the processes of other hosts do not "
        "learn the address of this one",
        (int)pl_inherited.job->runtime_pid);
}

/* --- the identity -------------------------------------------------------------------------------------------- */

static int inherited_open(struct pl_identity *identity)
{
    int rank;
    int rc = pl_inherited_map(&rank);
    if (rc)
        return rc;
    int32_t holder = pl_inherited_claim(rank);
    rc = holder ? pl_fail(MPI_ERR_OTHER,
                          "rank %d of job %s is process %d, and this is another one, such as a program that a rank has "
                          "started: to run it alone, set PLENUM_ALONE=1",
                          rank, pl_inherited.job->nspace, (int)holder)
                : pl_inherited_settle(secure_getenv(PL_JOB_ENV));
    identity->local_size = (int)pl_inherited.job->size;
    if (rc == MPI_SUCCESS && pl_inherited.job->hosts > 1)
        rc = inherited_find_neighbours(identity);
    if (rc) {
        pl_inherited_unmap();
        return rc;
    }
    snprintf(identity->nspace, sizeof identity->nspace, "%s", pl_inherited.job->nspace);
    identity->key = pl_inherited.job->cookie;
    identity->rank = rank;
    identity->size = (int)pl_inherited.job->size;
    identity->appnum = pl_inherited.job->appnum
                           ? ((const int32_t *)((const char *)pl_inherited.job + pl_inherited.job->appnum))[rank]
                           : -1;
    identity->universe = (int)pl_inherited.job->universe;
    identity->slots = (int)pl_inherited.job->slots;
    identity->generation = pl_inherited.generation;
    identity->job = pl_inherited.job;
    identity->shared = pl_inherited.shared;
    identity->common = pl_inherited.common;
    identity->watched = pl_inherited.job->survives_failures;
    identity->apart = pl_inherited.apart;
    identity->hidden = pl_inherited.hidden;
    identity->confined = pl_inherited.confined;
    return MPI_SUCCESS;
}

static bool inherited_is_unable(const struct pl_job_rank *rank)
{
    uint32_t state = atomic_load(&rank->state);
    return state == PL_PROCESS_UNABLE || state == PL_PROCESS_GIVEN_UP;
}

static void inherited_close(void)
{
    pl_job_card_withdraw(&pl_inherited.own->card[PL_CARD_LISTENER]);
    if (!inherited_is_unable(pl_inherited.own))
        pl_job_card_withdraw(&pl_inherited.own->card[PL_CARD_WORLD]);
    atomic_store(&pl_inherited.own->owner, -(int32_t)getpid());
    inherited_tell_hosts();
    pl_inherited_unmap();
}

/* A new number, not 0, for a card of this process. */
static uint32_t inherited_number_card(enum pl_card_slot slot)
{
    uint32_t times = atomic_fetch_add(&pl_inherited.own->cards, 1), claim = pl_inherited.generation & PL_CARD_CLAIM;
    uint32_t number = slot == PL_CARD_LISTENER ? times : times << PL_CARD_CLAIM_BITS | claim;
    return number ? number : inherited_number_card(slot);
}

static int inherited_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    if (length == 0)
        pl_job_card_withdraw(&pl_inherited.own->card[slot]);
    else
        pl_job_card_write(&pl_inherited.own->card[slot], inherited_number_card(slot), card, length);
    return inherited_tell_hosts();
}

/* The World's card of a rank, or what is there in place of one. False: it has none for this claim. */
static bool inherited_read_world(int rank, void *card, size_t *length)
{
    uint32_t number = pl_job_card_read(&pl_inherited.shared->ranks[rank].card[PL_CARD_WORLD], card, length);
    return number != 0 && (number & PL_CARD_CLAIM) == (pl_inherited.generation & PL_CARD_CLAIM);
}

/* A rank that its owner has released is not dead: the next program of a script may claim it. */
static int inherited_alive(int rank)
{
    const struct pl_job_rank *peer = &pl_inherited.shared->ranks[rank];
    int32_t owner = atomic_load(&peer->owner);
    bool ended = atomic_load(&pl_job_told(pl_inherited.job, rank)->gone) ||
                 (owner > 0 && !pl_inherited_pid_is_foreign(rank) && !pl_inherited_process_lives(owner));
    return ended ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

/* For all ranks of the job, before the runtime can tell, or where it cannot: a script that started the process may go
 * on. */
static void inherited_mark_dead(struct pl_job_rank *rank, int32_t owner)
{
    if (atomic_load(&rank->owner) == owner && atomic_exchange(&rank->dead, owner) != owner)
        atomic_fetch_add(&pl_inherited.shared->found_dead, 1);
}

/* A process that has released its rank has not died: it departed, and may end while it is checked. So the owner is
 * read once more after that. Nor does the death of an earlier program of a script concern this one: the rank may claim
 * its place yet, unless what was started has failed. */
static bool inherited_died(int rank, bool asks)
{
    struct pl_job_rank *peer = &pl_inherited.shared->ranks[rank];
    uint32_t gone = atomic_load(&pl_job_told(pl_inherited.job, rank)->gone);
    if (atomic_load(&peer->claims) < pl_inherited.generation)
        return gone == PL_GONE_FAILED;
    int32_t owner = atomic_load(&peer->owner);
    if (owner > 0 && !gone && asks && atomic_load(&peer->dead) != owner && inherited_alive(rank) != MPI_SUCCESS)
        inherited_mark_dead(peer, owner);
    return owner > 0 && (gone || atomic_load(&peer->dead) == owner) && atomic_load(&peer->owner) == owner;
}

static uint32_t inherited_known_deaths(void)
{
    return atomic_load(&pl_inherited.shared->found_dead) + atomic_load(&pl_inherited.job->ended);
}

/* Has MPI_Init failed there? Then this process acts on it. */
static bool inherited_misses(int rank, struct pl_job_unable *unable)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    return inherited_read_world(rank, card, &length) && pl_job_unable_is(card, length, unable) &&
           pl_job_unable_settle(&pl_inherited.shared->ranks[rank]);
}

static enum pl_absence inherited_absence(int rank, char words[PL_DETAIL_MAX])
{
    const struct pl_job_rank *peer = &pl_inherited.shared->ranks[rank];
    uint32_t claims = atomic_load(&peer->claims);
    bool ended = atomic_load(&pl_job_told(pl_inherited.job, rank)->gone) !=
                 0; /* read before its state, which it cannot change then */
    struct pl_job_unable unable;
    if (claims > pl_inherited.generation) {
        snprintf(words, PL_DETAIL_MAX, "has ended or finalized: another program has its rank now");
    } else if (claims == pl_inherited.generation && atomic_load(&peer->state) == PL_PROCESS_FINALIZED) {
        snprintf(words, PL_DETAIL_MAX, "has finalized: it neither sends nor receives any more");
    } else if (inherited_died(rank, true)) {
        snprintf(words, PL_DETAIL_MAX, "has died");
        return PL_DIED;
    } else if (inherited_misses(rank, &unable)) {
        snprintf(words, PL_DETAIL_MAX, "takes no part, because its MPI_Init has failed: %s", unable.why);
        return PL_UNABLE;
    } else if (ended) {
        snprintf(words, PL_DETAIL_MAX, "has ended, and had not initialized MPI");
    } else {
        return PL_STAYS;
    }
    return PL_DEPARTED;
}

static int inherited_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    char words[PL_DETAIL_MAX];
    struct pl_job_unable unable;
    if (slot == PL_CARD_LISTENER) {
        if (pl_job_card_read(&pl_inherited.shared->ranks[rank].card[slot], card, length) != 0)
            return MPI_SUCCESS;
    } else if (inherited_read_world(rank, card, length) && !pl_job_unable_is(card, *length, &unable)) {
        return MPI_SUCCESS;
    }
    if (atomic_load(&pl_job_told(pl_inherited.job, rank)->gone))
        return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", rank);
    if (slot == PL_CARD_WORLD && inherited_absence(rank, words) != PL_STAYS)
        return pl_fail(MPI_ERR_PROC_ABORTED, "rank %d %s", rank, words);
    return PL_AGAIN;
}

/* Has another rank's process ended without having finalized or aborted? */
static bool inherited_other_died(int own_rank)
{
    for (uint32_t i = 0; i < pl_inherited.job->size; i++) {
        struct pl_job_rank *rank = &pl_inherited.shared->ranks[i];
        int32_t pid = atomic_load(&rank->owner);
        uint32_t at = atomic_load(&rank->state);
        if ((int)i != own_rank && pid > 0 && !pl_inherited_pid_is_foreign((int)i) && at != PL_PROCESS_FINALIZED &&
            at != PL_PROCESS_ABORTED && !pl_inherited_process_lives(pid))
            return true;
    }
    return false;
}

/* If this process aborts because another rank died, the user must see that death, not its consequence. So this process
 * waits, for up to a second, for the launcher to report the death and end the job. Of a rank on another host only the
 * lost connection is known. */
static void inherited_wait_for_launcher(int rank, int code)
{
    bool far = pl_inherited.job->hosts > 1 && code == MPI_ERR_PROC_ABORTED;
    for (int i = 0; i < 50 && (far || inherited_other_died(rank)); i++)
        pl_clock_sleep_ns(20 * PL_NS_PER_MS);
}

/* Marks a rank of this job as aborted with this process; the runtime reads that when this process has ended. */
static bool aborting_some;
static void inherited_mark_aborting(int rank)
{
    aborting_some = true;
    atomic_store(&pl_inherited.common->ranks[rank].must_end, 1);
}

static void inherited_tell(int rank, int code, const char *object, const char *message)
{
    struct pl_job_abort *record = &pl_inherited.common->abort;
    if (pl_inherited.shared) {
        inherited_wait_for_launcher(rank, code);
        atomic_store(&pl_inherited.shared->ranks[rank].state, PL_PROCESS_ABORTED);
    }
    atomic_store(&pl_inherited.common->ranks[rank].state, PL_PROCESS_ABORTED);
    if (atomic_exchange(&record->claimed, 1) != 0)
        return; /* another rank was first: the job reports its reason */
    record->partial = aborting_some;
    record->rank = rank;
    record->code = code;
    snprintf(record->object, sizeof record->object, "%s", object ? object : "");
    snprintf(record->message, sizeof record->message, "%s", message ? message : "");
    atomic_store_explicit(&record->set, 1, memory_order_release);
}

static void inherited_abort(int code, const char *object, const char *message)
{
    inherited_tell(pl_process.identity.rank, code, object, message);
}

static bool inherited_abort_early(int code, const char *object, const char *message)
{
    int rank;
    if (pl_inherited_map(&rank))
        return false;
    bool ours = !pl_inherited_is_taken(&pl_inherited.common->ranks[rank],
                                       atomic_load(&pl_inherited.common->ranks[rank].process), (int32_t)getpid());
    if (ours)
        inherited_tell(rank, code, object, message);
    pl_inherited_unmap();
    return ours;
}

static void inherited_state(enum pl_process_state state)
{
    atomic_store(&pl_inherited.own->state, (uint32_t)state);
    if (state == PL_PROCESS_FINALIZED)
        inherited_tell_hosts();
}

/* --- MPI_Init fails ------------------------------------------------------------------------------------------- */

/* A pipe that is full is read soon. */
static void inherited_tell_parents(void)
{
    struct pl_job_note note = { .kind = PL_NOTE_UNABLE, .rank = pl_inherited.held };
    for (int tries = 0; tries < NOTE_TRIES && !pl_job_note_send(pl_inherited.job, &note) && errno == EAGAIN; tries++)
        pl_clock_sleep_ns(PL_NS_PER_MS);
}

/* The card is withdrawn before the state says that it is another one, and written afterwards. */
static void inherited_mark_unable(int class, const char *why)
{
    struct pl_job_unable unable = pl_job_unable(why, class == MPI_ERR_PROC_ABORTED);
    pl_job_card_withdraw(&pl_inherited.own->card[PL_CARD_WORLD]);
    /* A process of another host that acts on it cannot say so here. */
    atomic_store(&pl_inherited.own->state, pl_inherited.job->hosts > 1 ? PL_PROCESS_GIVEN_UP : PL_PROCESS_UNABLE);
    inherited_publish(PL_CARD_WORLD, &unable, sizeof unable);
    if (pl_inherited.shared == pl_inherited.common && pl_inherited.job->parent)
        inherited_tell_parents();
}

static int inherited_begin_again(void)
{
    uint32_t unable = PL_PROCESS_UNABLE;
    if (!pl_inherited.shared || atomic_compare_exchange_strong(&pl_inherited.own->state, &unable, PL_PROCESS_STARTED) ||
        unable != PL_PROCESS_GIVEN_UP)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER, "it has failed in this process before, and other processes have been told: they wait "
                                  "for this one no more");
}

static int inherited_unable(int class, const char *why)
{
    struct pl_identity identity;
    if (class == MPI_SUCCESS)
        return inherited_begin_again();
    bool opened = pl_inherited.shared != NULL;
    int rc = opened ? MPI_SUCCESS : inherited_open(&identity);
    if (rc)
        return rc; /* this process is not the rank's, or cannot find out */
    if (!inherited_is_unable(pl_inherited.own))
        inherited_mark_unable(class, why);
    if (!opened)
        inherited_close();
    return MPI_SUCCESS;
}

const struct pl_bootstrap_ops pl_bootstrap_inherited = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "inherited",
    .open = inherited_open,
    .close = inherited_close,
    .publish = inherited_publish,
    .lookup = inherited_lookup,
    .abort = inherited_abort,
    .abort_also = inherited_mark_aborting,
    .state = inherited_state,
    .alive = inherited_alive,
    .died = inherited_died,
    .known_deaths = inherited_known_deaths,
    .absence = inherited_absence,
    .unable = inherited_unable,
    .abort_early = inherited_abort_early,
};
