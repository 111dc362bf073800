/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Session_finalize frees what the user has not freed: communicators, posted receives, persistent requests, an
 * attached buffer, messages that were never received. Their handles are then invalid: each gives an error and no crash,
 * and later sessions are not disturbed.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int to = (mtest_rank + 1) % mtest_size, in[2] = { -1, -1 }, value = mtest_rank, sum = -1, size;
    static char buffer[4000];
    for (int round = 0; round < 20; round++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm, copy;
        MPI_Request inactive[3], posted, freed;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, "leftovers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Comm_dup(comm, &copy));
        CHECK_OK(MPI_Session_attach_buffer(session, buffer, sizeof buffer));
        CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, to, 1, comm, &inactive[0]));
        CHECK_OK(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &inactive[1]));
        CHECK_OK(MPI_Start(&inactive[1]));
        CHECK_OK(MPI_Wait(&inactive[1], MPI_STATUS_IGNORE));
        CHECK(sum == mtest_size * (mtest_size - 1) / 2);
        CHECK_OK(MPI_Psend_init(&value, 1, 1, MPI_INT, to, 6, comm, MPI_INFO_NULL, &inactive[2]));
        CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &posted));
        CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 3, copy, &freed));
        CHECK_OK(MPI_Request_free(&freed));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, to, 4, copy));
        CHECK_OK(MPI_Bsend(&value, 1, MPI_INT, to, 5, copy));
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Session_finalize(&session));

        CHECK_CLASS(MPI_Comm_size(comm, &size), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_free(&copy), MPI_ERR_COMM);
        for (int i = 0; i < 3; i++) {
            CHECK_CLASS(MPI_Start(&inactive[i]), MPI_ERR_REQUEST);
            CHECK_OK(MPI_Request_free(&inactive[i]));
        }
        CHECK_OK(MPI_Wait(&posted, MPI_STATUS_IGNORE)); /* it was cancelled */
        CHECK_OK(MPI_Group_size(group, &size));         /* a group is only a list */
        CHECK(size == mtest_size);
        CHECK_OK(MPI_Group_free(&group));
    }
    CHECK(in[0] == -1 && in[1] == -1);
    MTEST_END;
}
