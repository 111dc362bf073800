/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* A rank dies while more messages wait for it than the transport takes: the sends end, and so does MPI_Finalize. */
#include "ulfm.h"

enum { MESSAGES = 4000, BYTES = 1200 };

int main(int argc, char **argv)
{
    static char data[BYTES];
    static MPI_Request requests[MESSAGES];
    begin(&argc, &argv);
    int dead = size - 1, word = 0;
    for (int other = 0; rank == dead && other < dead; other++)
        OK(MPI_Recv(&word, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == dead) {
        usleep(200000);
        die();
    }
    OK(MPI_Send(&word, 1, MPI_INT, dead, 1, MPI_COMM_WORLD));
    for (int i = 0; i < MESSAGES; i++)
        if (MPI_Isend(data, BYTES, MPI_CHAR, dead, 2, MPI_COMM_WORLD, &requests[i]))
            requests[i] = MPI_REQUEST_NULL;
    FAILS(MPI_Recv(&word, 1, MPI_INT, dead, TAG_NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < MESSAGES; i++) {
        int class = class_of(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        EXPECT(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED);
    }
    return end();
}
