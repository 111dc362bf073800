/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of one process do not wait for each other. While a thread is blocked in a receive of one session, and
 * another session is full of unexpected messages, a third one works at full width, and ends. Only then comes the
 * message that the blocked thread waits for, and only then are the unexpected ones received: waiting for them before
 * would never end. An error in one session does not affect the others.
 */
#include <pthread.h>

#include "mtest.h"

enum { FLOOD = 5000, ROUNDS = 200, LONG = 100000 };

struct party {
    MPI_Session session;
    MPI_Comm comm;
    int rank, size;
};

static struct party join(const char *tag, const char *level)
{
    struct party party;
    MPI_Group group;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_thread_support_level", level));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &party.session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_from_session_pset(party.session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &party.comm));
    CHECK_OK(MPI_Group_free(&group));
    MPI_Comm_rank(party.comm, &party.rank);
    MPI_Comm_size(party.comm, &party.size);
    return party;
}

static void leave(struct party *party)
{
    CHECK_OK(MPI_Comm_free(&party->comm));
    CHECK_OK(MPI_Session_finalize(&party->session));
}

static void *wait_for_release(void *argument)
{
    struct party *party = argument;
    int value = -1, length;
    char text[MPI_MAX_ERROR_STRING];
    int rc = MPI_Send(&value, 1, MPI_INT, party->size + 7, 0, party->comm);
    CHECK_CLASS(rc, MPI_ERR_RANK);
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, party->comm, MPI_STATUS_IGNORE));
    CHECK(value == 4711);
    CHECK_OK(MPI_Error_string(rc, text, &length)); /* it is still this thread's error */
    char rank[16];
    snprintf(rank, sizeof rank, "%d", party->size + 7);
    CHECK(strstr(text, rank) != NULL);
    return NULL;
}

static void *work(void *argument)
{
    struct party *party = argument;
    int to = (party->rank + 1) % party->size, from = (party->rank + party->size - 1) % party->size;
    static char text[MPI_MAX_ERROR_STRING];
    static char out[LONG], in[LONG];
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = round % 20 ? 64 : LONG, sum = -1;
        memset(out, party->rank + round, (size_t)bytes);
        CHECK_OK(MPI_Sendrecv(out, bytes, MPI_BYTE, to, round, in, LONG, MPI_BYTE, from, round, party->comm,
                              MPI_STATUS_IGNORE));
        CHECK(in[0] == (char)(from + round) && in[bytes - 1] == (char)(from + round));
        CHECK_OK(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, party->comm));
        CHECK(sum == round * party->size);
    }
    int length;
    CHECK_OK(MPI_Error_string(MPI_ERR_RANK, text, &length));
    CHECK(!strstr(text, "MPI_Send:")); /* the other thread's error is not seen here */
    return NULL;
}

int main(void)
{
    struct party blocked = join("blocked", "MPI_THREAD_MULTIPLE"), full = join("full", "MPI_THREAD_SINGLE"),
                 busy = join("busy", "MPI_THREAD_FUNNELED");
    mtest_rank = blocked.rank;
    mtest_size = blocked.size;
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, value;
    for (int i = 0; i < FLOOD; i++)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, to, i, full.comm));
    CHECK_OK(MPI_Barrier(full.comm)); /* they have arrived */

    pthread_t waiter;
    CHECK(pthread_create(&waiter, NULL, wait_for_release, &blocked) == 0);
    work(&busy);
    leave(&busy);
    CHECK_OK(MPI_Send(&(int){ 4711 }, 1, MPI_INT, to, 9, blocked.comm));
    pthread_join(waiter, NULL);
    for (int i = FLOOD - 1; i >= FLOOD - 50; i--) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, from, i, full.comm, MPI_STATUS_IGNORE));
        CHECK(value == i);
    }
    for (int i = 0; i < FLOOD - 50; i++) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, full.comm, MPI_STATUS_IGNORE));
        CHECK(value == i);
    }
    leave(&full);
    leave(&blocked);
    MTEST_END;
}
