/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the peers of a communicator: every rank is found again, with few and with many of them, also without
 * memory. And what groups and communicators of a million processes cost, of which almost none is ever sent to.
 */
#include "unit.h"

#include <malloc.h>
#include <stdio.h>

#include "core/base/memory.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/job/process.h"

enum { MANY = 1000000 };

static struct pl_peer peers[MANY]; /* few of them are touched */

static struct pl_peer *peer_of(int rank)
{
    return &peers[rank];
}

static void release_table(struct pl_comm *comm)
{
    pl_comm_peers_fini(comm);
    free(comm->peers.slots);
}

static void check_table(int ranks, int used, int stride)
{
    struct pl_comm comm = { .size = ranks };
    ck_assert_int_eq(pl_comm_peers_init(&comm, ranks), MPI_SUCCESS);
    for (int i = 0; i < used; i++) {
        int rank = (int)((int64_t)i * stride % ranks);
        UNIT_CHECK(pl_comm_peer(&comm, rank) == NULL);
        pl_comm_peer_keep(&comm, rank, peer_of(rank));
        UNIT_CHECK(pl_comm_peer(&comm, rank) == peer_of(rank));
        UNIT_CHECK(peer_of(rank)->uses == 1);
    }
    for (int i = 0; i < used; i++) {
        int rank = (int)((int64_t)i * stride % ranks);
        UNIT_CHECK(pl_comm_peer(&comm, rank) == peer_of(rank));
    }
    UNIT_CHECK(comm.peers.mask < 64 || comm.peers.mask < 4 * (unsigned)used);
    release_table(&comm);
    for (int i = 0; i < used; i++)
        UNIT_CHECK(peer_of((int)((int64_t)i * stride % ranks))->uses == 0);
}

START_TEST(every_rank_is_found_again)
{
    check_table(1, 1, 1);
    check_table(2, 2, 1);
    check_table(63, 63, 5);
    check_table(64, 64, 63);
    check_table(65, 65, 64);
    check_table(100, 100, 7);
    check_table(4096, 4096, 1);
    check_table(4099, 4099, 64); /* neighbors in the table */
    check_table(MANY, 3000, 64);
    check_table(MANY, 20, 50021);
}
END_TEST

/* A revoked communicator finds none, but may still use what they share. Others come, and the table grows. */
START_TEST(hidden)
{
    enum { RANKS = 200, BEFORE = 20 };
    struct pl_comm comm = { .size = RANKS };
    ck_assert_int_eq(pl_comm_peers_init(&comm, RANKS), MPI_SUCCESS);
    for (int rank = 0; rank < BEFORE; rank++)
        pl_comm_peer_keep(&comm, rank, peer_of(rank));
    pl_comm_peers_hide(&comm);
    for (int rank = 0; rank < BEFORE; rank++)
        UNIT_CHECK(pl_comm_peer(&comm, rank) == NULL && peer_of(rank)->uses == 1);
    for (int rank = BEFORE; rank < RANKS; rank++)
        pl_comm_peer_keep(&comm, rank, peer_of(rank));
    for (int rank = 0; rank < RANKS; rank++)
        UNIT_CHECK(pl_comm_peer(&comm, rank) == (rank < BEFORE ? NULL : peer_of(rank)));
    release_table(&comm);
    for (int rank = 0; rank < RANKS; rank++)
        UNIT_CHECK(peer_of(rank)->uses == 0);
}
END_TEST

/* The slots that there are go on being used; a peer without a slot is looked up anew. */
START_TEST(without_memory)
{
    struct pl_comm comm = { .size = MANY };
    ck_assert_int_eq(pl_comm_peers_init(&comm, MANY), MPI_SUCCESS);
    for (int rank = 0; rank < 100; rank++) {
        pl_memory_fail_at(1);
        pl_comm_peer_keep(&comm, 1000 * rank, peer_of(1000 * rank));
    }
    pl_memory_fail_at(0);
    int found = 0;
    for (int rank = 0; rank < 100; rank++) {
        struct pl_peer *peer = pl_comm_peer(&comm, 1000 * rank);
        UNIT_CHECK(!peer || peer == peer_of(1000 * rank));
        found += peer != NULL;
    }
    ck_assert_int_eq(found, PL_PEER_SLOTS);
    release_table(&comm);
    for (int rank = 0; rank < 100; rank++) {
        UNIT_CHECK(peer_of(1000 * rank)->uses == 0);
        found -= !peer_of(1000 * rank)->stays;
    }
    ck_assert_int_eq(found, 0);
}
END_TEST

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static struct pl_comm *comm_of(struct pl_instance *instance, struct pl_group *group)
{
    struct pl_comm *comm;
    ck_assert_int_eq(pl_comm_create(instance, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    return comm;
}

/* All, every third one, all but one, and a shuffled list of a thousand of them. */
START_TEST(a_million_processes)
{
    struct pl_instance *instance;
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
    pl_handle_drop(comm_of(instance, pl_instance_group_range(instance, 1, 0, 1))); /* what is made once */
    size_t before = in_use();
    struct pl_group *all = pl_instance_group_range(instance, MANY, 0, 1);
    struct pl_comm *world = comm_of(instance, all);
    size_t of_world = in_use() - before;

    before = in_use();
    struct pl_group *third = pl_instance_group_range(instance, MANY / 3, 0, 3);
    struct pl_comm *split = comm_of(instance, third);
    size_t of_split = in_use() - before;

    before = in_use();
    for (int i = 0; i < 20; i++) /* as many as a tree of a million has neighbors */
        pl_comm_peer_keep(world, 1 << i, peer_of(i));
    size_t of_peers = in_use() - before;

    before = in_use();
    uint64_t seed = 1, procs[1000];
    for (int i = 0; i < 1000; i++)
        procs[i] = PL_PROC(0, 1000 * i + unit_below(&seed, 1000));
    struct pl_group *some = pl_instance_group(instance, 1000, procs);
    size_t of_some = in_use() - before;

    size_t objects = sizeof(struct pl_comm) + sizeof(struct pl_group); /* in an arena of their own */
    printf(
        "bytes: group and communicator of %d %zu, of every third %zu, 20 peers %zu, a group in no order of 1000 %zu\n",
        MANY, of_world + objects, of_split + objects, of_peers, of_some + sizeof(struct pl_group));
    UNIT_CHECK(of_world < 8192 && of_split < 8192 && of_peers < 8192 && of_some < 1000 * 16);
    UNIT_CHECK(pl_group_find(all, PL_PROC(0, 999999)) == 999999 && pl_group_find(third, PL_PROC(0, 999)) == 333);

    pl_handle_drop(world);
    pl_handle_drop(split);
    pl_handle_drop(all);
    pl_handle_drop(third);
    pl_handle_drop(some);
    pl_instance_close(instance);
}
END_TEST

UNIT_MAIN("comm_peers", every_rank_is_found_again, hidden, without_memory, a_million_processes)
