/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin of delegated operations. See delegate.h. */
#include "core/rma/delegate.h"

#include <sched.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/cpu.h"
#include "core/base/error.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/rma/cma_copy.h"
#include "core/rma/delegate_target.h"
#include "core/rma/rma.h"
#include "core/rma/window_wait.h"

enum {
    DELEGATE_POLLS = 128,        /* of some 30 ns, for the target to begin */
    DELEGATE_POLLS_OWN = 4,      /* polls between checks for what others have delegated to this process */
    DELEGATE_BACKOFF = 63,       /* most runs and pages not delegated after a miss: the kernel takes as long for them */
    DELEGATE_PAGE = 4096,        /* bytes that cost the kernel as much as a run */
    DELEGATE_CHECK_TARGET = 256, /* polls between checks that the target is alive */
    DELEGATE_TARGET_MS = 30000,  /* most time for an operation, which takes microseconds */
};

/* A slot of this process, and what it has written there: the slot itself is shared memory, which others may damage. */
struct delegate_made {
    struct pl_delegated *slot;
    struct pl_delegated_head head;
    struct pl_delegated_run run[PL_DELEGATED_RUNS];
};

static void delegate_publish(struct pl_win *win, int rank, struct delegate_made *made)
{
    struct pl_delegated *slot = made->slot;
    win->memory.shared.written = win->memory.shared.bytes;
    slot->head = made->head;
    memcpy(slot->body, made->run, made->head.runs * sizeof *made->run);
    atomic_store_explicit(&slot->state, pl_delegated_made(rank), memory_order_release);
    atomic_fetch_or(&win->targets[rank].ctl->delegated, pl_win_bit(win->comm->rank));
}

/* Two ranks that delegate to each other must not wait for each other. */
static void delegate_take_own(struct pl_win *win)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    if (atomic_load_explicit(&pl_win_own_ctl(win)->delegated, memory_order_relaxed) == 0)
        return;
    pl_engine_enter(engine);
    pl_delegate_take(win);
    pl_engine_leave(engine);
}

/* The target has begun, and does not end: it has died or is stopped, or the slot's state is damaged. */
static int delegate_check_target(struct pl_win *win, int rank, int64_t *until)
{
    if (pl_win_is_failed(win, (uint32_t)rank))
        return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d in %s has ended", rank, pl_win_label(win));
    if (*until == 0)
        *until = pl_deadline_after_ms(DELEGATE_TARGET_MS);
    return !pl_deadline_passed(*until)
               ? MPI_SUCCESS
               : pl_fail(
                     MPI_ERR_OTHER,
                     "rank %d has been executing an operation on %s for %d s: it is stopped, or the window's shared "
                     "memory is damaged",
                     rank, pl_win_label(win), DELEGATE_TARGET_MS / 1000);
}

/* Waits for the end of a delegated operation if it begins within `most` polls. PL_AGAIN: it did not, and was taken
 * back. */
static int delegate_await(struct pl_win *win, int rank, struct pl_delegated *slot, int most)
{
    const uint32_t made = pl_delegated_made(rank);
    uint32_t state = made;
    int64_t until = 0;
    for (int polls = 0; polls < most && state == made; polls++) {
        pl_relax();
        if (polls % DELEGATE_POLLS_OWN == 0)
            delegate_take_own(win);
        state = atomic_load_explicit(&slot->state, memory_order_acquire);
    }
    if (state == made && atomic_compare_exchange_strong(&slot->state, &state, PL_DELEGATED_FREE))
        return PL_AGAIN;
    for (unsigned polls = 1; (state = atomic_load_explicit(&slot->state, memory_order_acquire)) == PL_DELEGATED_TAKEN;
         polls++) {
        if (polls < DELEGATE_POLLS)
            pl_relax();
        else
            sched_yield();
        int rc = polls % DELEGATE_CHECK_TARGET == 0 ? delegate_check_target(win, rank, &until) : MPI_SUCCESS;
        if (rc)
            return rc;
    }
    atomic_store_explicit(&slot->state, PL_DELEGATED_FREE, memory_order_relaxed);
    return state == PL_DELEGATED_DONE
               ? MPI_SUCCESS
               : pl_fail(MPI_ERR_RMA_RANGE, "rank %d no longer has that memory in %s", rank, pl_win_label(win));
}

/* Is delegation worth while for that much, after the last misses? Not where ranks share cores: the target would have to
 * run first. */
