/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long queues of a communicator without wildcards (MPI-5.0 section 7.4.4, mpi_assert_no_any_tag and
 * mpi_assert_no_any_source). Messages of one tag stay in order whatever the order of tags, both unexpected messages and
 * posted receives, with probes, matched receives and cancelled ones. Matching stays correct when a wildcard is used in
 * spite of the promise.
 */
/* ranks: 2 3 */
#include "mtest.h"

enum { TAGS = 300, EACH = 4, ALL = TAGS * EACH, DONE = TAGS };

static MPI_Comm comm;
static MPI_Request requests[ALL];
static int words[ALL];

/* The n-th message of a tag, from a rank. */
static int word(int rank, int tag, int n)
{
    return rank * 1000000 + tag * 100 + n;
}

/* Every rank except 0 sends, with all tags in turn. */
static void send_all(void)
{
    for (int i = 0; i < ALL; i++) {
        words[i] = word(mtest_rank, i % TAGS, i / TAGS);
        CHECK_OK(MPI_Isend(&words[i], 1, MPI_INT, 0, i % TAGS, comm, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, DONE, comm));
}

static void receive_one(int source, int tag, int n)
{
    int got = -1, flag = 0;
    MPI_Message message;
    MPI_Status status;
    switch ((tag + n) % 3) {
    case 0: CHECK_OK(MPI_Recv(&got, 1, MPI_INT, source, tag, comm, &status)); break;
    case 1:
        CHECK_OK(MPI_Mprobe(source, tag, comm, &message, &status));
        CHECK_OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
        break;
    default:
        CHECK_OK(MPI_Iprobe(source, tag, comm, &flag, &status));
        CHECK(flag);
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, source, tag, comm, &status));
    }
    CHECK(got == word(source, tag, n) && status.MPI_SOURCE == source && status.MPI_TAG == tag);
}

/* All messages have come before they are received, the last tag first. */
static void unexpected(int use_wildcard)
{
    for (int source = 1; source < mtest_size; source++)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, source, DONE, comm, MPI_STATUS_IGNORE));
    for (int tag = TAGS - 1; tag >= 0; tag--)
        for (int n = 0; n < EACH; n++)
            for (int source = 1; source < mtest_size; source++) {
                if (use_wildcard && n == 1 && source == 1 && tag == TAGS / 2) {
                    int got = -1, flag;
                    MPI_Status status;
                    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status));
                    CHECK(flag && status.MPI_SOURCE >= 1);
                    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, 1, MPI_ANY_TAG, comm,
                                      &status)); /* the earliest of the remaining messages */
                    CHECK(status.MPI_TAG == 0 && got == word(1, 0, 0));
                }
                if (!(use_wildcard && tag == 0 && source == 1))
                    receive_one(source, tag, n);
                else if (n > 0)
                    receive_one(source, tag, n);
            }
}

/* All receives are posted before the messages are sent, the last tag first; some are cancelled. */
static void posted(void)
{
    for (int source = 1; source < mtest_size; source++) {
        MPI_Request extra[TAGS];
        int k = 0, nothing, flag;
        for (int n = 0; n < EACH; n++)
            for (int tag = TAGS - 1; tag >= 0; tag--, k++)
                CHECK_OK(MPI_Irecv(&words[k], 1, MPI_INT, source, tag, comm, &requests[k]));
        for (int tag = 0; tag < TAGS; tag++)
            CHECK_OK(MPI_Irecv(&nothing, 1, MPI_INT, source, tag, comm, &extra[tag]));
        for (int tag = TAGS - 1; tag >= 0; tag--) {
            MPI_Status status;
            CHECK_OK(MPI_Cancel(&extra[tag]));
            CHECK_OK(MPI_Wait(&extra[tag], &status));
            CHECK_OK(MPI_Test_cancelled(&status, &flag));
            CHECK(flag);
        }
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, source, DONE, comm)); /* go */
        CHECK_OK(MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE));
        k = 0;
        for (int n = 0; n < EACH; n++)
            for (int tag = TAGS - 1; tag >= 0; tag--, k++)
                CHECK(words[k] == word(source, tag, n));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, source, DONE, comm, MPI_STATUS_IGNORE));
    }
}

static void run(int use_wildcard)
{
    if (mtest_rank == 0) {
        unexpected(0);
        posted();
        unexpected(use_wildcard);
        posted();
        return;
    }
    for (int round = 0; round < 2; round++) {
        send_all();
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, DONE, comm, MPI_STATUS_IGNORE));
        send_all();
    }
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    run(0);
    run(1);
    run(0);
    CHECK_OK(MPI_Comm_free(&comm));
    MTEST_END;
}
