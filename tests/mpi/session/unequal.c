/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Session_init and MPI_Session_finalize are local (MPI-5.0 section 11.3.1): the ranks open and close different
 * numbers of sessions, some while others wait in the creation of a communicator, and the creation succeeds.
 */
#include <unistd.h>

#include "mtest.h"

/* Sessions of this process alone; every second one has a communicator of one process. */
static void alone(int cycles)
{
    for (int i = 0; i < cycles; i++) {
        MPI_Session session;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        if (i % 2) {
            MPI_Group self;
            MPI_Comm comm;
            CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
            CHECK_OK(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
            CHECK_OK(MPI_Group_free(&self));
            CHECK_OK(MPI_Comm_free(&comm));
        }
        CHECK_OK(MPI_Session_finalize(&session));
    }
}

static void together(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = -1;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "together", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Comm_rank(comm, &mtest_rank);
    MPI_Comm_size(comm, &mtest_size);
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size * (mtest_size - 1) / 2);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(void)
{
    alone(getpid() % 3);
    for (int round = 0; round < 12; round++) {
        together();
        alone((mtest_rank * 7 + round * 3) % 5);
        if ((mtest_rank + round) % 4 == 3)
            usleep(2000);
    }
    MTEST_END;
}
