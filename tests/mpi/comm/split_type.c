/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type (MPI-5.0 section 7.4.2): MPI_COMM_TYPE_SHARED puts together all processes of this machine, in the
 * order of keys, where the transport shares memory, and otherwise leaves each alone. The processes of such a
 * communicator can create a shared window. MPI_UNDEFINED gives MPI_COMM_NULL; an invalid type is MPI_ERR_ARG. An
 * intercommunicator is split into intercommunicators.
 */
#include "mtest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool shares;

/* Each process reads what the others have stored in their parts of a shared window. */
static void share_window(MPI_Comm comm)
{
    MPI_Win win;
    MPI_Aint bytes;
    int rank, size, unit, *own, *theirs;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, comm, &own, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    *own = 100 + rank;
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++) {
        CHECK_OK(MPI_Win_shared_query(win, i, &bytes, &unit, &theirs));
        CHECK(*theirs == 100 + i);
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

/* Even ranks on one side, odd ones on the other; then rank 0 does not take part. */
static void split_intercomm(void)
{
    MPI_Comm side, both, made;
    int size, remote, odd = mtest_rank % 2, value = mtest_rank, sum = -1, evens = (mtest_size + 1) / 2,
                      odds = mtest_size / 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &side));
    CHECK_OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, !odd, 7, &both));
    for (int absent = 0; absent < 2; absent++) {
        bool away = absent && mtest_rank == 0;
        int mine = odd ? odds : evens - absent, others = odd ? evens - absent : odds;
        CHECK_OK(MPI_Comm_split_type(both, away ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
        CHECK((made == MPI_COMM_NULL) == (away || mine == 0 || others == 0 || !shares));
        if (made == MPI_COMM_NULL)
            continue;
        CHECK_OK(MPI_Comm_size(made, &size));
        CHECK_OK(MPI_Comm_remote_size(made, &remote));
        CHECK(size == mine && remote == others);
        CHECK_OK(
            MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, made)); /* of the other side: 0 + 2 + ... or 1 + 3 + ... */
        CHECK(sum == (odd ? evens * (evens - 1) : odds * odds));
        CHECK_OK(MPI_Comm_free(&made));
    }
    CHECK_OK(MPI_Comm_free(&both));
    CHECK_OK(MPI_Comm_free(&side));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int size, rank;
    MPI_Comm comm;
    const char *transport = getenv("PLENUM_TRANSPORT");
    shares = !transport || strcmp(transport, "ucx") != 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -mtest_rank, MPI_INFO_NULL, &comm));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    if (shares) /* the tests run on one machine */
        CHECK(size == mtest_size && rank == mtest_size - 1 - mtest_rank);
    else
        CHECK(size == 1);
    share_window(comm);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, mtest_rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (mtest_rank % 2));
    if (comm != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK(size == (shares ? (mtest_size + 1) / 2 : 1));
        share_window(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    if (mtest_size > 1)
        split_intercomm();
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    MTEST_END;
}
