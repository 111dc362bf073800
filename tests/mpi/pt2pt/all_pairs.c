/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank exchanges messages of every size class with every rank, all at once and all nonblocking, completed in any
 * order: each message arrives once, at its destination.
 */
#include "mtest.h"
#include "pattern.h"

static const int sizes[] = { 0, 40, 5000, 30000, 150000 };
enum { KINDS = sizeof sizes / sizeof *sizes };

static uint64_t seed(int from, int to, int kind)
{
    return (uint64_t)(from * 1000 + to * 10 + kind);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int all = mtest_size * KINDS;
    MPI_Request *requests = malloc(2 * (size_t)all * sizeof *requests), *recvs = requests, *sends = requests + all;
    unsigned char **out = malloc((size_t)all * sizeof *out), **in = malloc((size_t)all * sizeof *in);

    for (int i = 0; i < all; i++) {
        int peer = i / KINDS, kind = (i + mtest_rank) % KINDS;
        in[i] = malloc((size_t)sizes[kind] + 1);
        out[i] = malloc((size_t)sizes[kind] + 1);
        pattern_fill(out[i], (size_t)sizes[kind], seed(mtest_rank, peer, kind));
        CHECK_OK(MPI_Isend(out[i], sizes[kind], MPI_BYTE, peer, kind, MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = 0; i < all; i++)
        CHECK_OK(MPI_Irecv(in[i], sizes[(i + mtest_rank) % KINDS], MPI_BYTE, i / KINDS, (i + mtest_rank) % KINDS,
                           MPI_COMM_WORLD, &recvs[i]));
    for (int left = 2 * all; left > 0; left--) {
        int which;
        MPI_Status status;
        CHECK_OK(MPI_Waitany(2 * all, requests, &which, &status));
        if (which >= 0 && which < all)
            CHECK(status.MPI_SOURCE == which / KINDS && status.MPI_TAG == (which + mtest_rank) % KINDS);
    }
    for (int i = 0; i < all; i++) {
        int kind = (i + mtest_rank) % KINDS;
        CHECK(pattern_holds(in[i], (size_t)sizes[kind], seed(i / KINDS, mtest_rank, kind)));
        free(in[i]);
        free(out[i]);
    }
    free(out);
    free(in);
    free(requests);
    MTEST_END;
}
