/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * With errors of the whole group (plain --keep-going), a death breaks the communicators of the dead process. They can
 * be agreed upon, revoked and shrunk all the same, and what is left works.
 */
#include "ulfm.h"

static void recover(MPI_Comm comm, int revoke)
{
    MPI_Comm left;
    MPI_Request request;
    int flag = ~(1 << rank), word;
    FAILS(MPI_Barrier(comm));
    FAILS(MPI_Recv(&word, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    FAILS(MPIX_Comm_agree(comm, &flag));
    for (int i = 0; i < size - 1; i++)
        EXPECT(!is_in((unsigned)flag, i));
    EXPECT(failures_of(comm) == 1 && acknowledge(comm) == 1);
    flag = 12;
    OK(MPIX_Comm_agree(comm, &flag));
    EXPECT(flag == 12);
    if (revoke) {
        OK(MPIX_Comm_revoke(comm));
        OK(MPIX_Comm_is_revoked(comm, &flag));
        EXPECT(flag == 1);
    }
    OK(MPIX_Comm_shrink(comm, &left));
    expect_living(comm, left, 1u << (size - 1));
    expect_works(left);
    OK(MPI_Comm_free(&left));
    OK(MPIX_Comm_ishrink(comm, &left, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_works(left);
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    MPI_Comm comm[2];
    begin(&argc, &argv);
    for (int i = 0; i < 2; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    kill_ranks(1u << (size - 1));
    recover(MPI_COMM_WORLD, 0);
    for (int i = 0; i < 2; i++) {
        recover(comm[i], i);
        OK(MPI_Comm_free(&comm[i]));
    }
    return end();
}
