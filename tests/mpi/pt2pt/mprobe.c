/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched probes (MPI-5.0 section 3.8.2). No other probe or receive finds a message that MPI_Mprobe or MPI_Improbe has
 * matched. Only MPI_Mrecv or MPI_Imrecv receives it, in any order, once; the handle is MPI_MESSAGE_NULL afterwards.
 */
#include "mtest.h"
#include "pattern.h"

enum { MESSAGES = 8, LONGEST = 250000 };
static int bytes_of(int n)
{
    return n % 2 ? 10 + n : LONGEST - n;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, flag, count;
    unsigned char *out = malloc((size_t)MESSAGES * LONGEST), *in = malloc((size_t)MESSAGES * LONGEST);
    MPI_Request sends[MESSAGES], recvs[MESSAGES];
    MPI_Message messages[MESSAGES], other;
    MPI_Status status;

    for (int n = 0; n < MESSAGES; n++) {
        pattern_fill(out + (size_t)n * LONGEST, (size_t)bytes_of(n), (uint64_t)(mtest_rank * 100 + n));
        CHECK_OK(MPI_Isend(out + (size_t)n * LONGEST, bytes_of(n), MPI_BYTE, to, 4, MPI_COMM_WORLD, &sends[n]));
    }
    for (int n = 0; n < MESSAGES; n++) {
        messages[n] = MPI_MESSAGE_NULL;
        if (n % 2) {
            CHECK_OK(MPI_Mprobe(from, 4, MPI_COMM_WORLD, &messages[n], &status));
        } else {
            do
                CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &messages[n], &status));
            while (!flag);
        }
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(messages[n] != MPI_MESSAGE_NULL && status.MPI_SOURCE == from && status.MPI_TAG == 4 &&
              count == bytes_of(n));
    }
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Improbe(from, 4, MPI_COMM_WORLD, &flag, &other, MPI_STATUS_IGNORE));
    CHECK(!flag);

    /* A call with a wrong argument leaves the message, which is received below. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    other = messages[0];
    CHECK_CLASS(MPI_Mrecv(in, -1, MPI_BYTE, &messages[0], &status), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Imrecv(in, LONGEST, MPI_DATATYPE_NULL, &messages[0], &recvs[0]), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Imrecv(in, LONGEST, MPI_BYTE, &messages[0], NULL), MPI_ERR_ARG);
    CHECK(messages[0] == other);

    for (int n = MESSAGES - 1; n >= 0; n--) {
        unsigned char *at = in + (size_t)n * LONGEST;
        recvs[n] = MPI_REQUEST_NULL;
        if (n % 3) {
            CHECK_OK((n % 2 ? MPI_Imrecv(at, LONGEST, MPI_BYTE, &messages[n], &recvs[n])
                            : MPI_Imrecv_c(at, LONGEST, MPI_BYTE, &messages[n], &recvs[n])));
        } else {
            CHECK_OK((n % 2 ? MPI_Mrecv(at, LONGEST, MPI_BYTE, &messages[n], &status)
                            : MPI_Mrecv_c(at, LONGEST, MPI_BYTE, &messages[n], &status)));
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK(count == bytes_of(n) && status.MPI_SOURCE == from && status.MPI_TAG == 4);
        }
        CHECK(messages[n] == MPI_MESSAGE_NULL);
    }
    CHECK_OK(MPI_Waitall(MESSAGES, recvs, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    for (int n = 0; n < MESSAGES; n++)
        CHECK(pattern_holds(in + (size_t)n * LONGEST, (size_t)bytes_of(n), (uint64_t)(from * 100 + n)));
    free(in);
    free(out);
    MTEST_END;
}
