/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin of offers. See delegate.h. Held: win->reaching. */
#include "core/rma/delegate.h"

#include <sched.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/error.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/rma/entry.h"

enum {
    LOOKS = 128,   /* of some 30 ns, for the target to take an offer */
    LOOKS_OWN = 4, /* between looks at what others offer meanwhile */
    SHY_MOST = 63, /* runs and pages that are not offered to who was not there: the kernel needs as long for them */
    PAGE = 4096,
    YIELDS_LOOK = 256,
};

static void delegate_make(struct pl_win *win, int rank, struct pl_delegated *delegated)
{
    delegated->target = rank;
    atomic_store_explicit(&delegated->state, PL_DELEGATED_MADE, memory_order_release);
    atomic_fetch_or(&win->targets[rank].ctl->delegated, pl_win_bit(win->comm->rank));
}

/* Who waits for others does what they wait for. */
static void look_at_own(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    if (atomic_load_explicit(&pl_rma_own_ctl(win)->delegated, memory_order_relaxed) == 0)
        return;
    pl_engine_enter(engine);
    pl_delegate_take(win);
    pl_engine_leave(engine);
}

/* Waits for the end of an offer, so many looks for its begin. PL_AGAIN: it was not taken, and is not to be had any
 * more. */
static int delegate_await(struct pl_win *win, int rank, struct pl_delegated *delegated, int most)
{
    uint32_t state = PL_DELEGATED_MADE;
    for (int polls = 0; polls < most && state == PL_DELEGATED_MADE; polls++) {
        pl_relax();
        if (polls % LOOKS_OWN == 0)
            look_at_own(win);
        state = atomic_load_explicit(&delegated->state, memory_order_acquire);
    }
    if (state == PL_DELEGATED_MADE && atomic_compare_exchange_strong(&delegated->state, &state, PL_DELEGATED_FREE))
        return PL_AGAIN;
    for (unsigned polls = 1;
         (state = atomic_load_explicit(&delegated->state, memory_order_acquire)) == PL_DELEGATED_TAKEN; polls++) {
        if (polls < LOOKS)
            pl_relax();
        else
            sched_yield();
        if (polls % YIELDS_LOOK == 0 && pl_rma_is_dead(win, (uint32_t)rank))
            return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d in %s is gone", rank, pl_win_label(win));
    }
    atomic_store_explicit(&delegated->state, PL_DELEGATED_FREE, memory_order_relaxed);
    return state == PL_DELEGATED_DONE
               ? MPI_SUCCESS
               : pl_fail(MPI_ERR_RMA_RANGE, "rank %d has no such memory in %s any more", rank, pl_win_label(win));
}

/* Was it worth while the last times, for so much? Not where ranks wait for each other's cores. */
static bool is_promising(struct pl_win *win, int rank, int runs, size_t bytes)
{
    struct pl_win_target *target = &win->targets[rank];
    size_t cost = (size_t)runs + bytes / PAGE;
    bool backoff = target->backoff > 0;
    target->backoff = (uint8_t)(target->backoff > cost ? target->backoff - cost : 0);
    return !backoff && !pl_engine_should_yield(&win->comm->instance->engine);
}

/* Who sleeps in MPI is woken for the next one. */
static void delegate_learn(struct pl_win *win, int rank, bool taken)
{
    struct pl_win_target *target = &win->targets[rank];
    if (!taken) {
        pl_engine_enter(&win->comm->instance->engine);
        target->cma->ops->ring(target->cma);
        pl_engine_leave(&win->comm->instance->engine);
    }
    target->missed = taken ? 0 : target->missed < SHY_MOST ? (uint8_t)(2 * target->missed + 1) : SHY_MOST;
    target->backoff = target->missed;
}

/* Puts or gets that are offered piece by piece: a batch, or layouts. */
struct work {
    bool write;
    struct pl_cma *cma;             /* NULL: */
    struct pl_cursor *here, *there; /* ... and where what comes next begins there */
    const struct pl_type_wire *wire;
};

