/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends with the process's buffer (MPI-5.0 section 3.6). They complete before any receive, and the user may
 * reuse the data at once. Messages fit as promised (packed size plus MPI_BSEND_OVERHEAD each); more is MPI_ERR_BUFFER.
 * Detaching waits for delivery and gives back address and size. One buffer is attached at a time.
 */
#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 30, LONGEST = 120000 };
static int bytes_of(int n)
{
    return n % 5 == 4 ? LONGEST - n : 10 * n;
}

static int needed(void)
{
    int capacity = 0;
    for (int n = 0; n < MESSAGES; n++) {
        int size;
        MPI_Pack_size(bytes_of(n), MPI_BYTE, MPI_COMM_WORLD, &size);
        capacity += size + MPI_BSEND_OVERHEAD;
    }
    return capacity;
}

/* More than fits is an error, and the messages accepted before still arrive. */
static void overflow(int to, int from)
{
    enum { SIZE = 10000 };
    static char data[SIZE];
    char *buffer = malloc(SIZE), *back;
    int first = mtest_rank, got = -1, size;
    CHECK_OK(MPI_Buffer_attach(buffer, SIZE));
    CHECK_OK(MPI_Bsend(&first, 1, MPI_INT, to, 2, MPI_COMM_WORLD));
    CHECK_CLASS(MPI_Bsend(data, SIZE, MPI_BYTE, to, 2, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == from);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == SIZE);
    free(buffer);
}

/* The place of a message that has been received is free again, whichever way a message of its length went. The buffer
 * has room for one. */
static void received_one_by_one(MPI_Comm comm, int to, int from)
{
    static const int lengths[] = { 100, 5000, 20000, 100000, 3 << 20 };
    for (int n = 0; n < 5; n++) {
        int bytes = lengths[n], capacity = bytes + MPI_BSEND_OVERHEAD, ack = n, size;
        char *buffer = malloc((size_t)capacity), *sent = malloc((size_t)bytes), *got = malloc((size_t)bytes), *back;
        CHECK_OK(MPI_Buffer_attach(buffer, capacity));
        for (int round = 0; round < 4; round++) {
            MPI_Request request = MPI_REQUEST_NULL;
            memset(sent, 'a' + round, (size_t)bytes);
            if (round % 2)
                CHECK_OK(MPI_Ibsend(sent, bytes, MPI_CHAR, to, 4, comm, &request));
            else
                CHECK_OK(MPI_Bsend(sent, bytes, MPI_CHAR, to, 4, comm));
            CHECK_OK(MPI_Recv(got, bytes, MPI_CHAR, from, 4, comm, MPI_STATUS_IGNORE));
            CHECK(got[0] == 'a' + round && memcmp(got, got + 1, (size_t)bytes - 1) == 0);
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            if (to != from || comm != MPI_COMM_SELF)
                CHECK_OK(MPI_Sendrecv(&round, 1, MPI_INT, from, 5, &ack, 1, MPI_INT, to, 5, comm, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Buffer_detach(&back, &size));
        free(buffer);
        free(sent);
        free(got);
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, capacity = needed(),
        size = -1;
    char *buffer = malloc((size_t)capacity), *back = NULL;
    unsigned char *data = malloc(LONGEST);

    received_one_by_one(MPI_COMM_SELF, 0, 0);
    received_one_by_one(MPI_COMM_WORLD, to, from);
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Buffer_attach(buffer, capacity));
        for (int n = 0; n < MESSAGES; n++) {
            pattern_fill(data, (size_t)bytes_of(n), (uint64_t)(mtest_rank + n));
            CHECK_OK(MPI_Bsend(data, bytes_of(n), MPI_BYTE, to, 1, MPI_COMM_WORLD));
            memset(data, 0, (size_t)bytes_of(n));
        }
        for (int n = 0; n < MESSAGES; n++) {
            CHECK_OK(MPI_Recv(data, LONGEST, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(pattern_holds(data, (size_t)bytes_of(n), (uint64_t)(from + n)));
        }
        CHECK_OK(MPI_Buffer_detach(&back, &size));
        CHECK(back == buffer && size == capacity);
    }

    CHECK_OK(MPI_Buffer_attach(buffer, capacity));
    CHECK_CLASS(MPI_Buffer_attach(data, LONGEST), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == capacity);
    overflow(to, from);
    free(data);
    free(buffer);
    MTEST_END;
}
