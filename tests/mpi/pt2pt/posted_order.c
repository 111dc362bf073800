/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that are posted first are satisfied first (MPI-5.0 section 3.5), also when specific ones and wildcards
 * alternate: a message goes to the earliest posted receive that it matches.
 */
#include "mtest.h"

enum { RECEIVES = 6 };

/* Posted in this order, for messages with tag 1 and tag 2 from one source. */
static const struct {
    int any_source, tag;
    int gets; /* index of the message that it must get; sent are the tags 1 2 2 1 1 2 */
} posted[RECEIVES] = {
    { 0, 2, 1 }, { 1, MPI_ANY_TAG, 0 }, { 1, 1, 3 }, { 0, MPI_ANY_TAG, 2 }, { 1, 2, 5 }, { 0, 1, 4 },
};
static const int sent_tags[RECEIVES] = { 1, 2, 2, 1, 1, 2 };

static void run(int bytes_before)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Request requests[RECEIVES], sends[RECEIVES];
    MPI_Status statuses[RECEIVES];
    int size = bytes_before + (int)sizeof(int);
    char *in[RECEIVES], *out[RECEIVES];
    for (int i = 0; i < RECEIVES; i++) {
        in[i] = calloc(1, (size_t)size);
        out[i] = calloc(1, (size_t)size);
        memcpy(out[i] + bytes_before, &i, sizeof i);
        CHECK_OK(MPI_Irecv(in[i], size, MPI_BYTE, posted[i].any_source ? MPI_ANY_SOURCE : from, posted[i].tag,
                           MPI_COMM_WORLD, &requests[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < RECEIVES; i++)
        CHECK_OK(MPI_Isend(out[i], size, MPI_BYTE, to, sent_tags[i], MPI_COMM_WORLD, &sends[i]));
    CHECK_OK(MPI_Waitall(RECEIVES, requests, statuses));
    CHECK_OK(MPI_Waitall(RECEIVES, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < RECEIVES; i++) {
        int got = -1;
        memcpy(&got, in[i] + bytes_before, sizeof got);
        CHECK(got == posted[i].gets);
        CHECK(statuses[i].MPI_SOURCE == from && statuses[i].MPI_TAG == sent_tags[posted[i].gets]);
        free(in[i]);
        free(out[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    run(0);
    run(500000);
    MTEST_END;
}
