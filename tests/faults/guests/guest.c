/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared library that keeps a session of its own, like a library of a user. */
#include <mpi.h>

static MPI_Session session;
static MPI_Comm comm;

int guest_open(int *rank, int *size)
{
    MPI_Group group;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return 1;
    if (MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS ||
        MPI_Comm_create_from_group(group, "guest", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS)
        return 1;
    return MPI_Group_free(&group) || MPI_Comm_rank(comm, rank) || MPI_Comm_size(comm, size);
}

int guest_sum(int value, int *sum)
{
    return MPI_Allreduce(&value, sum, 1, MPI_INT, MPI_SUM, comm);
}

int guest_close(void)
{
    return MPI_Comm_free(&comm) || MPI_Session_finalize(&session);
}
