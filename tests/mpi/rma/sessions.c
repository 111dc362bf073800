/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of sessions: two sessions with a window each beside one of the World, at different paces. One session ends
 * while the others go on, the last one outlives the World, and windows are created and freed with their sessions. */
#include "mtest.h"

enum { WORDS = 40, CYCLES = 5 };

struct life {
    MPI_Session session;
    MPI_Comm comm;
    MPI_Win win;
    int *base, rank, size;
};

static struct life begin(const char *tag, int allocate)
{
    struct life life;
    MPI_Group group;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &life.session));
    CHECK_OK(MPI_Group_from_session_pset(life.session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &life.comm));
    CHECK_OK(MPI_Group_free(&group));
    MPI_Comm_rank(life.comm, &life.rank);
    MPI_Comm_size(life.comm, &life.size);
    if (allocate) {
        CHECK_OK(MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, life.comm, &life.base, &life.win));
    } else {
        life.base = malloc(WORDS * sizeof(int));
        CHECK_OK(MPI_Win_create(life.base, WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, life.comm, &life.win));
    }
    memset(life.base, 0, WORDS * sizeof(int));
    return life;
}

static void end(struct life *life, int allocated)
{
    CHECK_OK(MPI_Win_free(&life->win));
    CHECK_OK(MPI_Comm_free(&life->comm));
    CHECK_OK(MPI_Session_finalize(&life->session));
    if (!allocated)
        free(life->base);
}

/* Puts to the next rank, and checks what the previous one has put. */
static void exchange(MPI_Win win, int *base, int rank, int size, int value)
{
    int words[WORDS], sum = 0, next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i < WORDS; i++)
        words[i] = value + rank * 100 + i;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(words, WORDS, MPI_INT, next, 0, WORDS, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < WORDS; i++)
        CHECK(base[i] == value + last * 100 + i);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_OK(MPI_Fetch_and_op(NULL, &sum, MPI_INT, 0, 3, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK(sum == value + (size - 1) * 100 + 3);
    CHECK_OK(MPI_Win_fence(0, win)); /* no rank writes before all have checked */
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int allocate = 0; allocate < 2; allocate++)
        for (int cycle = 0; cycle < CYCLES; cycle++) {
            struct life life = begin("a cycle", allocate);
            exchange(life.win, life.base, life.rank, life.size, cycle);
            end(&life, allocate);
        }
    struct life one = begin("one", 1), two = begin("two", 0);
    int *base, rank = mtest_rank, size = mtest_size;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    /* All three at once: one is locked while the others fence. */
    CHECK_OK(MPI_Win_lock_all(0, one.win));
    exchange(two.win, two.base, two.rank, two.size, 1000);
    exchange(win, base, rank, size, 2000);
    CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 7, 1, MPI_INT, one.win));
    CHECK_OK(MPI_Win_unlock_all(one.win));
    MPI_Barrier(one.comm);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, one.win));
    CHECK(one.base[7] == (rank + size - 1) % size);
    CHECK_OK(MPI_Win_unlock(rank, one.win));
    MPI_Barrier(one.comm);
    end(&one, 1);
    exchange(two.win, two.base, two.rank, two.size, 3000);
    exchange(win, base, rank, size, 4000);
    CHECK_OK(MPI_Win_free(&win));
    struct life three = begin("three", 1);
    int failed = 0, mine = mtest_failures;
    CHECK_OK(MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(failed == 0);
    CHECK_OK(MPI_Finalize());
    exchange(three.win, three.base, rank, size, 5000);
    exchange(two.win, two.base, rank, size, 6000);
    end(&two, 0);
    exchange(three.win, three.base, rank, size, 7000);
    end(&three, 1);
    MTEST_END;
}
