/* SPDX-License-Identifier: BSD-3-Clause */
/* The remote path. See path_remote.h. */
#include "core/rma/path_remote.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/engine/comm_break.h"
#include "core/engine/instance.h"
#include "core/engine/request.h"
#include "core/rma/message_response.h"
#include "core/rma/rma.h"
#include "core/rma/window.h"
#include "core/rma/window_wait.h"

/* A put, get or flush under way. */
struct remote_transfer {
    struct pl_moving transfer;
    struct pl_win *win;
    int rank;
    struct pl_request *user; /* completed with it; NULL: none */
};

/* --- keys -------------------------------------------------------------------------------------------------------- */

static const struct pl_transport_ops *remote_find_transport(const struct pl_engine *engine, void **self)
{
    for (int i = 0; i < engine->transports; i++)
        if (engine->transport[i].ops->expose) {
            *self = engine->transport[i].self;
            return engine->transport[i].ops;
        }
    return NULL;
}

void pl_win_remote_init(struct pl_win *win, struct pl_win_card *own)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_remote_window *remote = &win->memory.remote;
    bool fixed = win->flavor == MPI_WIN_FLAVOR_CREATE || win->flavor == MPI_WIN_FLAVOR_ALLOCATE;
    if (!fixed || win->comm->size == 1 || win->size == 0)
        return;
    pl_engine_enter(engine);
    const struct pl_transport_ops *ops = remote_find_transport(engine, &remote->self);
    if (ops && ops->expose(remote->self, win->base, (size_t)win->size, &remote->exposed) == MPI_SUCCESS) {
        remote->ops = ops;
        own->key = (uint32_t)remote->exposed.key_length;
    }
    pl_engine_leave(engine);
}

static size_t remote_longest_key(const struct pl_win_card *cards, int count)
{
    size_t longest = 0;
    for (int i = 0; i < count; i++)
        longest = cards[i].key > longest ? cards[i].key : longest;
    return longest;
}

int pl_win_remote_exchange(struct pl_win *win, struct pl_comm *parent, const struct pl_win_card *cards)
{
    struct pl_remote_window *remote = &win->memory.remote;
    int size = win->comm->size;
    size_t longest = remote_longest_key(cards, size);
    if (longest == 0)
        return MPI_SUCCESS;
    if (longest > PL_EXPOSED_KEY)
        return pl_fail(MPI_ERR_INTERN, "the key of a window's memory is damaged");
    remote->longest = longest;
    remote->keys = pl_calloc((size_t)size, longest);
    if (!remote->keys)
        return pl_fail_memory("the keys of a window");
    for (int i = 0; i < size; i++) {
        win->targets[i].remote.base = cards[i].base;
        win->targets[i].remote.key_length = cards[i].key;
    }
    return pl_allgather(parent, remote->exposed.key, (MPI_Count)longest, PL_TYPE_BYTE, remote->keys, (MPI_Count)longest,
                        PL_TYPE_BYTE);
}

void pl_win_remote_choose(struct pl_win *win)
{
    for (int i = 0; i < win->comm->size; i++)
        if (i != win->comm->rank && win->targets[i].remote.key_length > 0 &&
            win->targets[i].path == &pl_rma_path_message)
            win->targets[i].path = &pl_rma_path_remote;
}

void pl_win_remote_fini(struct pl_win *win)
{
    struct pl_remote_window *remote = &win->memory.remote;
    bool open = win->comm->instance->engine.state != PL_ENGINE_CLOSED;
    for (int i = 0; win->targets && i < win->comm->size; i++) {
        struct pl_remote_target *target = &win->targets[i].remote;
        if (target->imported && open)
            target->ops->forget(target->imported);
        target->imported = NULL;
    }
    if (remote->ops && open)
        remote->ops->conceal(remote->self, &remote->exposed);
    remote->ops = NULL;
    free(remote->keys);
    remote->keys = NULL;
}

/* --- transfers --------------------------------------------------------------------------------------------------- */

