/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one lock type: a mutex, or nothing at all when its owner (an instance) runs below MPI_THREAD_MULTIPLE.
 *
 * The ranks below define the lock order: a thread that holds a lock must only take locks of a higher rank. Debug builds
 * (without NDEBUG) check it. No lock is held while user code runs.
 */
#ifndef PLENUM_CORE_BASE_LOCK_H
#define PLENUM_CORE_BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum pl_lock_rank {
    PL_RANK_WORLD,    /* opening and closing of instances, the process's identity */
    PL_RANK_REGISTRY, /* process sets, error handlers, keyvals, error codes */
    PL_RANK_INSTANCE, /* an instance's list of communicators, attached buffers */
    PL_RANK_OBJECT,   /* attributes, names, info of one object */
    PL_RANK_ENGINES,  /* the process's list of engines */
    PL_RANK_ENGINE,   /* matching, requests, transports of one instance */
    PL_RANK_LISTENER, /* the listener of the process */
    PL_RANK_REPORT,   /* this process's part of the job report */
    PL_RANK_TYPES,    /* the permanent datatypes, which a window's target finds during progress */
    PL_RANK_ARENA,    /* object memory */
    PL_RANK_LEAF,     /* takes no other lock */
};

struct pl_lock {
    pthread_mutex_t mutex;
    enum pl_lock_rank rank;
    bool real;
};

#define PL_LOCK_INIT(rank_)                                                                                            \
    {                                                                                                                  \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (rank_), .real = true                                              \
    }

void pl_lock_init(struct pl_lock *lock, enum pl_lock_rank rank, bool real);
void pl_lock_fini(struct pl_lock *lock);

#ifdef NDEBUG
static inline void pl_lock_take(struct pl_lock *lock)
{
    if (lock->real)
        pthread_mutex_lock(&lock->mutex);
}

static inline bool pl_lock_try(struct pl_lock *lock)
{
    return !lock->real || pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void pl_lock_drop(struct pl_lock *lock)
{
    if (lock->real)
        pthread_mutex_unlock(&lock->mutex);
}

static inline bool pl_lock_held(const struct pl_lock *lock)
{
    (void)lock;
    return true;
}
#else
void pl_lock_take(struct pl_lock *lock);
bool pl_lock_try(struct pl_lock *lock);
void pl_lock_drop(struct pl_lock *lock);
bool pl_lock_held(const struct pl_lock *lock);
#endif

#endif
