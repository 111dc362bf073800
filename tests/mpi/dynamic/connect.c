/* SPDX-License-Identifier: BSD-3-Clause */
/* Two parts of a World connect through a port. Messages check the communicator, also merged, duplicated and split. */
#include "mtest.h"

enum { WORDS = 30000 };

/* Every pair, each way. */
static void check_messages(MPI_Comm comm, int peers, int rank)
{
    static int out[WORDS], in[WORDS];
    for (int words = 1; words <= WORDS; words *= 30) {
        for (int p = 0; p < peers; p++) {
            MPI_Request request;
            for (int i = 0; i < words; i++)
                out[i] = 1000 * rank + i + p;
            CHECK_OK(MPI_Irecv(in, words, MPI_INT, p, 5, comm, &request));
            CHECK_OK(MPI_Send(out, words, MPI_INT, p, 5, comm));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            int right = 1;
            for (int i = 0; i < words; i++)
                right &= in[i] == 1000 * p + i + rank;
            CHECK(right);
        }
    }
}

/* All take the remote ranks in the same order, and send to p while they receive from p, so pairs match. */
static void check_pairs(MPI_Comm comm, int rank, int first)
{
    int remote, got = -1;
    MPI_Comm_remote_size(comm, &remote);
    for (int p = 0; p < remote; p++) {
        MPI_Request request;
        int word = 100 * rank + p + first;
        CHECK_OK(MPI_Isend(&word, 1, MPI_INT, p, 9, comm, &request));
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, p, 9, comm, MPI_STATUS_IGNORE));
        CHECK(got == 100 * p + rank + !first);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void check_collectives(MPI_Comm comm)
{
    int rank, size, sum = 0, all[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < 20; round++) {
        int word = rank + round;
        CHECK_OK(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * (size - 1) / 2 + size * round);
    }
    CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        CHECK(all[i] == i);
    int word = rank == size - 1 ? 4711 : 0;
    CHECK_OK(MPI_Bcast(&word, 1, MPI_INT, size - 1, comm));
    CHECK(word == 4711);
}

static void check_inter(MPI_Comm inter, int accepts)
{
    int rank, size, remote, mine, theirs = -1, flag = 0, result;
    MPI_Group local_group, remote_group, world_group;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK(flag && size + remote == mtest_size);
    mine = 100 * accepts + rank;
    CHECK_OK(MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_MAX, inter));
    CHECK(theirs == 100 * !accepts + remote - 1);
    check_pairs(inter, rank, accepts);

    /* Another communicator has the same processes, too. */
    MPI_Comm_group(inter, &local_group);
    MPI_Comm_remote_group(inter, &remote_group);
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    CHECK_OK(MPI_Group_translate_ranks(remote_group, 1, &(int){ 0 }, world_group, &result));
    CHECK(result == (accepts ? mtest_size / 2 : 0));
    CHECK_OK(MPI_Group_compare(local_group, remote_group, &result));
    CHECK(result == MPI_UNEQUAL);
    MPI_Group_free(&local_group);
    MPI_Group_free(&remote_group);
    MPI_Group_free(&world_group);
}

static void check_derived(MPI_Comm inter, int accepts)
{
    MPI_Comm merged, other, half;
    int rank, size;
    CHECK_OK(MPI_Intercomm_merge(inter, !accepts, &merged));
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK(rank == mtest_rank && size == mtest_size); /* the first half of the World accepts */
    check_collectives(merged);
    check_messages(merged, size, rank);
    CHECK_OK(MPI_Comm_dup(merged, &other));
    check_collectives(other);
    CHECK_OK(MPI_Comm_split(other, rank % 2, -rank, &half));
    check_collectives(half);
    CHECK_OK(MPI_Comm_disconnect(&half));
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_dup(inter, &other));
    check_inter(other, accepts);
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_split(inter, 0, -rank, &other));
    check_pairs(other, (MPI_Comm_rank(other, &rank), rank), accepts);
    CHECK_OK(MPI_Comm_disconnect(&other));
    CHECK_OK(MPI_Comm_disconnect(&merged));
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "not significant here";
    MPI_Comm part, inter;
    MTEST_INIT(argc, argv);
    int half = mtest_size / 2, accepts = mtest_rank < half;
    CHECK(half + !half > 0);
    if (mtest_size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, accepts, 0, &part);
        int root = accepts ? half - 1 : 0;
        if (mtest_rank == half - 1) {
            CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, half, 0, MPI_COMM_WORLD);
        } else if (mtest_rank == half) {
            MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, half - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int round = 0; round < 3; round++) { /* a port serves again and again */
            const char *name = mtest_rank == half - 1 || mtest_rank == half ? port : NULL;
            CHECK_OK(accepts ? MPI_Comm_accept(name, MPI_INFO_NULL, root, part, &inter)
                             : MPI_Comm_connect(name, MPI_INFO_NULL, root, part, &inter));
            check_inter(inter, accepts);
            if (round == 0)
                check_derived(inter, accepts);
            CHECK_OK(MPI_Comm_disconnect(&inter));
            CHECK(inter == MPI_COMM_NULL);
        }
        if (mtest_rank == half - 1)
            CHECK_OK(MPI_Close_port(port));
        MPI_Comm_free(&part);
    }
    MTEST_END;
}
