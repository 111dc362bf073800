/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank comes late to a collective, by more than the time after which the others ask each other whether their calls
 * differ. They do not: the data is right, and no communicator breaks. tests/hosts runs this over several nodes.
 */
/* ranks: 4 */
/* sleeps: 35 */
#define LATE_LONG 20000
#include "late.h"

static int out[RANKS_MAX * LONG];

static void call(int kind, int root)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    switch (kind) {
    case 0: CHECK_OK(MPI_Barrier(comm)); break;
    case 1: CHECK_OK(MPI_Bcast(rank == root ? in : out, LONG, MPI_INT, root, comm)); break;
    case 2: CHECK_OK(MPI_Gather(in, SHORT, MPI_INT, out, SHORT, MPI_INT, root, comm)); break;
    case 3: CHECK_OK(MPI_Gatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, root, comm)); break;
    case 4: CHECK_OK(MPI_Scatter(in, SHORT, MPI_INT, out, SHORT, MPI_INT, root, comm)); break;
    case 5: CHECK_OK(MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, comm)); break;
    case 6: CHECK_OK(MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, comm)); break;
    case 7: CHECK_OK(MPI_Alltoall(in, LONG, MPI_INT, out, LONG, MPI_INT, comm)); break;
    case 8: CHECK_OK(MPI_Reduce(in, out, LONG, MPI_INT, MPI_SUM, root, comm)); break;
    case 9: CHECK_OK(MPI_Allreduce(in, out, LONG, MPI_INT, MPI_SUM, comm)); break;
    case 10: CHECK_OK(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm)); break;
    case 11: CHECK_OK(MPI_Scan(in, out, LONG, MPI_INT, MPI_SUM, comm)); break;
    default: CHECK_OK(MPI_Exscan(in, out, LONG, MPI_INT, MPI_SUM, comm)); break;
    }
}

static void come(int kind, int late)
{
    int root = (late + 1) % size;
    sleep_if_late(late);
    call(kind, root);
    if (wrong_of_all(kind, root, out, SHORT) != 0)
        CHECK(!"the data is right");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the next one is not late yet */
}

int main(int argc, char **argv)
{
    open_late(&argc, &argv);
    for (int kind = 0; kind < KINDS_OF_ALL; kind++)
        come(kind, kind % size);
    for (int late = 0; late < size; late++) { /* whose messages depend on other ranks' */
        come(3, late);
        come(5, late);
        come(11, late);
    }
    MTEST_END;
}