static bool delegate_is_promising(struct pl_win *win, int rank, int runs, size_t bytes)
{
    struct pl_win_target *target = &win->targets[rank];
    size_t cost = (size_t)runs + bytes / DELEGATE_PAGE;
    bool backoff = target->cma.backoff > 0;
    target->cma.backoff = (uint8_t)(target->cma.backoff > cost ? target->cma.backoff - cost : 0);
    return !backoff && !pl_engine_should_yield(&win->comm->instance->engine);
}

/* After a miss the doorbell wakes a target that sleeps in MPI, for the next time. */
static void delegate_learn(struct pl_win *win, int rank, bool taken)
{
    struct pl_win_target *target = &win->targets[rank];
    if (!taken) {
        pl_engine_enter(&win->comm->instance->engine);
        target->cma.endpoint->ops->ring(target->cma.endpoint);
        pl_engine_leave(&win->comm->instance->engine);
    }
    uint8_t missed = target->cma.missed;
    target->cma.missed = taken ? 0 : missed < DELEGATE_BACKOFF ? (uint8_t)(2 * missed + 1) : DELEGATE_BACKOFF;
    target->cma.backoff = target->cma.missed;
}

/* Puts or gets to delegate, one slot at a time: the rest of a batch, or of two layouts. */
struct delegate_work {
    bool write;
    struct pl_cma *cma;              /* a batch; NULL: layouts */
    struct pl_cursor *here, *there;  /* layouts */
    const struct pl_type_wire *wire; /* of `there` */
};

static size_t delegate_left(const struct delegate_work *work)
{
    return work->cma ? work->cma->bytes : work->there->total - work->there->done;
}

/* Executes a slot here, through the kernel, since the target has not. */
static int delegate_take_back(struct pl_win *win, int rank, const struct delegate_made *made,
                              const struct delegate_work *work)
{
    const struct pl_delegated_head *head = &made->head;
    struct iovec far[PL_DELEGATED_RUNS], near = { pl_delegate_data(made->slot, head), head->bytes };
    struct pl_cma cma = { .here = &near,
                          .here_count = 1,
                          .there = far,
                          .there_count = head->runs,
                          .bytes = head->bytes,
                          .write = work->write };
    if (!work->cma) {
        struct pl_cursor here, there = *work->there;
        pl_cursor_init(&here, near.iov_base, (MPI_Count)near.iov_len, PL_TYPE_BYTE);
        pl_cursor_seek(&there, head->start);
        return pl_cma_copy_layouts(win, rank, work->write, &here, &there, near.iov_len);
    }
    for (int i = 0; i < head->runs; i++)
        far[i] = (struct iovec){ (void *)(uintptr_t)made->run[i].at, made->run[i].bytes };
    return pl_cma_copy(win, rank, &cma);
}

/* Removes the next bytes, at most `most`, of one run from a list of runs. */
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

/* Copies between the user's buffers and a slot's data. */
static void delegate_copy_data(const struct delegate_work *work, unsigned char *data, size_t bytes)
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

static void delegate_add_run(struct delegate_made *made, void *at, size_t bytes)
{
    made->run[made->head.runs++] = (struct pl_delegated_run){ (uint64_t)(uintptr_t)at, bytes };
}

static void delegate_set_layout(struct delegate_made *made, const void *at, MPI_Count count,
                                const struct pl_type_wire *wire)
{
    made->head.at = (uint64_t)(uintptr_t)at;
    made->head.count = (uint64_t)count;
    made->head.layout = (uint32_t)wire->length;
    memcpy(made->slot->body, wire->bytes, wire->length);
}

/* Fills a slot with the next bytes. */
static void delegate_fill(struct delegate_made *made, const struct delegate_work *work)
{
    struct pl_cma *cma = work->cma;
    struct pl_delegated_head *head = &made->head;
    size_t left = delegate_left(work);
    *head = (struct pl_delegated_head){ .kind = work->write ? PL_RMA_PUT : PL_RMA_GET };
    if (!cma) {
        delegate_set_layout(made, work->there->base, work->there->count, work->wire);
        head->start = work->there->done;
        head->bytes = left < PL_DELEGATED_BYTES ? left : PL_DELEGATED_BYTES;
        work->there->done += head->bytes;
    }
    while (cma && cma->there_count > 0 && head->runs < PL_DELEGATED_RUNS && head->bytes < PL_DELEGATED_BYTES) {
        void *at;
        size_t bytes = delegate_consume(&cma->there, &cma->there_count, PL_DELEGATED_BYTES - head->bytes, &at);
        delegate_add_run(made, at, bytes);
        head->bytes += bytes;
        cma->bytes -= bytes;
    }
    if (work->write)
        delegate_copy_data(work, pl_delegate_data(made->slot, head), head->bytes);
}

