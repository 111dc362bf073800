/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listener's life, and which part of the library each of its messages is for.
 *
 * Locking: listener_lock for the opening. The process lock is held at the closing, when no instance is left to use the
 * listener, but not while others take its messages. An instance that opens meanwhile finds it withdrawn, and goes on
 * using it.
 */
#include "sessions/create/listener.h"

#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "mpi.h"

static struct pl_lock listener_lock = PL_LOCK_INIT(PL_RANK_REGISTRY);
static struct pl_engine listener_engine;
static bool listener_is_open;

static void listener_arrived(struct pl_engine *listener, const struct pl_origin *from, const struct pl_header *header,
                             const void *data)
{
    for (int i = 0; i < PL_LISTENER_CLIENTS && header->kind == PL_MSG_BROKEN; i++)
        if (pl_listener_clients[i].starved)
            pl_listener_clients[i].starved(data);
    for (int i = 0; i < PL_LISTENER_CLIENTS && header->kind == PL_MSG_LISTENER; i++)
        if (header->tag >= (int)pl_listener_clients[i].first && header->tag <= (int)pl_listener_clients[i].last)
            pl_listener_clients[i].arrived(listener, from, header, data);
}

static bool listener_holds(const struct pl_peer *peer)
{
    bool holds = false;
    for (int i = 0; i < PL_LISTENER_CLIENTS; i++)
        holds |= pl_listener_clients[i].holds(peer);
    return holds;
}

static bool listener_close(void)
{
    pl_engine_withdraw(&listener_engine);
    for (int i = 0; i < PL_LISTENER_CLIENTS; i++)
        if (pl_listener_clients[i].closing)
            pl_listener_clients[i].closing(&listener_engine);
    pl_engine_enter(&listener_engine);
    bool flushed = pl_engine_is_flushed(&listener_engine);
    pl_engine_leave(&listener_engine);
    if (!flushed)
        return false;
    pl_engine_close_flushed(&listener_engine);
    pl_lock_fini(&listener_engine.lock);
    for (int i = 0; i < PL_LISTENER_CLIENTS; i++)
        if (pl_listener_clients[i].closed)
            pl_listener_clients[i].closed();
    listener_is_open = false;
    return true;
}

static void listener_flush(void)
{
    pl_engine_flush(&listener_engine);
}

static const struct pl_process_closing listener_closing = { .close = listener_close, .flush = listener_flush };

static int listener_open_first(void)
{
    int rc = pl_engine_open(&listener_engine, NULL, MPI_THREAD_MULTIPLE, false);
    if (rc)
        return rc;
    listener_engine.arrived = listener_arrived;
    listener_engine.peers.holds = listener_holds;
    rc = pl_engine_publish(&listener_engine, PL_CARD_LISTENER);
    if (rc) {
        pl_engine_close(&listener_engine);
        pl_lock_fini(&listener_engine.lock);
        return rc;
    }
    listener_is_open = true;
    pl_process.closing = &listener_closing;
    return MPI_SUCCESS;
}

/* Another thread had begun to close it, and waits for its messages to be taken. */
static int listener_publish_again(void)
{
    pl_engine_enter(&listener_engine);
    int rc = listener_engine.outside.published ? MPI_SUCCESS : pl_engine_publish(&listener_engine, PL_CARD_LISTENER);
    pl_engine_leave(&listener_engine);
    return rc;
}

int pl_listener_open(struct pl_engine **listener)
{
    pl_lock_take(&listener_lock);
    int rc = listener_is_open ? listener_publish_again() : listener_open_first();
    pl_lock_drop(&listener_lock);
    if (rc == MPI_SUCCESS)
        *listener = &listener_engine;
    return rc;
}

int pl_listener_card(unsigned char card[PL_CARD_MAX], size_t *length)
{
    struct pl_engine *listener;
    int rc = pl_listener_open(&listener);
    if (rc == MPI_SUCCESS)
        *length = pl_engine_card(listener, card);
    return rc;
}

int pl_listener_peer(struct pl_engine *listener, int rank, struct pl_peer **peer)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    int rc = pl_engine_lookup(listener, PL_PROC(0, rank), PL_CARD_LISTENER, card, &length);
    return rc ? rc : pl_engine_peer(listener, card, length, PL_PROC(0, rank), peer);
}

void pl_listener_forget(struct pl_engine *listener, struct pl_peer *peer)
{
    for (int i = 0; i < PL_LISTENER_CLIENTS; i++)
        pl_listener_clients[i].forget(peer);
    pl_engine_forget(listener, peer);
}

int pl_listener_send(struct pl_engine *listener, struct pl_peer *peer, enum pl_listener_message message, uint64_t token,
                     const void *data, size_t size)
{
    struct pl_header header = { .kind = PL_MSG_LISTENER, .tag = (int)message, .token = token };
    return pl_engine_control(listener, peer, &header, data, size);
}

void pl_listener_wake(struct pl_engine *listener)
{
    if (atomic_load(&listener->wait.sleepers) > 0)
        pl_engine_wake(listener);
}

void pl_listener_idle(struct pl_engine *listener, struct pl_wait *wait)
{
    if (pl_engine_nudge_others(listener) > 0)
        wait->rounds = 0;
    pl_engine_idle(listener, wait);
}
