/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are configured differently for collectives report it instead of waiting for each other. A rank learns it
 * when it first sends to a rank that differs; all know once they have exchanged messages. Point-to-point messages still
 * work, and collectives do again with equal settings.
 */
/* ranks: 2 3 */
#include "mtest.h"

static MPI_Comm open_comm(MPI_Session *session)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session));
    CHECK_OK(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "unlike", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &mtest_rank));
    CHECK_OK(MPI_Comm_size(comm, &mtest_size));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static void close_comm(MPI_Session *session, MPI_Comm *comm)
{
    CHECK_OK(MPI_Comm_free(comm));
    CHECK_OK(MPI_Session_finalize(session));
}

/* Every rank receives a message from every other. */
static void greet(MPI_Comm comm)
{
    for (int shift = 1; shift < mtest_size; shift++) {
        int to = (mtest_rank + shift) % mtest_size, from = (mtest_rank - shift + mtest_size) % mtest_size, word = -1;
        CHECK_OK(MPI_Sendrecv(&mtest_rank, 1, MPI_INT, to, 0, &word, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE));
        CHECK(word == from);
    }
}

static void test_variable(const char *name, const char *value)
{
    MPI_Session session;
    int sum = 0, length;
    char text[MPI_MAX_ERROR_STRING];
    if (mtest_rank == 1)
        setenv(name, value, 1);
    MPI_Comm comm = open_comm(&session);
    greet(comm); /* now each knows all */
    int code = MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_CLASS(code, MPI_ERR_OTHER);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, "other settings for collectives") != NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Ibarrier(comm, &request), MPI_ERR_OTHER);
    CHECK(request == MPI_REQUEST_NULL);
    close_comm(&session, &comm);

    unsetenv(name);
    comm = open_comm(&session);
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size);
    close_comm(&session, &comm);
}

int main(void)
{
    MPI_Session session;
    MPI_Comm comm = open_comm(&session);
    CHECK_OK(MPI_Barrier(comm));
    close_comm(&session, &comm);
    test_variable("PLENUM_COLL_ALLREDUCE", "ring");
    test_variable("PLENUM_STRICT", "1");
    MTEST_END;
}
