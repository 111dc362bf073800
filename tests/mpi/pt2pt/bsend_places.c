/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where buffered sends take their buffer from (MPI-5.0 section 3.6): from the communicator if it has one, else from its
 * session, else from the process. Each buffer is attached and detached separately; a full one does not overflow into
 * the next.
 */
#include "mtest.h"

enum { SMALL = 100 + MPI_BSEND_OVERHEAD, LARGE = 40000 };
static char data[10000], in[10000];

/* Does a message of this size fit into the buffer of this communicator? */
static int fits(MPI_Comm comm, int bytes)
{
    int me, rc = MPI_ERR_OTHER, class = MPI_SUCCESS;
    MPI_Comm_rank(comm, &me);
    rc = MPI_Bsend(data, bytes, MPI_BYTE, me, 1, comm);
    if (rc == MPI_SUCCESS)
        CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, me, 1, comm, MPI_STATUS_IGNORE));
    else
        MPI_Error_class(rc, &class);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_BUFFER);
    return rc == MPI_SUCCESS;
}

/* A session's flush waits for the messages in the session's buffer: it is empty afterwards and may be written. */
static void flushes(MPI_Session session, MPI_Comm lone)
{
    char buffer[LARGE], *back;
    MPI_Count wide;
    MPI_Request recvs[2], flush = MPI_REQUEST_NULL;
    memset(data, 1, sizeof data);
    CHECK_OK(MPI_Session_attach_buffer_c(session, buffer, LARGE));
    for (int i = 0; i < 2; i++) {
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 1, lone, &recvs[i]));
        CHECK_OK(MPI_Bsend(data, sizeof data, MPI_BYTE, 0, 1, lone));
        if (i == 0) {
            CHECK_OK(MPI_Session_flush_buffer(session));
        } else {
            CHECK_OK(MPI_Session_iflush_buffer(session, &flush));
            CHECK(flush != MPI_REQUEST_NULL);
            CHECK_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
        }
        memset(buffer, 2, sizeof buffer);
        CHECK_OK(MPI_Wait(&recvs[i], MPI_STATUS_IGNORE));
        CHECK(memcmp(in, data, sizeof in) == 0);
    }
    CHECK_OK(MPI_Session_detach_buffer_c(session, &back, &wide));
    CHECK(back == buffer && wide == LARGE);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    char of_process[SMALL], of_comm[LARGE], of_session[LARGE], *back;
    MPI_Count wide;
    MPI_Comm comm, lone;
    MPI_Session session;
    MPI_Group self;
    int size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "lone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &lone));

    CHECK(!fits(comm, 50) && !fits(lone, 50)); /* none anywhere */
    CHECK_OK(MPI_Buffer_attach(of_process, SMALL));
    CHECK(fits(comm, 50) && fits(MPI_COMM_WORLD, 50) && fits(lone, 50) && !fits(comm, 5000));

    CHECK_OK(MPI_Comm_attach_buffer(comm, of_comm, LARGE));
    CHECK(fits(comm, 5000) && !fits(MPI_COMM_WORLD, 5000) && !fits(lone, 5000));
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, of_process, SMALL), MPI_ERR_BUFFER);

    CHECK_CLASS(MPI_Session_attach_buffer_c(session, of_session, -1), MPI_ERR_ARG);
    CHECK_OK(MPI_Session_attach_buffer_c(session, of_session, LARGE));
    CHECK(fits(lone, 5000) && !fits(MPI_COMM_WORLD, 5000));
    CHECK_OK(MPI_Comm_attach_buffer_c(lone, of_process + 0, 0)); /* its own buffer now, with no space at all */
    CHECK(!fits(lone, 50));
    CHECK_OK(MPI_Comm_detach_buffer_c(lone, &back, &wide));
    CHECK(wide == 0);
    CHECK(fits(lone, 5000));

    CHECK_OK(MPI_Session_detach_buffer(session, &back, &size));
    CHECK(back == of_session && size == LARGE);
    flushes(session, lone);
    CHECK(!fits(lone, 5000) && fits(lone, 50));
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &size));
    CHECK(back == of_comm && size == LARGE);
    CHECK(!fits(comm, 5000) && fits(comm, 50));
    CHECK_OK(MPI_Buffer_detach_c(&back, &wide));
    CHECK(back == of_process && wide == SMALL);
    CHECK(!fits(comm, 50));

    MPI_Group_free(&self);
    MPI_Comm_free(&lone);
    MPI_Session_finalize(&session);
    MPI_Comm_free(&comm);
    MTEST_END;
}
