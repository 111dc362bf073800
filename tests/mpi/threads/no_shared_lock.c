/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of different threads have no lock in common (MPI-5.0 section 11.6.1). Two threads exchange messages and do
 * collectives, each in its own session, while the program notes every mutex that either might wait for. No mutex is
 * waited for by both. (An idle thread also progresses other sessions if it can at once, without waiting.)
 */
/* ranks: 1 2 4 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#include "mtest.h"

enum { THREADS = 2, ROUNDS = 300, SLOTS = 1 << 14, WARM = 20 };

static struct {
    _Atomic uintptr_t mutex;
    _Atomic unsigned threads, times;
} taken[SLOTS];
static _Atomic int counting, lost;
static _Thread_local int number = -1;

__attribute__((unused)) static void note(const void *mutex)
{
    if (number < 0 || !counting)
        return;
    uintptr_t key = (uintptr_t)mutex;
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = (unsigned)((key >> 3) * 2654435761u + i) % SLOTS;
        uintptr_t old = 0;
        if (atomic_compare_exchange_strong(&taken[slot].mutex, &old, key) || old == key) {
            atomic_fetch_or(&taken[slot].threads, 1u << number);
            atomic_fetch_add(&taken[slot].times, 1);
            return;
        }
    }
    lost++;
}

#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
/* Replaces the function of the C library, for Plenum too. */
static int (*real_lock)(pthread_mutex_t *);

__attribute__((constructor)) static void find_real(void)
{
    real_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    note(mutex);
    if (!real_lock)
        find_real();
    return real_lock(mutex);
}
#endif

static pthread_barrier_t together;

static void exchange(MPI_Comm comm, int rank, int size, int round)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, word = -1, sum = -1, flag;
    static _Thread_local char out[100000], in[100000];
    MPI_Request requests[2];
    CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, left, 1, comm, &requests[0]));
    CHECK_OK(MPI_Isend(&round, 1, MPI_INT, right, 1, comm, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(word == round);
    CHECK_OK(
        MPI_Sendrecv(out, sizeof out, MPI_BYTE, right, 2, in, sizeof in, MPI_BYTE, left, 2, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
    CHECK_OK(MPI_Bcast(&word, 1, MPI_INT, round % size, comm));
}

/*
 * Every rank exchanges with every other: a rank that only receives collectives from a peer connects to it when it
 * acknowledges the first.
 */
static void meet(MPI_Comm comm, int rank, int size)
{
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size, from = (rank + size - i) % size, word = -1;
        CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 4, &word, 1, MPI_INT, from, 4, comm, MPI_STATUS_IGNORE));
        CHECK(word == from);
    }
}

static void *live(void *argument)
{
    int me = (int)(intptr_t)argument, rank, size;
    char tag[32];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    snprintf(tag, sizeof tag, "lock %d", me);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    meet(comm, rank, size);
    for (int round = 0; round < WARM; round++) /* the requests that are kept */
        exchange(comm, rank, size, round);
    pthread_barrier_wait(&together);
    counting = 1;
    number = me;
    for (int round = 0; round < ROUNDS; round++)
        exchange(comm, rank, size, round);
    number = -1;
    pthread_barrier_wait(&together);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int used = 0;
    CHECK(mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, live, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++) {
        Dl_info where = { .dli_fname = "memory" };
        if (taken[i].threads == 3 && !dladdr((void *)taken[i].mutex, &where))
            where.dli_fname = "memory";
        if (!CHECK(taken[i].threads != 3))
            fprintf(stderr, "a mutex in %s (%s) was taken %u times by both\n", where.dli_fname,
                    where.dli_sname ? where.dli_sname : "?", taken[i].times);
        used += taken[i].times > 0;
    }
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
    CHECK(used >= THREADS && lost == 0); /* their engines' at least */
#endif
    pthread_barrier_destroy(&together);
    MTEST_END;
}
