/* SPDX-License-Identifier: BSD-3-Clause */
/* The window control block: its lock between threads that play ranks, and which ranks a release wakes. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>

#include "core/engine/wait.h"
#include "core/rma/window_ctl.h"
#include "mpi.h"

enum { THREADS = 3, TIMES = 3000 };

static struct pl_win_ctl ctl;
static long number,
    twice; /* of the lock's holder: not atomic, so that the thread sanitizer sees what the lock orders */

/* As a rank waits, except that this one does not sleep: it polls for the release alone. */
static void lock_and_wait(int rank, int type)
{
    if (pl_win_ctl_try_lock(&ctl, type))
        return;
    pl_win_ctl_announce(&ctl, rank);
    for (;;) {
        struct pl_awaited next = { &ctl.releases, atomic_load(&ctl.releases) + 1 };
        if (pl_win_ctl_try_lock(&ctl, type))
            break;
        while (!pl_awaited_is_there(&next)) /* for ever, if a release was missed */
            sched_yield();
    }
    pl_win_ctl_withdraw(&ctl, rank);
}

static void *lock_often(void *of_rank)
{
    int rank = (int)(intptr_t)of_rank;
    for (int i = 0; i < TIMES; i++) {
        int type = (i + rank) % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        lock_and_wait(rank, type);
        if (type == MPI_LOCK_EXCLUSIVE) {
            number++;
            twice += 2;
        } else if (twice != 2 * number) {
            abort();
        }
        pl_win_ctl_release(&ctl, type);
    }
    return NULL;
}

START_TEST(orders_what_its_holders_do)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, lock_often, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(number, TIMES * THREADS * 2 / 3);
    ck_assert_uint_eq(atomic_load(&ctl.lock), 0);
    ck_assert_uint_eq(atomic_load(&ctl.waiters), 0);
    for (int i = 0; i < PL_WIN_WAITING; i++)
        ck_assert_uint_eq(atomic_load(&ctl.waiting[i]), 0);
}
END_TEST

/* Ranks that share an entry: one that has its lock takes no wake-up from another. */
START_TEST(wakes_each_rank_that_waits)
{
    for (int first = 0; first < PL_WIN_WAITING; first++) {
        pl_win_ctl_announce(&ctl, first);
        pl_win_ctl_announce(&ctl, first + PL_WIN_WAITING);
        pl_win_ctl_withdraw(&ctl, first);
        ck_assert(pl_win_ctl_try_lock(&ctl, MPI_LOCK_EXCLUSIVE));
        ck_assert(pl_win_ctl_release(&ctl, MPI_LOCK_EXCLUSIVE));
        ck_assert_uint_eq(atomic_load(&ctl.waiting[first]), 1);
        pl_win_ctl_withdraw(&ctl, first + PL_WIN_WAITING);
        ck_assert(pl_win_ctl_try_lock(&ctl, MPI_LOCK_SHARED));
        ck_assert(!pl_win_ctl_release(&ctl, MPI_LOCK_SHARED));
    }
}
END_TEST

UNIT_MAIN("window ctl", orders_what_its_holders_do, wakes_each_rank_that_waits)
