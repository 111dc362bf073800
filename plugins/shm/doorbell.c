/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping and waking.
 *
 * A sleeper sets SLEEPING in its head, checks for work once more, and sleeps on its doorbell (a futex). A writer
 * publishes its data, then reads that bit, and wakes the sleeper if it is set. Each side stores first and loads then.
 * If either load overtook the store before it, the two could miss each other. A fence prevents that, but the writer's
 * would wait for the cache line of every single message (tens of nanoseconds), for the sake of a rare event. So the
 * sleeper pays for both: membarrier() makes all processors that run a registered process pass a fence. After it, every
 * writer either has published, so that the sleeper finds the data, or sees SLEEPING.
 *
 * membarrier() interrupts the other processors (10 us on the machine of docs/notes/host.md), so a process that sleeps
 * often should not use it, and some kernels and sandboxes lack it. An engine can therefore ask its writers to fence,
 * by a bit in its head. It sets the bit for good when membarrier is refused, and for a while when it sleeps more than
 * a thousand times a second. Ranks that share a core do that; the writer and the sleeper then do not run at the same
 * time, and the fence is cheap. A process that is not registered always fences: registering takes 16 ms once it has
 * threads.
 *
 * The same order of store and load is needed where a reader stops polling a ring and relies on a ready bit instead.
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
#include "plugins/shm/rndv.h"
#include "plugins/shm/shm_peer.h"

enum {
    FREQUENT_NS = 1000000, /* sleeps that follow each other this closely ... */
    FREQUENT_SLEEPS = 16,  /* ... this many times make the engine ask for fences, ... */
    RARE_NS = 100000000,   /* ... until two sleeps are this far apart */
};

static long doorbell_membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

/* A directory has two links and one for each subdirectory, here one for each thread. */
static bool doorbell_is_single_threaded(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

/* Is the process registered, or has it been now because that costs nothing? */
static bool doorbell_is_registered(void)
{
#ifdef MEMBARRIER_CMD_GET_REGISTRATIONS
    long known = doorbell_membarrier(MEMBARRIER_CMD_GET_REGISTRATIONS);
#else
    long known = doorbell_membarrier(1 << 9);
#endif
    if (known > 0 && known & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
        return true;
    return doorbell_is_single_threaded() && doorbell_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

static void doorbell_request_fences(struct pl_shm *shm, bool wanted)
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
    shm->registered = shm->barriers && doorbell_is_registered();
    if (!shm->barriers)
        doorbell_request_fences(shm, true);
}

void pl_shm_barrier(struct pl_shm *shm)
{
    pl_shm_fence();
    if (atomic_load_explicit(&shm->head->attention, memory_order_relaxed) & PL_SHM_FENCE)
        return;
    doorbell_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

/* --- notifying -------------------------------------------------------------------------------------------------- */

static void doorbell_ring(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void pl_shm_notify_space_slow(struct pl_shm_peer *peer)
{
    pl_shm_fence();
    if (atomic_load_explicit(&peer->in.ring->wants_space, memory_order_relaxed))
        pl_shm_notify_slow(peer, false);
}

void pl_shm_notify_slow(struct pl_shm_peer *peer, bool record)
{
    struct pl_shm_head *head = peer->head;
    pl_shm_fence();
    if (record) {
        uint32_t bit = atomic_load_explicit(&peer->out.ring->ready_bit, memory_order_relaxed);
        if (bit > 0 && bit <= PL_SHM_READY_BITS)
            atomic_fetch_or_explicit(&head->ready[(bit - 1) / 64], (uint64_t)1 << (bit - 1) % 64, memory_order_seq_cst);
    }
    /* Not before the ready bit is set: the fence above came before that. */
    uint32_t attention = atomic_load_explicit(&head->attention, memory_order_seq_cst);
    if (pl_unlikely(attention & PL_SHM_CLOSED)) {
        pl_shm_peer_leave(peer, MPI_SUCCESS, NULL);
        return;
    }
    if (!(attention & PL_SHM_SLEEPING))
        return;
    attention = atomic_fetch_and_explicit(&head->attention, ~(uint32_t)PL_SHM_SLEEPING, memory_order_seq_cst);
    if (attention & PL_SHM_SLEEPING) {
        atomic_fetch_add_explicit(&head->doorbell, 1, memory_order_release);
        doorbell_ring(&head->doorbell);
    }
}

/* --- sleeping --------------------------------------------------------------------------------------------------- */

static void doorbell_count_sleep(struct pl_shm *shm)
{
    struct pl_shm_sleeps *sleeps = &shm->sleeps;
    int64_t now = pl_clock_ns(), since = now - sleeps->last;
    sleeps->last = now;
    sleeps->streak = since < FREQUENT_NS ? sleeps->streak + 1 : 0;
    if (sleeps->streak == FREQUENT_SLEEPS) {
        doorbell_request_fences(shm, true);
        doorbell_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    } else if (since > RARE_NS && shm->barriers) {
        doorbell_request_fences(shm, false);
    }
}

static bool doorbell_has_work(struct pl_shm *shm)
{
    if (atomic_load_explicit(&shm->head->requests, memory_order_acquire) != shm->requests)
        return true;
    for (int i = 0; i < shm->polls; i++)
        if (atomic_load_explicit(shm->poll[i].sequence, memory_order_relaxed) == shm->poll[i].expected)
            return true;
    for (int i = 0; shm->unpolled > 0 && i < PL_SHM_READY_BITS / 64; i++)
        if (atomic_load_explicit(&shm->head->ready[i], memory_order_relaxed))
            return true;
    PL_LIST_EACH(peer, &shm->active, struct pl_shm_peer, active)
        if (peer->state == PL_SHM_PEER_LEAVING || pl_shm_rndv_is_ready(peer))
            return true;
    /* Messages that found no space are not in our lists: the engine retries them. */
    PL_LIST_EACH(peer, &shm->peers, struct pl_shm_peer, link)
        if (pl_shm_has_space_again(&peer->out))
            return true;
    return false;
}

bool pl_shm_arm(void *self)
{
    struct pl_shm *shm = self;
    pl_shm_peers_check(shm);
    doorbell_count_sleep(shm);
    shm->sleeps.doorbell = atomic_load_explicit(&shm->head->doorbell, memory_order_acquire);
    atomic_fetch_or_explicit(&shm->head->attention, PL_SHM_SLEEPING, memory_order_seq_cst);
    if (doorbell_has_work(shm))
        return false;
    pl_shm_barrier(shm);
    return !doorbell_has_work(shm);
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
    doorbell_ring(&shm->head->doorbell);
}
