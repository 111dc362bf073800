/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in the area between threads, for the thread sanitizer (make check-tsan): each thread plays a rank, over
 * one mapping of the area's memory. What runs is the area's own code, except for an engine's wait: here a rank that
 * has polled in vain announces itself and sleeps until it is woken, a few milliseconds at most.
 */
#include "unit.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/cpu.h"
#include "core/base/far_copy.h"
#include "core/coll/schedule.h"
#include "core/datatype/op.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/peer.h"
#include "core/engine/wait.h"

enum { RANKS = 4, WORDS = 1 << 12, TIMES = 1200, POLLS = 200, SLEEP_NS = 5000000 };

/* The doorbell of a rank, as in plugins/shm/doorbell.c. */
struct doorbell {
    _Atomic uint32_t sleeping, rung;
};
static struct doorbell doorbells[RANKS];
static struct pl_peer peers[RANKS];

static pl_op_kernel *sum_loop(void);
/* Not in line: the compiler would warn of copies that never take place. */
static PL_NOINLINE void *area_copy(void *to, const void *from, size_t bytes)
{
    return memcpy(to, from, bytes);
}

#define memcpy(to, from, bytes)     area_copy(to, from, bytes)
#define pl_op_loop(op, type)        sum_loop()
#define pl_engine_enter(engine)     ((void)(engine))
#define pl_engine_leave(engine)     ((void)(engine))
#define pl_comm_peer(comm, of_rank) ((void)(comm), &peers[of_rank])
#include "core/coll/area/collectives.c"
#include "core/coll/area/copy.c"
#include "core/coll/area/move.c"
#include "core/coll/area/reduce.c"
#include "core/coll/area/slots.c"
#include "core/coll/area/tree.c"
#include "core/coll/area/tree_coll.c"
#undef memcpy

static struct pl_comm comms[RANKS];
static struct pl_area *areas[RANKS];
static pthread_barrier_t begun;

/* --- what stands in for the library ------------------------------------------------------------------------------- */

static void sum_words(const void *in, const void *with, void *to, size_t count)
{
    const int64_t *x = in, *y = with;
    int64_t *sum = to;
    for (size_t i = 0; i < count; i++)
        sum[i] = x[i] + y[i];
}

static pl_op_kernel *sum_loop(void)
{
    return sum_words;
}