/* Ends the oldest slot: data of gets is copied in the order of the slots. */
static int delegate_end(struct pl_win *win, int rank, const struct delegate_made *made,
                        const struct delegate_work *work, bool *attended)
{
    int rc = delegate_await(win, rank, made->slot, *attended ? DELEGATE_POLLS : 1);
    if (rc == PL_AGAIN) {
        *attended = false;
        rc = delegate_take_back(win, rank, made, work);
    }
    if (rc == MPI_SUCCESS && !work->write)
        delegate_copy_data(work, pl_delegate_data(made->slot, &made->head), made->head.bytes);
    return rc;
}

static int delegate_execute(struct pl_win *win, int rank, const struct delegate_work *work)
{
    struct delegate_made all[PL_DELEGATED_SLOTS];
    unsigned made = 0, ended = 0;
    bool attended = true;
    int rc = MPI_SUCCESS;
    for (;;) {
        bool more = delegate_left(work) > 0 && attended && rc == MPI_SUCCESS;
        struct delegate_made *next = &all[made % PL_DELEGATED_SLOTS], *oldest = &all[ended % PL_DELEGATED_SLOTS];
        if (more && made - ended < PL_DELEGATED_SLOTS) {
            next->slot = &pl_delegate_slots(pl_win_own_ctl(win))[made++ % PL_DELEGATED_SLOTS];
            delegate_fill(next, work);
            delegate_publish(win, rank, next);
        } else if (ended < made) {
            int failed = delegate_end(win, rank, oldest, work, &attended);
            ended++;
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
    const struct delegate_work work = { .write = cma->write, .cma = cma };
    return delegate_is_promising(win, rank, cma->there_count, cma->bytes) ? delegate_execute(win, rank, &work)
                                                                          : MPI_SUCCESS;
}

int pl_delegate_layout(struct pl_win *win, int rank, bool write, struct pl_cursor *here, struct pl_cursor *there,
                       const struct pl_type_wire *wire)
{
    const struct delegate_work work = { .write = write, .here = here, .there = there, .wire = wire };
    return delegate_is_promising(win, rank, DELEGATE_BACKOFF, 0) ? delegate_execute(win, rank, &work) : MPI_SUCCESS;
}

int pl_delegate_change(struct pl_win *win, int rank, const struct pl_rma_change *change, const struct iovec *runs,
                       int count, const struct pl_type_wire *wire)
{
    struct delegate_made made;
    struct pl_delegated_head *head = &made.head;
    size_t bytes = (size_t)(change->count * change->type->size);
    if (!delegate_is_promising(win, rank, count, bytes))
        return PL_AGAIN;
    made.slot = pl_delegate_slots(pl_win_own_ctl(win));
    *head = (struct pl_delegated_head){
        .kind = change->compare  ? PL_RMA_COMPARE_AND_SWAP
                : change->before ? PL_RMA_GET_ACCUMULATE
                                 : PL_RMA_ACCUMULATE,
        .op = (uint8_t)change->op->obj.abi,
        .type = (uint16_t)change->type->obj.abi,
        .result = change->before != NULL,
        .bytes = (change->data ? bytes : 0) + (change->compare ? bytes : 0),
    };
    for (int i = 0; i < count; i++)
        delegate_add_run(&made, runs[i].iov_base, runs[i].iov_len);
    if (wire)
        delegate_set_layout(&made, change->at, change->count, wire);
    unsigned char *data = pl_delegate_data(made.slot, head);
    if (change->data)
        memcpy(data, change->data, bytes);
    if (change->compare)
        memcpy(data + bytes, change->compare, bytes);
    delegate_publish(win, rank, &made);
    int rc = delegate_await(win, rank, made.slot, DELEGATE_POLLS);
    delegate_learn(win, rank, rc != PL_AGAIN);
    if (rc == MPI_SUCCESS && change->before)
        memcpy(change->before, data + head->bytes, bytes);
    return rc;
}
