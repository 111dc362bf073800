/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned requests between the groups of an intercommunicator. Also sessions that are finalized with unfinished
 * requests: never matched, never started, started and never received. Nothing hangs, and the requests can be freed
 * later.
 */
#include "mtest.h"

enum { PARTS = 6 };

static void between_groups(void)
{
    MPI_Comm half, between;
    MPI_Request requests[2];
    int side = mtest_rank % 2, out[PARTS], in[PARTS], rank, remote;
    if (mtest_size < 2)
        return;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &between));
    CHECK_OK(MPI_Comm_rank(between, &rank));
    CHECK_OK(MPI_Comm_remote_size(between, &remote));
    if (rank < remote && rank < mtest_size / 2) {
        CHECK_OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, rank, 1, between, MPI_INFO_NULL, &requests[0]));
        CHECK_OK(MPI_Precv_init(in, PARTS / 2, 2, MPI_INT, rank, 1, between, MPI_INFO_NULL, &requests[1]));
        for (int time = 0; time < 3; time++) {
            CHECK_OK(MPI_Startall(2, requests));
            for (int i = PARTS - 1; i >= 0; i--) {
                out[i] = mtest_rank * 100 + time * 10 + i;
                CHECK_OK(MPI_Pready(i, requests[0]));
            }
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            for (int i = 0; i < PARTS; i++)
                CHECK(in[i] == (rank * 2 + !side) * 100 + time * 10 + i);
        }
        CHECK_OK(MPI_Request_free(&requests[0]));
        CHECK_OK(MPI_Request_free(&requests[1]));
    }
    CHECK_OK(MPI_Comm_free(&between));
    CHECK_OK(MPI_Comm_free(&half));
}

static void ended_session(int free_comm)
{
    static int data[4][PARTS];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request requests[4];
    int rank, size, next, last;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "plenum.tests.partitioned", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    CHECK_OK(MPI_Precv_init(data[0], PARTS, 1, MPI_INT, last, 1, comm, MPI_INFO_NULL, &requests[0])); /* unmatched */
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_OK(MPI_Precv_init(data[1], PARTS, 1, MPI_INT, last, 2, comm, MPI_INFO_NULL, &requests[1])); /* unmatched */
    CHECK_OK(MPI_Psend_init(data[2], PARTS, 1, MPI_INT, next, 3, comm, MPI_INFO_NULL, &requests[2])); /* unmatched */
    CHECK_OK(MPI_Psend_init(data[3], PARTS, 1, MPI_INT, next, 4, comm, MPI_INFO_NULL, &requests[3])); /* unmatched */
    CHECK_OK(MPI_Start(&requests[3]));
    CHECK_OK(MPI_Pready_range(0, PARTS - 1, requests[3]));
    CHECK_OK(MPI_Barrier(comm)); /* a receiver that ends early fails the senders */
    if (free_comm)
        CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_CLASS(MPI_Pready(0, requests[3]), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&requests[3], MPI_STATUS_IGNORE)); /* it was never received */
    CHECK_CLASS(MPI_Start(&requests[1]), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)); /* cancelled with the communicator */
    for (int i = 0; i < 4; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    between_groups();
    ended_session(0);
    ended_session(1);
    MTEST_END;
}
