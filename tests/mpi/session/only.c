/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that never calls MPI_Init (MPI-5.0 section 11.3): sessions alone carry point-to-point communication,
 * collectives, datatypes and derived communicators; MPI_COMM_WORLD does not exist. MPI_Query_thread may be called while
 * there is a session (section 11.6.2).
 */
#include "mtest.h"
#include "pattern.h"

enum { BYTES = 120000 };

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, half;
    int initialized = 1, size, one = 1, sum = 0, level = -1;
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1); /* read when the process opens */
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "only", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &mtest_rank);
    MPI_Comm_size(comm, &mtest_size);
    CHECK_OK(MPI_Initialized(&initialized));
    CHECK(!initialized);
    CHECK_CLASS(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_COMM);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_MULTIPLE);

    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    pattern_fill(out, BYTES, (uint64_t)mtest_rank);
    CHECK_OK(MPI_Sendrecv(out, BYTES, MPI_BYTE, to, 1, in, BYTES, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE));
    CHECK(pattern_holds(in, BYTES, (uint64_t)from));
    CHECK_OK(MPI_Comm_split(comm, mtest_rank % 2, 0, &half));
    CHECK_OK(MPI_Comm_size(half, &size));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half));
    CHECK(sum == size);
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    free(in);
    free(out);
    MTEST_END;
}
