/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/*
 * Agreements of the processes that have spawned others with these: each side gets what all of the other have. The last
 * of the spawning processes dies, which the processes of the other job miss, too. The intercommunicator shrinks.
 */
#include "ulfm.h"

enum { CHILDREN = 3, ROUNDS = 40 };

/* Each rank of the other side, of which there are `others`, clears its bit. */
static void agree_with(MPI_Comm inter, int child, int others)
{
    MPI_Request request;
    for (int round = 0; round < ROUNDS; round++) {
        int flag = (child ? 0xff : 0xffff) & ~(1 << rank);
        if (round % 2)
            OK(MPIX_Comm_agree(inter, &flag));
        else
            ENDS(MPIX_Comm_iagree(inter, &flag, &request), MPI_SUCCESS);
        int want = (child ? 0xffff : 0xff) & ~((1 << others) - 1);
        expect_at(__LINE__, flag == want, "round %d: %#x instead of %#x", round, (unsigned)flag, (unsigned)want);
    }
}

/* Without the dead, of the spawning side; `others` are left of the other one. */
static void shrink(MPI_Comm inter, int others)
{
    MPI_Comm left;
    int far = -1, sum = -1;
    OK(MPIX_Comm_shrink(inter, &left));
    OK(MPI_Comm_remote_size(left, &far));
    EXPECT(far == others);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, left));
    EXPECT(sum == others * (others - 1) / 2);
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    begin(&argc, &argv);
    MPI_Comm_get_parent(&inter);
    int child = inter != MPI_COMM_NULL, spawned = 0, flag = 1, wrong = 0;
    if (!child)
        OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_remote_size(inter, &spawned));
    agree_with(inter, child, spawned);
    int dead = child ? spawned - 1 : size - 1; /* its rank among the spawning ones */
    if (!child && rank == dead)
        die();
    flag = child ? 6 : 3;
    FAILS(MPIX_Comm_agree(inter, &flag));
    EXPECT(flag == (child ? 3 : 6));
    EXPECT(failures_of(inter) == 1);
    EXPECT(acknowledge(inter) == 1);
    agree_with(inter, child, child ? dead : spawned);
    shrink(inter, child ? dead : spawned);
    if (child)
        OK(MPI_Send(&(int){ failed }, 1, MPI_INT, 0, 1, inter));
    for (int i = 0; !child && rank == 0 && i < spawned; i++) {
        OK(MPI_Recv(&wrong, 1, MPI_INT, i, 1, inter, MPI_STATUS_IGNORE));
        failed |= wrong;
    }
    OK(MPI_Comm_free(&inter));
    if (!child)
        return end();
    MPI_Finalize();
    return failed; /* the first of the spawning processes tells */
}
