/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 8 */
/* Messages of intercommunicators: those to and from the dead process fail, those among the living arrive. */
#include "ulfm.h"

/* Ranks of the World in the two sides: even and odd ones. The last one dies. */
static int side, places, others, dead_side, dead_place;

static void with_dead(MPI_Comm inter)
{
    MPI_Request request;
    int word = rank, flag;
    FAILS(MPI_Send(&word, 1, MPI_INT, dead_place, 1, inter));
    FAILS(MPI_Ssend(&word, 1, MPI_INT, dead_place, 1, inter));
    FAILS(MPI_Recv(&word, 1, MPI_INT, dead_place, 1, inter, MPI_STATUS_IGNORE));
    FAILS(MPI_Iprobe(dead_place, 1, inter, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 2, inter, &request));
    IS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(acknowledge(inter) == 1);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    EXPECT(!flag);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void among_living(MPI_Comm inter)
{
    int mine, in, out;
    OK(MPI_Comm_rank(inter, &mine));
    for (int other = 0; other < others; other++) {
        if (side != dead_side && other == dead_place)
            continue;
        out = mine * MOST + other;
        OK(MPI_Sendrecv(&out, 1, MPI_INT, other, 5, &in, 1, MPI_INT, other, 5, inter, MPI_STATUS_IGNORE));
        EXPECT(in == other * MOST + mine);
    }
}

static void revoked(MPI_Comm inter)
{
    int word, flag = 0;
    FAILS(MPIX_Comm_agree(MPI_COMM_WORLD, &flag)); /* all have come */
    if (rank == 0)
        OK(MPIX_Comm_revoke(inter));
    else
        REVOKED(MPI_Recv(&word, 1, MPI_INT, 0, 6, inter, MPI_STATUS_IGNORE));
    OK(MPIX_Comm_is_revoked(inter, &flag));
    EXPECT(flag);
    REVOKED(MPI_Barrier(inter));
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter, second, made;
    begin(&argc, &argv);
    side = rank % 2;
    dead_side = (size - 1) % 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter));
    OK(MPI_Comm_dup(inter, &second));
    OK(MPI_Comm_size(inter, &places));
    OK(MPI_Comm_remote_size(inter, &others));
    dead_place = (dead_side == side ? places : others) - 1;
    kill_ranks(1u << (size - 1));
    for (int i = 0; i < 2; i++) {
        MPI_Comm one = i ? second : inter;
        EXPECT(failures_of(one) == 1);
        if (side != dead_side)
            with_dead(one);
        among_living(one);
        FAILS(MPI_Barrier(one));
        FAILS(MPI_Intercomm_merge(one, 0, &made));
        FAILS(MPI_Comm_dup(one, &made));
    }
    revoked(inter);
    among_living(second);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&second));
    OK(MPI_Comm_free(&half));
    return end();
}
