/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/* Error handlers: called once for each error, with its code and its communicator, and inherited by what is shrunk. */
#include "ulfm.h"

static int calls, last_class;
static MPI_Comm last_comm;

static void count(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_class = class_of(*code);
}

/* One call has invoked the handler once, with the code that it returns. */
static void once(int line, int code, MPI_Comm comm, int class)
{
    is_at(line, code, class, "the code returned");
    expect_at(line, calls == 1, "the handler was called %d times", calls);
    expect_at(line, calls != 1 || last_class == class, "the handler got class %d instead of %d", last_class, class);
    expect_at(line, calls != 1 || last_comm == comm, "the handler got another communicator");
    calls = 0;
}

#define ONCE(call, comm, class) once(__LINE__, (call), (comm), (class))
#define NEVER(call)                                                                                                    \
    do {                                                                                                               \
        OK(call);                                                                                                      \
        EXPECT(calls == 0);                                                                                            \
    } while (0)

static void failures(MPI_Comm comm, int dead)
{
    MPI_Request request;
    MPI_Status status;
    int word = 0, flag = -1, count;
    ONCE(MPI_Recv(&word, 1, MPI_INT, dead, 1, comm, &status), comm, MPIX_ERR_PROC_FAILED);
    ONCE(MPI_Send(&word, 1, MPI_INT, dead, 1, comm), comm, MPIX_ERR_PROC_FAILED);
    ONCE(finished(MPI_Irecv(&word, 1, MPI_INT, dead, 1, comm, &request), &request), comm, MPIX_ERR_PROC_FAILED);
    ONCE(MPI_Barrier(comm), comm, MPIX_ERR_PROC_FAILED);
    ONCE(finished(MPI_Ibarrier(comm, &request), &request), comm, MPIX_ERR_PROC_FAILED);
    ONCE(MPIX_Comm_agree(comm, &flag), comm, MPIX_ERR_PROC_FAILED);
    ONCE(finished(MPIX_Comm_iagree(comm, &flag, &request), &request), comm, MPIX_ERR_PROC_FAILED);
    NEVER(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &request));
    ONCE(MPI_Wait(&request, &status), comm, MPIX_ERR_PROC_FAILED_PENDING);
    ONCE(MPI_Test(&request, &flag, &status), comm, MPIX_ERR_PROC_FAILED_PENDING);
    IS(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS);
    ONCE(status.MPI_ERROR, comm, MPIX_ERR_PROC_FAILED_PENDING); /* the handler gets the request's error */
    NEVER(MPIX_Comm_ack_failed(comm, size, &count));
    NEVER(MPIX_Comm_agree(comm, &flag));
    NEVER(MPI_Test(&request, &flag, &status));
    EXPECT(!flag);
    NEVER(MPI_Cancel(&request));
    NEVER(MPI_Wait(&request, &status));
    ONCE(MPIX_Comm_agree(comm, NULL), comm, MPI_ERR_ARG);
    ONCE(MPIX_Comm_shrink(comm, NULL), comm, MPI_ERR_ARG);
}

static void revocation(MPI_Comm comm)
{
    MPI_Request request;
    int word = 0, flag = 0;
    NEVER(MPIX_Comm_agree(comm, &flag)); /* none revokes before all have come */
    NEVER(MPIX_Comm_revoke(comm));
    ONCE(MPI_Recv(&word, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE), comm, MPIX_ERR_REVOKED);
    ONCE(finished(MPI_Isend(&word, 1, MPI_INT, rank, 1, comm, &request), &request), comm, MPIX_ERR_REVOKED);
    ONCE(MPI_Barrier(comm), comm, MPIX_ERR_REVOKED);
    NEVER(MPIX_Comm_is_revoked(comm, &flag));
    NEVER(MPIX_Comm_agree(comm, &flag));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, left;
    MPI_Errhandler handler, found;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(count, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    kill_ranks(1u << (size - 1));
    EXPECT(calls == 0); /* nothing is reported to a communicator that is not used */
    failures(comm, size - 1);
    revocation(comm);
    NEVER(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Comm_get_errhandler(left, &found));
    EXPECT(found == handler);
    OK(MPI_Errhandler_free(&found));
    ONCE(MPI_Send(NULL, 0, MPI_INT, size, 1, left), left, MPI_ERR_RANK);
    NEVER(MPI_Comm_free(&comm));
    NEVER(MPI_Comm_free(&left));
    OK(MPI_Errhandler_free(&handler));
    return end();
}
