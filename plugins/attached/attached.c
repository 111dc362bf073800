/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap of a process that is attached to a pool (core/job/attach.h). Its rank and the cards of its machine are
 * in the pool's segment, and those of other machines in the seat.
 *
 * A pool has no launcher. A process that aborts prints the reason, and the other members notice that it has died.
 */
#include <sched.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/job/attach.h"
#include "core/job/attach_file.h"
#include "core/job/card.h"
#include "core/job/process.h"

static struct pl_seat seat = { .fd = -1, .rank = -1 };

static int attached_open(struct pl_identity *identity)
{
    cpu_set_t cpus;
    int rc = pl_attach_take(&seat);
    if (rc)
        return rc;
    snprintf(identity->nspace, sizeof identity->nspace, "%s", seat.job->nspace);
    identity->key = seat.job->cookie;
    identity->rank = seat.rank;
    identity->size = identity->universe = (int)seat.job->size;
    identity->local_size = seat.far ? seat.far->local_size : identity->size;
    identity->local_ranks = seat.far ? seat.far->local_ranks : NULL;
    identity->slots = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 0;
    identity->generation = 1;
    identity->job = seat.job;
    identity->shared = identity->common = seat.shared;
    identity->attached = identity->watched = true;
    return MPI_SUCCESS;
}

static void attached_close(void)
{
    pl_seat_leave(&seat);
}

static int attached_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    struct pl_job_rank *own = &seat.shared->ranks[seat.rank];
    struct pl_job_card *to = &own->card[slot];
    uint32_t number = atomic_fetch_add(&own->cards, 1) + 1;
    if (length)
        pl_job_card_write(to, number ? number : atomic_fetch_add(&own->cards, 1) + 1, card, length);
    else
        pl_job_card_withdraw(to);
    return MPI_SUCCESS;
}

static int attached_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    return pl_seat_card(&seat, rank, slot, card, length);
}

static void attached_abort(int code, const char *object, const char *message)
{
    (void)code, (void)object;
    fprintf(stderr, "%s\n", message);
}

static void attached_state(enum pl_process_state state)
{
    atomic_store(&seat.shared->ranks[seat.rank].state, (uint32_t)state);
}

static int attached_alive(int rank)
{
    return pl_seat_alive(&seat, rank);
}

static uint32_t attached_deaths(int rank)
{
    return pl_seat_deaths(&seat, rank);
}

const struct pl_bootstrap_ops pl_bootstrap_attached = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "attached",
    .open = attached_open,
    .close = attached_close,
    .publish = attached_publish,
    .lookup = attached_lookup,
    .abort = attached_abort,
    .state = attached_state,
    .alive = attached_alive,
    .deaths = attached_deaths,
};