static void doorbell_ring(struct pl_endpoint *endpoint)
{
    struct doorbell *doorbell = (struct doorbell *)endpoint;
    __sync_synchronize();
    if (!atomic_load(&doorbell->sleeping))
        return;
    atomic_fetch_add(&doorbell->rung, 1);
    syscall(SYS_futex, &doorbell->rung, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
static const struct pl_transport_ops with_doorbells = { .ring = doorbell_ring };

static void doorbell_sleep(struct doorbell *doorbell, const struct pl_awaited *awaited)
{
    const struct timespec most = { .tv_nsec = SLEEP_NS };
    uint32_t rung = atomic_load(&doorbell->rung);
    atomic_store(&doorbell->sleeping, 1);
    __sync_synchronize();
    if (!pl_awaited_is_there(awaited))
        syscall(SYS_futex, &doorbell->rung, FUTEX_WAIT, rung, &most, NULL, 0);
    atomic_store(&doorbell->sleeping, 0);
}

int pl_area_await_word(struct pl_area *area, const struct pl_coll *coll, int rank, int end,
                       const struct pl_awaited *awaited)
{
    _Atomic uint64_t *asleep = &area->memory->asleep[area->rank / 64];
    uint64_t bit = (uint64_t)1 << area->rank % 64;
    (void)coll, (void)rank, (void)end;
    for (int i = 0; i < POLLS; i++)
        if (pl_awaited_is_there(awaited))
            return MPI_SUCCESS;
    atomic_fetch_or(asleep, bit);
    while (!pl_awaited_is_there(awaited))
        doorbell_sleep(&doorbells[area->rank], awaited);
    atomic_fetch_and(asleep, ~bit);
    return MPI_SUCCESS;
}

int pl_area_await(struct pl_area *area, const struct pl_area_call *call, int rank, int end)
{
    (void)call;
    return pl_area_await_word(area, NULL, rank, end, &(struct pl_awaited){ &area->slots[rank].word, area->next + 1 });
}

void pl_area_wake(struct pl_area *area, uint64_t asleep)
{
    for (int i = 0; i < area->size; i++)
        if (asleep >> i & 1 && i != area->rank)
            area->ops->ring(peers[i].endpoint);
}

/* --- a rank ------------------------------------------------------------------------------------------------------- */

static int64_t word_of(int rank, int time, int i)
{
    return (int64_t)(rank + 1) * 1009 + time * 7 + i;
}

static void expect(bool condition, int rank, int time)
{
    if (!condition) { /* libcheck's checks are not for threads */
        fprintf(stderr, "rank %d: collective %d is wrong\n", rank, time);
        abort();
    }
}

/* The same on all ranks. Roots send several times before others have read, and long data comes between short data. */
static struct pl_coll choose(int time)
{
    static const enum pl_coll_kind kinds[] = { PL_COLL_BARRIER,   PL_COLL_BCAST, PL_COLL_BCAST,    PL_COLL_REDUCE,
                                               PL_COLL_ALLREDUCE, PL_COLL_BCAST, PL_COLL_ALLREDUCE };
    static const int words[] = { 1, 4, 30, 1, 500, 2, WORDS };
    unsigned seed = (unsigned)time * 2654435761u >> 7;
    return (
        struct pl_coll){ .kind = kinds[seed % 7], .recvcount = words[seed / 7 % 7], .root = (int)(seed / 64 % RANKS) };
}

static void *rank_run(void *of_rank)
{
    int rank = (int)(intptr_t)of_rank;
    int64_t *in = calloc(WORDS, sizeof *in), *out = calloc(WORDS, sizeof *out);
    pthread_barrier_wait(&begun);
    for (int time = 0; time < TIMES; time++) {
        struct pl_coll coll = choose(time);
        bool root = rank == coll.root, from_root = coll.kind == PL_COLL_BCAST;
        for (int i = 0; i < coll.recvcount; i++) {
            in[i] = word_of(rank, time, i);
            out[i] = from_root && root ? in[i] : -1;
        }
        coll.comm = &comms[rank];
        coll.sendbuf = in;
        coll.recvbuf = out;
        coll.recvtype = pl_type_predefined((uintptr_t)MPI_INT64_T);
        coll.op = pl_op_predefined((uintptr_t)MPI_SUM);
        expect(pl_coll_run_in_area(&coll, pl_area_bytes(&coll)) == MPI_SUCCESS, rank, time);
        bool has_result = coll.kind != PL_COLL_BARRIER && (coll.kind != PL_COLL_REDUCE || root);
        for (int i = 0; has_result && i < coll.recvcount; i++) {
            int64_t want = from_root ? word_of(coll.root, time, i) : 0;
            for (int other = 0; !from_root && other < RANKS; other++)
                want += word_of(other, time, i);
            expect(out[i] == want, rank, time);
        }
    }
    free(in);
    free(out);
    return NULL;
}

static void run_ranks(enum pl_area_trees trees)
{
    struct pl_area_place places[RANKS] = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 1, 0 } };
    pthread_t thread[RANKS];
    size_t bytes = pl_area_memory_bytes(RANKS);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    for (int i = 0; i < RANKS; i++) {
        peers[i].endpoint = (struct pl_endpoint *)&doorbells[i];
        areas[i] = calloc(1, sizeof *areas[i]);
        comms[i] = (struct pl_comm){ .rank = i, .size = RANKS, .coll.area.open = areas[i] };
        *areas[i] =
            (struct pl_area){ .comm = &comms[i], .ops = &with_doorbells, .size = RANKS, .rank = i, .memory = memory };
        pl_area_begin(areas[i]);
        areas[i]->trees = trees;
        pl_area_tree_make(&areas[i]->tree, i, RANKS, places);
        area_choose_chunks(areas[i]);
        for (int kind = 0; kind < PL_COLL_KINDS && trees == PL_TREE_NONE; kind++)
            areas[i]->chunk[kind] = short_chunks[kind];
    }
    pthread_barrier_init(&begun, NULL, RANKS);
    for (int i = 0; i < RANKS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, rank_run, (void *)(intptr_t)i), 0);
    for (int i = 0; i < RANKS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < RANKS; i++)
        free(areas[i]);
    munmap(memory, bytes);
}

START_TEST(each_reads_all)
{
    run_ranks(PL_TREE_NONE);
}
END_TEST

START_TEST(along_a_tree)
{
    run_ranks(PL_TREE_ALWAYS);
}
END_TEST

UNIT_MAIN("area threads", each_reads_all, along_a_tree)