/* Engine lock held. */
static void remote_done(struct pl_moving *transfer, int error)
{
    struct remote_transfer *done = PL_CONTAINER(transfer, struct remote_transfer, transfer);
    struct pl_win *win = done->win;
    win->msg.in_flight--;
    win->targets[done->rank].remote.pending--;
    if (done->user)
        pl_request_complete(done->user, error);
    else if (error)
        pl_win_note_fault(win, done->rank, &(struct pl_win_fault){ .class = error });
    free(done);
    pl_win_wake(win);
}

static struct remote_transfer *remote_create(struct pl_win *win, int rank, bool wants_request)
{
    struct remote_transfer *made = pl_calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->transfer.done = remote_done;
    made->win = win;
    made->rank = rank;
    if (!wants_request)
        return made;
    made->user = pl_request_create(PL_REQ_RMA, win->comm, NULL, false);
    if (!made->user) {
        free(made);
        return NULL;
    }
    made->user->args.peer_rank = rank;
    made->user->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
    return made;
}

static void remote_drop(struct remote_transfer *transfer)
{
    if (transfer->user)
        pl_handle_drop(transfer->user);
    free(transfer);
}

/* Is the lock there, if the epoch needs one? Engine lock held. */
static bool remote_is_locked(const struct pl_win *win, const struct pl_remote_target *target)
{
    return atomic_load(&win->epoch.access) != PL_ACCESS_LOCK_ALL || win->epoch.unchecked || target->granted;
}

/* The target's endpoint, with its key imported; NULL: it cannot be used yet, or not at all. Engine lock held. */
static struct pl_endpoint *remote_endpoint(struct pl_win *win, int rank)
{
    struct pl_remote_target *target = &win->targets[rank].remote;
    struct pl_peer *peer = pl_comm_peer(win->comm, rank);
    struct pl_endpoint *endpoint = peer && !peer->error ? peer->endpoint : NULL;
    if (!endpoint || !endpoint->ops->move || target->key_length == 0)
        return NULL;
    if (target->imported)
        return endpoint;
    const unsigned char *key = win->memory.remote.keys + (size_t)rank * win->memory.remote.longest;
    int rc = endpoint->ops->import(endpoint, key, target->key_length, &target->imported);
    if (rc == PL_UNREACHABLE)
        target->key_length = 0;
    target->ops = endpoint->ops;
    return rc == MPI_SUCCESS ? endpoint : NULL;
}

/* Starts a transfer; completes or drops it unless it is under way. PL_AGAIN: it has to be a message. */
static int remote_start(struct remote_transfer *made, const struct pl_move *wanted, struct pl_request **request)
{
    struct pl_win *win = made->win;
    struct pl_remote_target *target = &win->targets[made->rank].remote;
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_request *user = made->user;
    pl_engine_enter(engine);
    struct pl_endpoint *endpoint = remote_is_locked(win, target) ? remote_endpoint(win, made->rank) : NULL;
    struct pl_move move = *wanted;
    move.imported = target->imported;
    int rc = endpoint ? endpoint->ops->move(endpoint, &move, &made->transfer) : PL_AGAIN;
    if (rc == MPI_SUCCESS || rc == PL_PENDING)
        target->dirty = true;
    if (rc == PL_PENDING) {
        win->msg.in_flight++;
        target->pending++;
    }
    pl_engine_leave(engine);
    if (rc == PL_PENDING) {
        if (request)
            *request = user;
        return MPI_SUCCESS;
    }
    remote_drop(made);
    return rc;
}

/* `near`: of the origin; NULL: it has gaps. `by_message`: does it where a transfer cannot. */
static int remote_operate(const struct pl_rma *rma, int64_t offset, struct pl_request **request, char *near,
                          int (*by_message)(const struct pl_rma *, int64_t, struct pl_request **))
{
    struct pl_win *win = rma->win;
    struct pl_cursor there;
    uint64_t at = win->targets[rma->target].remote.base + (uint64_t)offset;
    pl_cursor_init(&there, (void *)(uintptr_t)at, rma->count, rma->type);
    char *far = pl_cursor_direct(&there);
    if (!near || !far)
        return by_message(rma, offset, request);
    struct remote_transfer *made = remote_create(win, rma->target, request != NULL);
    if (!made)
        return pl_fail_memory("a one-sided operation");
    struct pl_move move = {
        .here = near,
        .there = (uint64_t)(uintptr_t)far,
        .bytes = there.total,
        .write = rma->kind == PL_RMA_PUT,
    };
    int rc = remote_start(made, &move, request);
    return rc == PL_AGAIN ? by_message(rma, offset, request) : rc;
}

