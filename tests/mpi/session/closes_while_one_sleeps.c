/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread closes the last session, and must wait for a process that sleeps. Meanwhile another thread opens a session,
 * communicates in it and closes it. Only when it has done so is the sleeper woken: if it waited for the first thread,
 * the program would never end.
 *
 * The second thread may come before the first has begun to close, or after the sleeper was missed. Such a round proves
 * nothing, and is repeated.
 */
/* ranks: 2 */
#include <pthread.h>

#include "mtest.h"
#include "sleeper.h"

enum { ROUNDS = 50, BEGIN_US = 20000 };

static MPI_Session last;
static _Atomic int closing, closed, worked;

static MPI_Session session_open(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    return session;
}

/* Of both ranks, the sleeper first: it is the one that the other asks. */
static int meet(MPI_Session session, const char *timeout, MPI_Comm *comm)
{
    MPI_Group world, group;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    if (timeout)
        CHECK_OK(MPI_Info_set(info, "plenum_meet_timeout", timeout));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_incl(world, 2, (int[]){ 1, 0 }, &group));
    int rc = MPI_Comm_create_from_group(group, "both", info, MPI_ERRORS_RETURN, comm);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Info_free(&info));
    return rc;
}

/* Do all have the same word? Then the rounds end. */
static int meet_and_tell(MPI_Session session, int word)
{
    MPI_Comm comm;
    int told = 0;
    if (!CHECK_OK(meet(session, NULL, &comm)))
        return 1;
    CHECK_OK(MPI_Allreduce(&word, &told, 1, MPI_INT, MPI_MAX, comm));
    CHECK_OK(MPI_Comm_free(&comm));
    return told;
}

static void *close_last(void *unused)
{
    (void)unused;
    closing = 1;
    CHECK_OK(MPI_Session_finalize(&last));
    closed = 1;
    return NULL;
}

static void *work_meanwhile(void *unused)
{
    MPI_Group self;
    MPI_Comm alone;
    (void)unused;
    MPI_Session session = session_open();
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Barrier(alone));
    CHECK_OK(MPI_Comm_free(&alone));
    CHECK_OK(MPI_Session_finalize(&session));
    worked = 1;
    return NULL;
}

/* Did the second thread work while the first one closed? */
static int close_and_work(void)
{
    pthread_t threads[2];
    closing = closed = worked = 0;
    pthread_create(&threads[0], NULL, close_last, NULL);
    while (!closing)
        usleep(100);
    usleep(BEGIN_US);
    pthread_create(&threads[1], NULL, work_meanwhile, NULL);
    while (!closed && !worked)
        usleep(100);
    int proved = worked && !closed;
    sleeper_wake();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return proved;
}

/* The message with which the first rank gives up is not taken before the sleeper wakes. */
static int round_of_first(void)
{
    MPI_Comm comm;
    last = session_open();
    meet_and_tell(last, 0);
    CHECK(meet(last, "0.1", &comm) != MPI_SUCCESS);
    return close_and_work();
}

static void round_of_sleeper(void)
{
    MPI_Session session = session_open();
    meet_and_tell(session, 0);
    sleeper_sleep(1);
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    int proved = 0, ends = 0;
    (void)argc, (void)argv;
    if (!CHECK(getenv("PLENUM_RANK")))
        MTEST_END;
    mtest_rank = atoi(getenv("PLENUM_RANK"));
    for (int round = 0; round < ROUNDS && !ends; round++) {
        if (mtest_rank == 0)
            proved = round_of_first();
        else
            round_of_sleeper();
        MPI_Session session = session_open();
        ends = meet_and_tell(session, proved);
        CHECK_OK(MPI_Session_finalize(&session));
    }
    CHECK(ends);
    MTEST_END;
}
