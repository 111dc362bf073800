/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_create_group() with the highest tags, while a message of a collective waits that this rank starts later. */
/* ranks: 2 */
#include <limits.h>

#include "mtest.h"

int main(int argc, char **argv)
{
    int sum;
    MPI_Group all;
    MTEST_INIT(argc, argv);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < 4; i++) {
        int one = 1, size, token = 0;
        MPI_Comm made;
        MPI_Request request;
        if (mtest_rank == 0) {
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Comm_create_group(MPI_COMM_WORLD, all, INT_MAX - i, &made);
        if (mtest_rank == 1)
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_size(made, &size);
        CHECK(sum == 2);
        CHECK(size == 2);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&all);
    MTEST_END;
}
