/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight threads of each process use MPI at once (MPI-5.0 section 11.6). Each exchanges messages with wildcards, probes
 * and matched receives, on its own communicator and by its own tag on one that all share. Each also does blocking and
 * nonblocking collectives, creates and frees communicators, attributes and datatypes, and opens and closes sessions
 * with communicators of their own.
 */
/* ranks: 1 2 4 */
#include <pthread.h>

#include "mtest.h"

enum { THREADS = 8, ROUNDS = 6, LONG = 20000 };

static MPI_Comm own[THREADS], shared;

/* The n-th number that `rank`'s thread sends in a round. */
static int word(int rank, int thread, int round, int n)
{
    return ((rank * THREADS + thread) * ROUNDS + round) * LONG + n;
}

static void check_words(const int *got, int count, int rank, int thread, int round)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += got[i] != word(rank, thread, round, i);
    CHECK(wrong == 0);
}

/* To the next rank, in the ways there are to receive. */
static void messages(MPI_Comm comm, int tag, int thread, int round)
{
    int out[LONG], in[LONG], flag, count, left = (mtest_rank + mtest_size - 1) % mtest_size,
                                          right = (mtest_rank + 1) % mtest_size;
    int length = round % 2 ? LONG : 1 + thread;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    for (int i = 0; i < length; i++)
        out[i] = word(mtest_rank, thread, round, i);
    CHECK_OK(MPI_Isend(out, length, MPI_INT, right, tag, comm, &request));
    switch ((thread + round) % 4) {
    case 0: CHECK_OK(MPI_Recv(in, LONG, MPI_INT, MPI_ANY_SOURCE, tag, comm, &status)); break;
    case 1:
        CHECK_OK(MPI_Probe(left, tag, comm, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK(count == length);
        CHECK_OK(MPI_Recv(in, count, MPI_INT, left, tag, comm, &status));
        break;
    case 2:
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status));
        CHECK_OK(MPI_Mrecv(in, LONG, MPI_INT, &message, &status));
        break;
    default:
        do
            CHECK_OK(MPI_Iprobe(left, tag, comm, &flag, &status));
        while (!flag);
        CHECK_OK(MPI_Recv(in, LONG, MPI_INT, left, tag, comm, &status));
    }
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == tag);
    check_words(in, length, left, thread, round);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void collectives(MPI_Comm comm, int thread, int round)
{
    int size, rank, sum = -1, later = -1, from = -1;
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    int mine = rank + thread, all = size * (size - 1) / 2 + size * thread;
    CHECK_OK(MPI_Iallreduce(&mine, &later, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
    CHECK_OK(MPI_Ibarrier(comm, &requests[1]));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    from = rank == round % size ? word(rank, thread, round, 0) : -1;
    CHECK_OK(MPI_Bcast(&from, 1, MPI_INT, round % size, comm));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(sum == all && later == all && from == word(round % size, thread, round, 0));
}

static void communicators(MPI_Comm comm, int thread, int round)
{
    MPI_Comm copy, half, late;
    MPI_Request request;
    MPI_Group group;
    CHECK_OK(MPI_Comm_idup(comm, &late, &request));
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Comm_split(copy, mtest_rank % 2, -mtest_rank, &half));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    collectives(half, thread, round);
    collectives(late, thread, round);
    messages(copy, 3, thread, round);
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&late));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_group(shared, &group)); /* by its tag, beside the others of this process */
    CHECK_OK(MPI_Comm_create_group(shared, group, thread, &copy));
    CHECK_OK(MPI_Group_free(&group));
    collectives(copy, thread, round);
    CHECK_OK(MPI_Comm_free(&copy));
}

static void objects(MPI_Comm comm)
{
    int keyval, flag;
    void *value;
    MPI_Datatype type;
    MPI_Info info;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &keyval));
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    CHECK(flag && value == &keyval);
    CHECK_OK(MPI_Comm_delete_attr(comm, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Type_vector(3, 2, 5, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_free(&info));
}

static void session(int thread, int round)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    char tag[32];
    snprintf(tag, sizeof tag, "thread %d", thread);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    collectives(comm, thread, round);
    messages(comm, 5, thread, round);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

static void *run(void *number)
{
    int thread = (int)((MPI_Comm *)number - own);
    for (int round = 0; round < ROUNDS; round++) {
        messages(own[thread], 1, thread, round);
        messages(shared, thread, thread, round);
        collectives(own[thread], thread, round);
        communicators(own[thread], thread, round);
        objects(own[thread]);
        if ((thread + round) % 3 == 0)
            session(thread, round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int level;
    CHECK(mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, &own[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&own[i]));
    CHECK_OK(MPI_Comm_free(&shared));
    MTEST_END;
}
