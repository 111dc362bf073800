/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling sends (MPI-5.0 section 3.8.4). Each send either succeeds or is cancelled, and the receiver gets the
 * message exactly in the first case. Sends are short, long, and synchronous; the receive is posted before or after. The
 * messages before and behind are not disturbed.
 */
#include "mtest.h"
#include "pattern.h"

enum { LONGEST = 300000, ROUNDS = 6 };
static const int sizes[] = { 0, 100, 20000, LONGEST };

typedef int start_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static start_function *const starts[] = { MPI_Isend, MPI_Issend };

static int cancel(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = -1;
    CHECK_OK(MPI_Cancel(request));
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    return cancelled;
}

/* Sends three messages with one tag and cancels the middle one; sends the outcome to the receiver. */
static void sender(start_function *start, int bytes, int to, unsigned char *out)
{
    int first = 1, last = 3, cancelled;
    MPI_Request middle, others[2];
    pattern_fill(out, (size_t)bytes, (uint64_t)bytes);
    CHECK_OK(MPI_Isend(&first, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &others[0]));
    CHECK_OK(start(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &middle));
    CHECK_OK(MPI_Isend(&last, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &others[1]));
    cancelled = cancel(&middle);
    CHECK_OK(MPI_Send(&cancelled, 1, MPI_INT, to, 2, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(2, others, MPI_STATUSES_IGNORE));
}

static void expect(int from, int value)
{
    int got = -1;
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == value);
}

static void receiver(int bytes, int from, unsigned char *in)
{
    int cancelled = -1, count;
    MPI_Status status;
    CHECK_OK(MPI_Recv(&cancelled, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect(from, 1);
    if (!cancelled) {
        CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == bytes && pattern_holds(in, (size_t)bytes, (uint64_t)bytes));
    }
    expect(from, 3);
}

/* The receive is posted already, so that the send cannot be cancelled. */
static void received_already(start_function *start, int bytes, int to, int from, unsigned char *out, unsigned char *in)
{
    MPI_Request send, recv;
    int done = 1, seen = 0;
    pattern_fill(out, (size_t)bytes, (uint64_t)mtest_rank);
    CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, from, 5, MPI_COMM_WORLD, &recv));
    CHECK_OK(start(out, bytes, MPI_BYTE, to, 5, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK(pattern_holds(in, (size_t)bytes, (uint64_t)from));
    CHECK_OK(MPI_Sendrecv(&done, 1, MPI_INT, from, 6, &seen, 1, MPI_INT, to, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(!cancel(&send));
}

/* All others send to rank 0, and the last rank cancels: none of the messages of other ranks may go. */
static void of_one_alone(void)
{
    enum { MESSAGES = 40 };
    MPI_Request sends[MESSAGES];
    int values[MESSAGES], given[MESSAGES], left = 0, last = mtest_size - 1;
    for (int i = 0; i < MESSAGES && mtest_rank > 0; i++) {
        values[i] = mtest_rank * 1000 + i;
        CHECK_OK(MPI_Issend(&values[i], 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &sends[i]));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mtest_rank > 0 && mtest_rank == last) {
        for (int i = 0; i < MESSAGES; i++)
            if (!cancel(&sends[i]))
                given[left++] = values[i];
        CHECK_OK(MPI_Send(given, left, MPI_INT, 0, 10, MPI_COMM_WORLD)); /* that are to be received */
    } else if (mtest_rank == 0 && last > 0) {
        MPI_Status status;
        CHECK_OK(MPI_Recv(given, MESSAGES, MPI_INT, last, 10, MPI_COMM_WORLD, &status));
        MPI_Get_count(&status, MPI_INT, &left);
        CHECK(left == 0);
        for (int rank = 1; rank < last; rank++)
            for (int i = 0; i < MESSAGES; i++) {
                int got = -1;
                CHECK_OK(MPI_Recv(&got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK(got == rank * 1000 + i);
            }
    } else if (mtest_rank > 0) {
        CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Of several long messages that wait at their sender some are cancelled, and all others arrive whole. */
static void among_long_ones(int to, int from)
{
    enum { MANY = 5, TAG = 20 };
    unsigned char *data = malloc((size_t)MANY * LONGEST);
    int gone[MANY] = { 0 };
    if (to >= 0) {
        MPI_Request sends[MANY];
        for (int i = 0; i < MANY; i++) {
            pattern_fill(data + (size_t)i * LONGEST, LONGEST, (uint64_t)i);
            CHECK_OK(MPI_Isend(data + (size_t)i * LONGEST, LONGEST, MPI_BYTE, to, TAG + i, MPI_COMM_WORLD, &sends[i]));
        }
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, to, TAG + MANY, MPI_COMM_WORLD));
        for (int i = 1; i < MANY; i += 2) {
            MPI_Status status;
            CHECK_OK(MPI_Cancel(&sends[i]));
            CHECK_OK(MPI_Wait(&sends[i], &status));
            CHECK_OK(MPI_Test_cancelled(&status, &gone[i]));
        }
        CHECK_OK(MPI_Send(gone, MANY, MPI_INT, to, TAG + MANY, MPI_COMM_WORLD));
        CHECK_OK(MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
    } else if (from >= 0) {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, from, TAG + MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(gone, MANY, MPI_INT, from, TAG + MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = MANY - 1; i >= 0; i--) {
            if (gone[i])
                continue;
            CHECK_OK(MPI_Recv(data, LONGEST, MPI_BYTE, from, TAG + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(pattern_holds(data, LONGEST, (uint64_t)i));
        }
    }
    free(data);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size;
    unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST);
    of_one_alone();
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int s = 0; s < 2; s++) {
                received_already(starts[s], sizes[i], right, left, out, in);
                if (mtest_size > 1 && mtest_rank % 2 == 0 && mtest_rank + 1 < mtest_size)
                    sender(starts[s], sizes[i], mtest_rank + 1, out);
                if (mtest_rank % 2 == 1)
                    receiver(sizes[i], mtest_rank - 1, in);
            }
    if (mtest_rank % 2 == 1)
        among_long_ones(-1, mtest_rank - 1);
    else if (mtest_rank + 1 < mtest_size)
        among_long_ones(mtest_rank + 1, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    int flag = 1;
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag); /* no cancelled message has survived */
    free(in);
    free(out);
    MTEST_END;
}
