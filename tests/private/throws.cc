/* SPDX-License-Identifier: BSD-3-Clause */
/* A solver in C++: an object finalizes the session, while an exception passes. An error handler throws one through a
 * function of MPI, and the communicator remains usable. */
#include <mpi.h>
#include <stdexcept>

#include "solver.h"

namespace
{

struct session {
    MPI_Session handle;

    session()
    {
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &handle))
            throw std::runtime_error("MPI_Session_init");
    }
    ~session()
    {
        MPI_Session_finalize(&handle);
    }
};

void refuse(MPI_Comm *, int *, ...)
{
    throw std::invalid_argument("MPI");
}

bool throws(MPI_Comm comm)
{
    int value = 0;
    try {
        MPI_Send(&value, 1, MPI_INT, 1000, 0, comm);
    } catch (const std::invalid_argument &) {
        return true;
    }
    return false;
}

} // namespace

int solver_solve(int expected)
{
    try {
        session own;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Errhandler handler;
        int rank, sum = -1;
        MPI_Group_from_session_pset(own.handle, "mpi://WORLD", &group);
        if (MPI_Comm_create_from_group(group, "org.example.throws", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm))
            return -1;
        MPI_Group_free(&group);
        MPI_Comm_create_errhandler(refuse, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        MPI_Errhandler_free(&handler);
        bool thrown = throws(comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm_free(&comm);
        throw thrown && sum == expected * (expected - 1) / 2 ? rank : -1;
    } catch (int rank) {
        return rank;
    }
}
