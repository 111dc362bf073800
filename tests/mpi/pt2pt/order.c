/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages do not overtake each other (MPI-5.0 section 3.5). 10,000 messages of mixed sizes, modes and tags, in
 * pseudo-random order, arrive intact and in order. The receiver takes them by source, by tag, or with wildcards.
 */
/* ranks: 2 3 4 */
/* seconds: 300 */
#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 10000, LONGEST = 200000, TAGS = 3, WINDOW = 16 };

/* What both sides know about the n-th message from a rank. Small messages are frequent, long ones rare. */
struct plan {
    int bytes, tag, mode;
};

static struct plan plan(int source, int n)
{
    uint64_t state = (uint64_t)source * 1000003 + (uint64_t)n + 1;
    pattern_random(&state);
    uint32_t dice = pattern_random(&state) % 100, limit = dice < 60   ? 200
                                                          : dice < 90 ? 9000
                                                          : dice < 98 ? 70000
                                                                      : LONGEST;
    return (struct plan){ (int)(pattern_random(&state) % limit), (int)(pattern_random(&state) % TAGS),
                          (int)(pattern_random(&state) % 3) };
}

static void send_all(int to)
{
    unsigned char *slots = malloc((size_t)WINDOW * LONGEST);
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int n = 0; n < MESSAGES; n++) {
        struct plan p = plan(mtest_rank, n);
        int slot = n % WINDOW;
        unsigned char *data = slots + (size_t)slot * LONGEST;
        CHECK_OK(MPI_Wait(&requests[slot], MPI_STATUS_IGNORE));
        pattern_fill(data, (size_t)p.bytes, (uint64_t)(mtest_rank * MESSAGES + n));
        if (p.mode == 0)
            CHECK_OK(MPI_Isend(data, p.bytes, MPI_BYTE, to, p.tag, MPI_COMM_WORLD, &requests[slot]));
        else if (p.mode == 1)
            CHECK_OK(MPI_Issend(data, p.bytes, MPI_BYTE, to, p.tag, MPI_COMM_WORLD, &requests[slot]));
        else
            CHECK_OK(MPI_Send(data, p.bytes, MPI_BYTE, to, p.tag, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
    free(slots);
}

/* The next message from each source, whatever its tag, is the next one that was sent. */
static void receive_all(int sources)
{
    unsigned char *data = malloc(LONGEST);
    int *next = calloc((size_t)sources + 1, sizeof *next), broken = 0;
    for (long left = (long)sources * MESSAGES; left > 0 && !broken; left--) {
        int count, by_source = left % 3 == 0 ? 1 + (int)(left % sources) : 0;
        if (by_source && next[by_source] == MESSAGES)
            by_source = 0;
        MPI_Status status;
        CHECK_OK(MPI_Recv(data, LONGEST, MPI_BYTE, by_source ? by_source : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        int from = status.MPI_SOURCE, n = next[from]++;
        struct plan p = plan(from, n);
        broken = !CHECK(p.bytes == count && p.tag == status.MPI_TAG &&
                        pattern_holds(data, (size_t)count, (uint64_t)(from * MESSAGES + n)));
    }
    if (broken)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the rest would only be noise */
    free(next);
    free(data);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    if (mtest_rank == 0)
        receive_all(mtest_size - 1);
    else
        send_all(0);
    MTEST_END;
}
