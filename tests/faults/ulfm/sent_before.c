/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/*
 * What a process has sent before it fails can still be received, in each way. The last rank sends N messages to rank 0
 * in each of four communicators and dies. Rank 0 receives them only when that process has gone. Over UCX such messages
 * may need rank 0 while they are sent.
 */
#include <errno.h>

#include "ulfm.h"

enum { WAYS = 4 };

static int receive(int way, MPI_Comm comm, int *value)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    int code;
    switch (way) {
    case 0: return MPI_Recv(value, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE);
    case 1: code = MPI_Irecv(value, 1, MPI_INT, size - 1, 1, comm, &request); return finished(code, &request);
    case 2:
        code = MPI_Mprobe(size - 1, 1, comm, &message, MPI_STATUS_IGNORE);
        return code ? code : MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    default: return MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int messages = argc > 1 ? atoi(argv[1]) : 1, asks = argc > 2, pid = getpid();
    MPI_Comm comm[WAYS];
    for (int way = 0; way < WAYS; way++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[way]));
    if (rank == size - 1)
        OK(MPI_Send(&pid, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    if (rank == 0)
        OK(MPI_Recv(&pid, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < messages && rank == size - 1; i++)
        for (int way = 0; way < WAYS; way++) {
            int value = way * messages + i;
            OK(MPI_Send(&value, 1, MPI_INT, 0, 1, comm[way]));
        }
    if (rank == size - 1)
        die();
    if (rank == 0) {
        MPI_Group group = MPI_GROUP_EMPTY;
        while (kill(pid, 0) == 0 || errno != ESRCH)
            usleep(1000);
        while (asks && group == MPI_GROUP_EMPTY)
            OK(MPIX_Comm_get_failed(comm[0], &group));
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < messages && !failed; i++) {
                int value = -1;
                OK(receive(way, comm[way], &value));
                EXPECT(value == way * messages + i);
            }
        FAILS(MPI_Recv(&messages, 1, MPI_INT, size - 1, 1, comm[0], MPI_STATUS_IGNORE));
    }
    return end();
}
