/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several neighborhood collectives under way at once, beside other collectives and messages of the same communicator,
 * completed in any order. Blocks are long, persistent ones start again and again with new data, and the communicator is
 * freed before they are complete.
 */
#include "neighbor.h"

enum { AT_ONCE = 6, LONG = 30000 /* ints */, TIMES = 20 };

static int value(int sender, int slot, int time, int i)
{
    return sender * 1000003 + slot * 10007 + time * 101 + i;
}

static void check_blocks(const struct hood *h, const int *received, int each, int time, int untouched)
{
    int good = 1;
    for (int k = 0; k < h->in; k++)
        for (int i = 0; i < each; i++) {
            int wanted = h->sources[k] == MPI_PROC_NULL ? untouched : value(h->sources[k], h->slots[k], time, i);
            good &= received[k * each + i] == wanted;
        }
    CHECK(good);
}

static void fill(const struct hood *h, int *sent, int each, int time)
{
    for (int k = 0; k < h->out; k++)
        for (int i = 0; i < each; i++)
            sent[k * each + i] = value(h->rank, k, time, i);
}

static void at_once(struct hood *h)
{
    int each = 40, *sent[AT_ONCE], *received[AT_ONCE], sum[AT_ONCE], one = 1, size;
    MPI_Request requests[2 * AT_ONCE];
    CHECK_OK(MPI_Comm_size(h->comm, &size));
    for (int i = 0; i < AT_ONCE; i++) {
        sent[i] = malloc((size_t)(h->out * each + 1) * sizeof(int));
        received[i] = malloc((size_t)(h->in * each + 1) * sizeof(int));
        memset(received[i], 0, (size_t)(h->in * each + 1) * sizeof(int));
        fill(h, sent[i], each, i);
        CHECK_OK(MPI_Ineighbor_alltoall(sent[i], each, MPI_INT, received[i], each, MPI_INT, h->comm, &requests[i]));
        CHECK_OK(MPI_Iallreduce(&one, &sum[i], 1, MPI_INT, MPI_SUM, h->comm, &requests[AT_ONCE + i]));
    }
    for (int i = 2 * AT_ONCE - 1; i >= 0; i--)
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < AT_ONCE; i++) {
        check_blocks(h, received[i], each, i, 0);
        CHECK(sum[i] == size);
        free(sent[i]);
        free(received[i]);
    }
}

static void long_blocks(struct hood *h)
{
    int *sent = malloc(((size_t)h->out * LONG + 1) * sizeof(int)),
        *received = calloc((size_t)h->in * LONG + 1, sizeof(int));
    fill(h, sent, LONG, 3);
    CHECK_OK(MPI_Neighbor_alltoall(sent, LONG, MPI_INT, received, LONG, MPI_INT, h->comm));
    check_blocks(h, received, LONG, 3, 0);
    free(sent);
    free(received);
}

static void again_and_again(struct hood *h)
{
    int each = 3, *sent = malloc((size_t)(h->out * each + 1) * sizeof(int)),
        *received = calloc((size_t)(h->in * each + 1), sizeof(int));
    MPI_Request requests[2];
    int own[1], *all = calloc((size_t)h->in + 1, sizeof *all);
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_dup(h->comm, &copy));
    CHECK_OK(
        MPI_Neighbor_alltoall_init(sent, each, MPI_INT, received, each, MPI_INT, copy, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Neighbor_allgather_init(own, 1, MPI_INT, all, 1, MPI_INT, copy, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Comm_free(&copy));
    for (int time = 0; time < TIMES; time++) {
        fill(h, sent, each, time);
        own[0] = value(h->rank, 0, time, 0);
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check_blocks(h, received, each, time, 0);
        for (int k = 0; k < h->in; k++)
            CHECK(all[k] == (h->sources[k] == MPI_PROC_NULL ? 0 : value(h->sources[k], 0, time, 0)));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(all);
    free(sent);
    free(received);
}

static void all_of_them(struct hood *hood)
{
    at_once(hood);
    if (hood->number % 7 == 0)
        long_blocks(hood);
    again_and_again(hood);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    hood_each(all_of_them);
    MTEST_END;
}
