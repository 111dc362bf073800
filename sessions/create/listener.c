/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door's life. Locking: opening under a lock of its own; closing when no instance is left to use it. */
#include "sessions/create/listener.h"

#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "mpi.h"
#include "sessions/port/parts.h"

static struct pl_lock listener_lock = PL_LOCK_INIT(PL_RANK_REGISTRY);
static struct pl_engine listener_engine;
static bool listener_is_open;

/* The process lock is held. */
static void close_listener(void)
{
    pl_process_publish(PL_CARD_LISTENER, NULL, 0);
    pl_ports_close(&listener_engine);
    pl_engine_close(&listener_engine);
    pl_ports_forget();
    pl_lock_fini(&listener_engine.lock);
    pl_exchange_forget_early();
    listener_is_open = false;
}

int pl_listener_open(void (*arrived)(struct pl_engine *, const struct pl_origin *, const struct pl_header *,
                                     const void *),
                     struct pl_engine **listener)
{
    int rc = MPI_SUCCESS;
    pl_lock_take(&listener_lock);
    if (!listener_is_open) {
        rc = pl_engine_open(&listener_engine, NULL, MPI_THREAD_MULTIPLE);
        if (rc)
            goto out;
        listener_engine.arrived = arrived;
        rc = pl_process_publish(PL_CARD_LISTENER, listener_engine.card, listener_engine.card_length);
        if (rc) {
            pl_engine_close(&listener_engine);
            pl_lock_fini(&listener_engine.lock);
            goto out;
        }
        listener_is_open = true;
        pl_process.closing = close_listener;
    }
    *listener = &listener_engine;
out:
    pl_lock_drop(&listener_lock);
    return rc;
}

int pl_listener_peer(struct pl_engine *listener, int rank, struct pl_peer **peer)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    int rc = pl_process_lookup(PL_PROC(0, rank), PL_CARD_LISTENER, card, &length);
    return rc ? rc : pl_engine_peer(listener, card, length, PL_PROC(0, rank), peer);
}

void pl_listener_idle(struct pl_engine *listener, struct pl_wait *wait)
{
    if (pl_engine_nudge_others(listener) > 0)
        wait->rounds = 0;
    pl_engine_idle(listener, wait);
}
