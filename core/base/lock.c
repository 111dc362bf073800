/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks, whose order debug builds check. Only real locks are tracked: none below MPI_THREAD_MULTIPLE. */
#include "core/base/lock.h"

void pl_lock_init(struct pl_lock *lock, enum pl_lock_rank rank, bool real)
{
    *lock = (struct pl_lock){ .rank = rank, .real = real };
    pthread_mutex_init(&lock->mutex, NULL);
}

void pl_lock_fini(struct pl_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

#ifndef NDEBUG
enum { HELD_MAX = 16 };
static _Thread_local struct pl_lock *held[HELD_MAX];
static _Thread_local int held_count;

static void lock_note_taken(struct pl_lock *lock)
{
    assert(held_count < HELD_MAX);
    held[held_count++] = lock;
}

void pl_lock_take(struct pl_lock *lock)
{
    if (!lock->real)
        return;
    for (int i = 0; i < held_count; i++)
        assert(held[i]->rank < lock->rank && "locks must be taken in the order of enum pl_lock_rank");
    pthread_mutex_lock(&lock->mutex);
    lock_note_taken(lock);
}

bool pl_lock_try(struct pl_lock *lock)
{
    if (!lock->real)
        return true;
    if (pthread_mutex_trylock(&lock->mutex) != 0)
        return false;
    lock_note_taken(lock);
    return true;
}

void pl_lock_drop(struct pl_lock *lock)
{
    if (!lock->real)
        return;
    int i = held_count - 1;
    while (i >= 0 && held[i] != lock)
        i--;
    assert(i >= 0 && "the thread must hold the lock that it drops");
    for (held_count--; i < held_count; i++)
        held[i] = held[i + 1];
    pthread_mutex_unlock(&lock->mutex);
}

bool pl_lock_held(const struct pl_lock *lock)
{
    if (!lock->real)
        return true;
    for (int i = 0; i < held_count; i++)
        if (held[i] == lock)
            return true;
    return false;
}
#endif