static size_t left_of(const struct work *work)
{
    return work->cma ? work->cma->bytes : work->there->total - work->there->done;
}

/* What is in an offer, to be done here: by the kernel, from where it lies. */
static int do_own(struct pl_win *win, int rank, struct pl_delegated *delegated, const struct work *work)
{
    struct iovec far[PL_DELEGATED_RUNS], near = { pl_delegate_data(delegated), delegated->bytes };
    struct pl_cma cma = { .here = &near,
                          .here_count = 1,
                          .there = far,
                          .there_count = delegated->runs,
                          .bytes = delegated->bytes,
                          .write = work->write };
    if (!work->cma) {
        struct pl_cursor here, there = *work->there;
        pl_cursor_init(&here, near.iov_base, (MPI_Count)near.iov_len, PL_TYPE_BYTE);
        pl_cursor_seek(&there, delegated->start);
        return pl_cma_layouts(win, rank, work->write, &here, &there, near.iov_len);
    }
    for (int i = 0; i < delegated->runs; i++) {
        struct pl_delegated_run run;
        memcpy(&run, delegated->body + (size_t)i * sizeof run, sizeof run);
        far[i] = (struct iovec){ (void *)(uintptr_t)run.at, run.bytes };
    }
    return pl_cma_copy(win, rank, &cma);
}

/* The next bytes of a list of runs, at most `most`, which are taken out of it. */
static size_t delegate_consume(struct iovec **runs, int *count, size_t most, void **at)
{
    struct iovec *run = *runs;
    size_t bytes = run->iov_len < most ? run->iov_len : most;
    *at = run->iov_base;
    run->iov_base = (char *)run->iov_base + bytes;
    run->iov_len -= bytes;
    if (run->iov_len == 0) {
        ++*runs;
        --*count;
    }
    return bytes;
}

/* Between the buffers here and an offer's data. */
static void delegate_exchange(const struct work *work, unsigned char *data, size_t bytes)
{
    void *at;
    if (!work->cma && work->write)
        pl_cursor_pack(work->here, data, bytes);
    else if (!work->cma)
        pl_cursor_unpack(work->here, data, bytes);
    for (size_t run; work->cma && bytes > 0; bytes -= run, data += run) {
        run = delegate_consume(&work->cma->here, &work->cma->here_count, bytes, &at);
        if (work->write)
            memcpy(data, at, run);
        else
            memcpy(at, data, run);
    }
}

static void add_run(struct pl_delegated *delegated, void *at, size_t bytes)
{
    const struct pl_delegated_run run = { (uint64_t)(uintptr_t)at, bytes };
    memcpy(delegated->body + delegated->runs++ * sizeof run, &run, sizeof run);
}

static void set_layout(struct pl_delegated *delegated, const void *at, MPI_Count count, const struct pl_type_wire *wire)
{
    delegated->at = (uint64_t)(uintptr_t)at;
    delegated->count = (uint64_t)count;
    delegated->layout = (uint32_t)wire->length;
    memcpy(delegated->body, wire->bytes, wire->length);
}

/* The next bytes, as an offer. */
static void delegate_fill(struct pl_delegated *delegated, const struct work *work)
{
    struct pl_cma *cma = work->cma;
    size_t left = left_of(work);
    delegated->kind = work->write ? PL_RMA_PUT : PL_RMA_GET;
    delegated->runs = 0;
    delegated->bytes = 0;
    if (!cma) {
        set_layout(delegated, work->there->base, work->there->count, work->wire);
        delegated->start = work->there->done;
        delegated->bytes = left < PL_DELEGATED_BYTES ? left : PL_DELEGATED_BYTES;
        work->there->done += delegated->bytes;
    }
    while (cma && cma->there_count > 0 && delegated->runs < PL_DELEGATED_RUNS &&
           delegated->bytes < PL_DELEGATED_BYTES) {
        void *at;
        size_t bytes = delegate_consume(&cma->there, &cma->there_count, PL_DELEGATED_BYTES - delegated->bytes, &at);
        add_run(delegated, at, bytes);
        delegated->bytes += bytes;
        cma->bytes -= bytes;
    }
    if (work->write)
        delegate_exchange(work, pl_delegate_data(delegated), delegated->bytes);
}