static int remote_put(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct pl_cursor here;
    pl_cursor_init(&here, rma->origin, rma->origin_count, rma->origin_type);
    return remote_operate(rma, offset, request, pl_cursor_direct(&here), pl_rma_path_message.put);
}

static int remote_get(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    struct pl_cursor here;
    pl_cursor_init(&here, rma->result, rma->result_count, rma->result_type);
    return remote_operate(rma, offset, request, pl_cursor_direct(&here), pl_rma_path_message.get);
}

static int remote_accumulate(const struct pl_rma *rma, int64_t offset, struct pl_request **request)
{
    return pl_rma_path_message.accumulate(rma, offset, request);
}

/* --- flushes and locks ------------------------------------------------------------------------------------------ */

static bool remote_is_settled(struct pl_win *win, int rank)
{
    return win->targets[rank].remote.pending == 0;
}

/* Asks the transport to say when all transfers are complete at the target. Engine lock held. */
static int remote_flush(struct pl_win *win, int rank)
{
    struct pl_remote_target *target = &win->targets[rank].remote;
    struct pl_endpoint *endpoint = remote_endpoint(win, rank);
    if (!endpoint)
        return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d in %s has ended", rank, pl_win_label(win));
    struct remote_transfer *made = remote_create(win, rank, false);
    if (!made)
        return pl_fail_memory("a flush of a window");
    int rc = endpoint->ops->complete(endpoint, &made->transfer);
    if (rc == PL_PENDING) {
        win->msg.in_flight++;
        target->pending++;
    } else {
        free(made);
    }
    return rc == PL_PENDING ? MPI_SUCCESS : rc;
}

/* Waits for the transfers. They are complete at the target then, so that messages may follow which say so. */
static int remote_drain(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_remote_target *target = &win->targets[rank].remote;
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    bool waits = target->dirty || target->pending > 0;
    if (target->dirty)
        rc = remote_flush(win, rank);
    target->dirty = false;
    pl_engine_leave(engine);
    return rc || !waits ? rc : pl_win_await(win, rank, NULL, remote_is_settled);
}

static int remote_request_flush(struct pl_win *win, int rank)
{
    return pl_rma_path_message.request_flush(win, rank);
}

/* A lock of MPI_Win_lock_all() has been granted when the target has answered behind it. */
static int remote_wait_flush(struct pl_win *win, int rank)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    struct pl_win_target *target = &win->targets[rank];
    int rc = pl_rma_path_message.wait_flush(win, rank);
    pl_engine_enter(engine);
    target->remote.granted = rc == MPI_SUCCESS && target->locked && !target->msg.dirty;
    pl_engine_leave(engine);
    return rc;
}

static int remote_wait_local(struct pl_win *win, int rank)
{
    return pl_rma_path_message.wait_local(win, rank);
}

static int remote_lock(struct pl_win *win, int rank, int type)
{
    return pl_rma_path_message.lock(win, rank, type);
}

static int remote_unlock(struct pl_win *win, int rank)
{
    return pl_rma_path_message.unlock(win, rank);
}

const struct pl_rma_path pl_rma_path_remote = {
    .name = "remote",
    .by_target = true,
    .put = remote_put,
    .get = remote_get,
    .accumulate = remote_accumulate,
    .drain = remote_drain,
    .request_flush = remote_request_flush,
    .wait_flush = remote_wait_flush,
    .wait_local = remote_wait_local,
    .lock = remote_lock,
    .unlock = remote_unlock,
};
