/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message that is longer than the receive buffer is an error of the receiver (MPI-5.0 section 3.2.4). The receive or
 * its completion returns MPI_ERR_TRUNCATE; nothing is written behind the buffer. The sender gets no error, and the next
 * message arrives normally.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 1 << 20, GUARD = 64 };
static const struct {
    int sent, capacity;
} cases[] = { { 1, 0 }, { 100, 99 }, { 5000, 10 }, { 70000, 69999 }, { LONGEST, 0 }, { LONGEST, 4097 } };

enum way { RECV, RECV_UNEXPECTED, IRECV, MRECV, SENDRECV, WAYS };

static int receive(enum way way, unsigned char *in, int capacity, int from)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int nothing = 0;
    switch (way) {
    case IRECV:
        CHECK_OK(MPI_Irecv(in, capacity, MPI_BYTE, from, 1, MPI_COMM_WORLD, &request));
        int rc = MPI_Wait(&request, &status);
        CHECK(request == MPI_REQUEST_NULL);
        return rc;
    case MRECV:
        CHECK_OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, &status));
        return MPI_Mrecv(in, capacity, MPI_BYTE, &message, &status);
    case SENDRECV:
        return MPI_Sendrecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, in, capacity, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                            &status);
    case RECV_UNEXPECTED:
        CHECK_OK(MPI_Probe(from, 1, MPI_COMM_WORLD, &status));
        return MPI_Recv(in, capacity, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status);
    default: return MPI_Recv(in, capacity, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status);
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST + GUARD);
    pattern_fill(out, LONGEST, (uint64_t)mtest_rank);

    for (enum way way = 0; way < WAYS; way++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int capacity = cases[i].capacity, after = mtest_rank, got = -1;
            MPI_Request sends[2];
            memset(in, 0xa5, (size_t)capacity + GUARD);
            CHECK_OK(MPI_Isend(out, cases[i].sent, MPI_BYTE, to, 1, MPI_COMM_WORLD, &sends[0]));
            CHECK_OK(MPI_Isend(&after, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &sends[1]));
            CHECK_CLASS(receive(way, in, capacity, from), MPI_ERR_TRUNCATE);
            CHECK(pattern_untouched(in + capacity, GUARD, 0xa5));
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(got == from);
            CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
        }
    free(in);
    free(out);
    MTEST_END;
}