/* The end of the oldest offer that is out. Data of gets is taken in this order. */
static int delegate_end(struct pl_win *win, int rank, struct pl_delegated *delegated, const struct work *work,
                        bool *attended)
{
    int rc = delegate_await(win, rank, delegated, *attended ? LOOKS : 1);
    if (rc == PL_AGAIN) {
        *attended = false;
        rc = do_own(win, rank, delegated, work);
    }
    if (rc == MPI_SUCCESS && !work->write)
        delegate_exchange(work, pl_delegate_data(delegated), delegated->bytes);
    return rc;
}

static int delegate_work(struct pl_win *win, int rank, const struct work *work)
{
    struct pl_delegated *places = pl_delegate_places(pl_rma_own_ctl(win));
    unsigned made = 0, ended = 0;
    bool attended = true;
    int rc = MPI_SUCCESS;
    for (;;) {
        bool more = left_of(work) > 0 && attended && rc == MPI_SUCCESS;
        if (more && made - ended < PL_DELEGATED_SLOTS) {
            delegate_fill(&places[made % PL_DELEGATED_SLOTS], work);
            delegate_make(win, rank, &places[made++ % PL_DELEGATED_SLOTS]);
        } else if (ended < made) {
            int failed = delegate_end(win, rank, &places[ended++ % PL_DELEGATED_SLOTS], work, &attended);
            rc = rc ? rc : failed;
        } else {
            break;
        }
    }
    delegate_learn(win, rank, attended);
    return rc;
}

int pl_delegate_batch(struct pl_win *win, int rank, struct pl_cma *cma)
{
    const struct work work = { .write = cma->write, .cma = cma };
    return is_promising(win, rank, cma->there_count, cma->bytes) ? delegate_work(win, rank, &work) : MPI_SUCCESS;
}

int pl_delegate_layout(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                       const struct pl_type_wire *wire)
{
    const struct work work = { .write = write, .here = here, .there = there, .wire = wire };
    return is_promising(win, rank, SHY_MOST, 0) ? delegate_work(win, rank, &work) : MPI_SUCCESS;
}

int pl_delegate_change(struct pl_win *win, int rank, const struct pl_rma_change *change, const struct iovec *runs,
                       int count, const struct pl_type_wire *wire)
{
    struct pl_delegated *delegated = pl_delegate_places(pl_rma_own_ctl(win));
    size_t bytes = (size_t)(change->count * change->type->size);
    if (!is_promising(win, rank, count, bytes))
        return PL_AGAIN;
    delegated->kind = change->compare  ? PL_RMA_COMPARE_AND_SWAP
                      : change->before ? PL_RMA_GET_ACCUMULATE
                                       : PL_RMA_ACCUMULATE;
    delegated->op = (uint8_t)change->op->obj.abi;
    delegated->type = (uint16_t)change->type->obj.abi;
    delegated->result = change->before != NULL;
    delegated->bytes = (change->data ? bytes : 0) + (change->compare ? bytes : 0);
    delegated->runs = 0;
    for (int i = 0; i < count; i++)
        add_run(delegated, runs[i].iov_base, runs[i].iov_len);
    if (wire)
        set_layout(delegated, change->at, change->count, wire);
    if (change->data)
        memcpy(pl_delegate_data(delegated), change->data, bytes);
    if (change->compare)
        memcpy(pl_delegate_data(delegated) + bytes, change->compare, bytes);
    delegate_make(win, rank, delegated);
    int rc = delegate_await(win, rank, delegated, LOOKS);
    delegate_learn(win, rank, rc != PL_AGAIN);
    if (rc == MPI_SUCCESS && change->before)
        memcpy(change->before, pl_delegate_data(delegated) + delegated->bytes, bytes);
    return rc;
}
