/* SPDX-License-Identifier: BSD-3-Clause */
/* See span_slots.h. What ranks write is read once and bounded. */
#include "world/runtime/job/span_slots.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/job/card.h"
#include "world/runtime/hosts/host_wire.h"

/* What the other hosts know of a rank. */
struct pl_slot_seen {
    int32_t owner;
    uint32_t claims, state;
    uint32_t card[PL_CARD_SLOTS]; /* generations */
    bool must_end;
};

/* ... and of a tenant's ranks. */
struct pl_slots_seen {
    uint64_t key;              /* that its place had; 0: the first tenant's */
    struct pl_slot_seen *rank; /* [desc.size] */
};

struct slots_card {
    uint32_t generation;
    size_t length;
    unsigned char data[PL_CARD_MAX];
};

static bool slots_are_shared(const struct plenum_job *job)
{
    return pl_job_is_part(job) && job->launch.span->hosts > 1 && job->segment && job->runtime->agent;
}

static bool slots_has_changed(const struct pl_job_rank *slot, const struct pl_slot_seen *seen)
{
    bool changed = atomic_load(&slot->owner) != seen->owner || atomic_load(&slot->claims) != seen->claims ||
                   atomic_load(&slot->state) != seen->state;
    for (int c = 0; c < PL_CARD_SLOTS; c++)
        changed |= atomic_load(&slot->card[c].generation) != seen->card[c];
    return changed;
}

/* The cards are read before the rest: a rank that releases its slot withdraws them first. */
static void slots_send(struct plenum_job *job, const struct pl_job_rank *slot, uint32_t rank, uint64_t key,
                       struct pl_slot_seen *seen)
{
    struct slots_card card[PL_CARD_SLOTS];
    for (int c = 0; c < PL_CARD_SLOTS; c++) {
        card[c].length = 0;
        seen->card[c] = card[c].generation = pl_job_card_read(&slot->card[c], card[c].data, &card[c].length);
    }
    seen->owner = atomic_load(&slot->owner);
    seen->claims = atomic_load(&slot->claims);
    seen->state = atomic_load(&slot->state);
    struct pl_writer *to = pl_wire_begin(job->runtime->agent, PL_FRAME_SLOT, job->launch.span->id);
    pl_write_u32(to, rank);
    pl_write_u64(to, key);
    pl_write_i32(to, seen->owner);
    pl_write_u32(to, seen->claims);
    pl_write_u32(to, seen->state);
    for (int c = 0; c < PL_CARD_SLOTS; c++) {
        pl_write_u32(to, card[c].generation);
        pl_write_blob(to, card[c].data, card[c].generation ? card[c].length : 0);
    }
    pl_wire_end(job->runtime->agent);
}

static void slots_send_doomed(struct plenum_job *job, uint32_t rank, struct pl_slot_seen *seen)
{
    seen->must_end = true;
    pl_write_u32(pl_wire_begin(job->runtime->agent, PL_FRAME_DOOMED, job->launch.span->id), rank);
    pl_wire_end(job->runtime->agent);
}

/* What the other hosts know of the tenant with this key, which is at place `tenant` here. NULL: out of memory. */
static struct pl_slot_seen *slots_seen(struct plenum_job *job, uint32_t tenant, uint64_t key)
{
    struct pl_slots_seen *seen = &job->launch.span->seen[tenant];
    size_t ranks = (size_t)job->desc.size;
    if (!seen->rank)
        seen->rank = pl_calloc(ranks, sizeof *seen->rank);
    else if (seen->key != key)
        memset(seen->rank, 0, ranks * sizeof *seen->rank);
    seen->key = key;
    return seen->rank;
}

static void slots_check_tenant(struct plenum_job *job, uint32_t tenant)
{
    uint64_t key = tenant ? atomic_load(&job->shared->tenant[tenant]) : 0;
    struct pl_slot_seen *seen = tenant == 0 || key ? slots_seen(job, tenant, key) : NULL;
    const struct pl_job_shared *part = pl_job_part(job->segment, job->shared, tenant);
    for (int r = 0; seen && r < job->desc.size; r++) {
        const struct pl_job_rank *slot = &part->ranks[r];
        if (pl_job_is_here(job, r) && slots_has_changed(slot, &seen[r]))
            slots_send(job, slot, (uint32_t)r, key, &seen[r]);
        else if (!pl_job_is_here(job, r) && tenant == 0 && atomic_load(&slot->must_end) && !seen[r].must_end)
            slots_send_doomed(job, (uint32_t)r, &seen[r]);
    }
}

void pl_slots_check(struct plenum_job *job)
{
    struct pl_span *span = job->launch.span;
    if (!slots_are_shared(job))
        return;
    if (!span->seen)
        span->seen = pl_calloc(PL_JOB_TENANTS, sizeof *span->seen);
    for (uint32_t t = 0; span->seen && t < job->segment->tenants; t++)
        slots_check_tenant(job, t);
}

void pl_slots_forget(struct plenum_job *job)
{
    struct pl_span *span = job->launch.span;
    if (!span || !span->seen)
        return;
    for (int t = 0; t < PL_JOB_TENANTS; t++)
        free(span->seen[t].rank);
    free(span->seen);
    span->seen = NULL;
}

/* --- from other hosts ------------------------------------------------------------------------------------------ */

static bool slots_is_remote(const struct plenum_job *job, uint32_t rank)
{
    return slots_are_shared(job) && rank < (uint32_t)job->desc.size && !pl_job_is_here(job, (int)rank);
}

void pl_slots_write(struct plenum_job *job, struct pl_reader *from)
{
    uint32_t rank = pl_read_u32(from);
    uint64_t key = pl_read_u64(from);
    int32_t owner = pl_read_i32(from);
    uint32_t claims = pl_read_u32(from), state = pl_read_u32(from);
    if (from->failed || !slots_is_remote(job, rank))
        return;
    int tenant = key ? pl_job_enter_tenant(job->shared, job->segment->tenants, key) : 0;
    if (tenant < 0)
        return; /* no copy of this host can have the name, either */
    struct pl_job_rank *slot = &pl_job_part(job->segment, job->shared, (uint32_t)tenant)->ranks[rank];
    for (int c = 0; c < PL_CARD_SLOTS; c++) {
        size_t length;
        uint32_t generation = pl_read_u32(from);
        const unsigned char *data = pl_read_blob(from, PL_CARD_MAX, &length);
        if (!data || generation == 0)
            pl_job_card_withdraw(&slot->card[c]);
        else if (generation != atomic_load(&slot->card[c].generation))
            pl_job_card_write(&slot->card[c], generation, data, length);
    }
    atomic_store(&slot->claims, claims);
    atomic_store(&slot->state, state);
    atomic_store(&slot->owner, owner);
}

void pl_slots_gone(struct plenum_job *job, struct pl_reader *from)
{
    uint32_t rank = pl_read_u32(from), how = pl_read_u8(from);
    if (!from->failed && slots_is_remote(job, rank))
        pl_job_tell_gone(job->segment, (int)rank, how == PL_GONE_FAILED ? PL_GONE_FAILED : PL_GONE_ENDED);
}
