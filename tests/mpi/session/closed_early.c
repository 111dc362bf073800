/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/*
 * A process closes a session while another waits for its message there, and lives on: it opens a second session, where
 * it waits for the other one. The first wait ends with MPI_ERR_PROC_ABORTED, whether the two have communicated or not.
 */
#include "mtest.h"

static MPI_Comm open_comm(const char *tag, MPI_Session *session)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void close_comm(MPI_Comm comm, MPI_Session session)
{
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

static void leave(int with_message)
{
    MPI_Session first, second;
    int rank, size, value = 0, sum = 0;
    MPI_Comm comm = open_comm(with_message ? "first, with a message" : "first", &first);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0 && with_message)
        MPI_Send(&(int){ 7 }, 1, MPI_INT, 1, 1, comm);
    if (rank == 1 && with_message) {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
        CHECK(value == 7);
    }
    if (rank == 1)
        CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    close_comm(comm, first);
    comm = open_comm("second", &second);
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size);
    close_comm(comm, second);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    leave(1);
    leave(0);
    MTEST_END;
}
