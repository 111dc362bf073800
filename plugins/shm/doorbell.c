/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping and waking.
 *
 * A sleeper sets SLEEPING in its head, looks around once more, and sleeps on its doorbell; whoever publishes something
 * for it then looks at that bit, and wakes it. Each side stores first and loads then, and each load must not overtake
 * the store before it, or both miss each other. A fence does that, but on the writer's side it would wait for the
 * cache line of every single message to arrive (tens of nanoseconds) for the sake of an event that is rare. So the
 * sleeper pays for both: doorbell_membarrier() makes all processors that run a registered process pass a fence, after which
 * every writer either has published before, and is seen, or sees SLEEPING.
 *
 * doorbell_membarrier() interrupts the others (10 us here), so one who sleeps often should not use it. And there are
 * kernels and sandboxes without it. So an engine may ask its writers to fence after all, by a bit in its head: it sets
 * it for good when membarrier is refused, and for a while when it sleeps more than a thousand times a second, which is
 * what ranks that share a core do; then nobody else writes at that moment, and the fence is cheap.
 * A process that was not registered (that takes 16 ms once it has threads) fences of its own accord.
 *
 * The same order of store and load is needed where a reader stops polling a ring and wants to be rung instead.
 */
#include "plugins/shm/doorbell.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugins/shm/ring.h"

enum { SLEEP_NS = 1000000, SLEEPS_OFTEN = 16, NAPS_RARE_NS = 100000000 };

static long doorbell_membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

/* A directory has as many links as it has subdirectories, and two: one a thread here. */
static bool is_single_threaded(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

/* Registered before, or now if that costs nothing. */
static bool is_registered(void)
{
#ifdef MEMBARRIER_CMD_GET_REGISTRATIONS
    long known = doorbell_membarrier(MEMBARRIER_CMD_GET_REGISTRATIONS);
#else
    long known = doorbell_membarrier(1 << 9);
#endif
    if (known > 0 && known & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
        return true;
    return is_single_threaded() && doorbell_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

static void ask_for_fences(struct pl_shm *shm, bool wanted)
{
    if (wanted)
        atomic_fetch_or_explicit(&shm->head->attention, PL_SHM_FENCE, memory_order_seq_cst);
    else
        atomic_fetch_and_explicit(&shm->head->attention, ~(uint32_t)PL_SHM_FENCE, memory_order_seq_cst);
}

void pl_shm_barrier_open(struct pl_shm *shm)
{
    long commands = doorbell_membarrier(MEMBARRIER_CMD_QUERY);
    shm->barriers = commands > 0 && commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED;
    shm->registered = shm->barriers && is_registered();
    if (!shm->barriers)
        ask_for_fences(shm, true);
}

void pl_shm_barrier(struct pl_shm *shm)
{
    pl_shm_fence();
    if (atomic_load_explicit(&shm->head->attention, memory_order_relaxed) & PL_SHM_FENCE)
        return;
    doorbell_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

/* --- ringing ---------------------------------------------------------------------------------------------------- */

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void pl_shm_notify_room_slowly(struct pl_shm_peer *peer)
{
    pl_shm_fence();
    if (atomic_load_explicit(&peer->in.ring->wants_room, memory_order_relaxed))
        pl_shm_notify_slowly(peer, false);
}

void pl_shm_notify_slowly(struct pl_shm_peer *peer, bool record)
{
    struct pl_shm_head *head = peer->head;
    pl_shm_fence();
    if (record) {
        uint32_t bit = atomic_load_explicit(&peer->out.ring->bit, memory_order_relaxed);
        if (bit > 0 && bit <= PL_SHM_RING_BITS)
            atomic_fetch_or_explicit(&head->rung[(bit - 1) / 64], (uint64_t)1 << (bit - 1) % 64, memory_order_seq_cst);
    }
    uint32_t attention = atomic_load_explicit(&head->attention, memory_order_acquire);
    if (pl_shm_unlikely(attention & PL_SHM_CLOSED)) {
        pl_shm_peer_leave(peer, MPI_SUCCESS);
        return;
    }
    if (!(attention & PL_SHM_SLEEPING))
        return;
    attention = atomic_fetch_and_explicit(&head->attention, ~(uint32_t)PL_SHM_SLEEPING, memory_order_seq_cst);
    if (attention & PL_SHM_SLEEPING) {
        atomic_fetch_add_explicit(&head->doorbell, 1, memory_order_release);
        futex_wake(&head->doorbell);
    }
}

/* --- sleeping --------------------------------------------------------------------------------------------------- */

static void note_sleep(struct pl_shm *shm)
{
    struct pl_shm_sleeps *sleeps = &shm->sleeps;
    uint64_t now = pl_shm_now(), since = now - sleeps->last;
    sleeps->last = now;
    sleeps->often = since < SLEEP_NS ? sleeps->often + 1 : 0;
    if (sleeps->often == SLEEPS_OFTEN) {
        ask_for_fences(shm, true);
        doorbell_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    } else if (since > NAPS_RARE_NS && shm->barriers) {
        ask_for_fences(shm, false);
    }
}

static bool anything_to_do(struct pl_shm *shm)
{
    if (atomic_load_explicit(&shm->head->requests, memory_order_acquire) != shm->requests)
        return true;
    for (int i = 0; i < shm->polls; i++)
        if (atomic_load_explicit(shm->poll[i].sequence, memory_order_relaxed) == shm->poll[i].expected)
            return true;
    for (int i = 0; shm->unpolled > 0 && i < PL_SHM_RING_BITS / 64; i++)
        if (atomic_load_explicit(&shm->head->rung[i], memory_order_relaxed))
            return true;
    PL_LIST_EACH(peer, &shm->active, struct pl_shm_peer, active)
        if (peer->life == PL_SHM_LEAVING || pl_shm_rndv_ready(peer))
            return true;
    /* The engine's messages that found no room are not in our lists: it retries them. */
    PL_LIST_EACH(peer, &shm->peers, struct pl_shm_peer, link)
        if (pl_shm_has_room_again(&peer->out))
            return true;
    return false;
}

bool pl_shm_arm(void *self)
{
    struct pl_shm *shm = self;
    pl_shm_peers_watch(shm);
    note_sleep(shm);
    shm->sleeps.doorbell = atomic_load_explicit(&shm->head->doorbell, memory_order_acquire);
    atomic_fetch_or_explicit(&shm->head->attention, PL_SHM_SLEEPING, memory_order_seq_cst);
    if (anything_to_do(shm))
        return false;
    pl_shm_barrier(shm);
    return !anything_to_do(shm);
}

void pl_shm_sleep(void *self, long microseconds)
{
    struct pl_shm *shm = self;
    struct timespec most = { .tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000 };
    syscall(SYS_futex, &shm->head->doorbell, FUTEX_WAIT, shm->sleeps.doorbell, &most, NULL, 0);
}

void pl_shm_disarm(void *self)
{
    struct pl_shm *shm = self;
    atomic_fetch_and_explicit(&shm->head->attention, ~(uint32_t)PL_SHM_SLEEPING, memory_order_relaxed);
}

void pl_shm_wake(void *self)
{
    struct pl_shm *shm = self;
    atomic_fetch_add_explicit(&shm->head->doorbell, 1, memory_order_release);
    futex_wake(&shm->head->doorbell);
}
