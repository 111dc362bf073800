/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door's life. Locking: opening under a lock of its own; closing when no instance is left to use it. */
#include "sessions/create/listener.h"

#include "core/job/process.h"
#include "mpi.h"
#include "sessions/port/parts.h"

static struct pl_lock door_lock = PL_LOCK_INIT(PL_RANK_REGISTRY);
static struct pl_engine door_engine;
static bool door_is_open;

/* The process lock is held. */
static void close_door(void)
{
    pl_process_publish(PL_CARD_DOOR, NULL, 0);
    pl_ports_close(&door_engine);
    pl_engine_close(&door_engine);
    pl_ports_forget();
    pl_lock_fini(&door_engine.lock);
    pl_meeting_forget_early();
    door_is_open = false;
}

int pl_door_open(void (*arrived)(struct pl_engine *, const struct pl_origin *, const struct pl_header *, const void *),
                 struct pl_engine **door)
{
    int rc = MPI_SUCCESS;
    pl_lock_take(&door_lock);
    if (!door_is_open) {
        rc = pl_engine_open(&door_engine, NULL, MPI_THREAD_MULTIPLE);
        if (rc)
            goto out;
        door_engine.door_arrived = arrived;
        rc = pl_process_publish(PL_CARD_DOOR, door_engine.card, door_engine.card_length);
        if (rc) {
            pl_engine_close(&door_engine);
            pl_lock_fini(&door_engine.lock);
            goto out;
        }
        door_is_open = true;
        pl_process.closing = close_door;
    }
    *door = &door_engine;
out:
    pl_lock_drop(&door_lock);
    return rc;
}

int pl_door_peer(struct pl_engine *door, int rank, struct pl_peer **peer)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    int rc = pl_process_lookup(PL_PROC(0, rank), PL_CARD_DOOR, card, &length);
    return rc ? rc : pl_engine_peer(door, card, length, PL_PROC(0, rank), peer);
}

void pl_door_idle(struct pl_engine *door, struct pl_wait *wait)
{
    if (pl_engine_nudge_others(door) > 0)
        wait->rounds = 0;
    pl_engine_idle(door, wait);
}
