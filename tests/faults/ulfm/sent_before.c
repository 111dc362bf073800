/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/*
 * What a process has sent before it fails can still be received, in each way. The last rank sends N messages to rank 0
 * in each of four ways and dies. Rank 0 receives them only when that process has gone, and, as the second argument
 * says, asks for the failed ones, creates a communicator, or sends a first message to another rank that has died. Over
 * UCX such messages may need rank 0 while they are sent.
 */
#include <errno.h>

#include "ulfm.h"

enum { WAYS = 4, TAG_PIDS = WAYS };

static volatile sig_atomic_t connected;

static void on_signal(int number)
{
    connected = number;
}

static int receive(int way, MPI_Comm comm, int *value)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    int code;
    switch (way) {
    case 0: return MPI_Recv(value, 1, MPI_INT, size - 1, way, comm, MPI_STATUS_IGNORE);
    case 1: code = MPI_Irecv(value, 1, MPI_INT, size - 1, way, comm, &request); return finished(code, &request);
    case 2:
        code = MPI_Mprobe(size - 1, way, comm, &message, MPI_STATUS_IGNORE);
        return code ? code : MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    default: return MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, way, comm, MPI_STATUS_IGNORE);
    }
}

static int is_mode(const char *mode, const char *wanted)
{
    return strcmp(mode, wanted) == 0;
}

/* Until the receiver of a first message has it, the message is in memory that goes with the sender. */
static void await_signal(void)
{
    while (!connected)
        usleep(1000);
}

/* The last rank, and the one before it, which has nothing to do with rank 0 and dies first. */
static void send_and_die(const char *mode, int messages, const MPI_Comm comm[WAYS])
{
    int pids[2] = { getpid(), getpid() }, both = is_mode(mode, "sends");
    if (both && rank == size - 2) {
        OK(MPI_Send(pids, 1, MPI_INT, size - 1, TAG_PIDS, MPI_COMM_WORLD));
        await_signal();
        die();
    }
    if (both) {
        OK(MPI_Recv(pids, 1, MPI_INT, size - 2, TAG_PIDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        kill(pids[0], SIGUSR1);
    }
    OK(MPI_Send(pids, 2, MPI_INT, 0, TAG_PIDS, MPI_COMM_WORLD));
    await_signal();
    for (int i = 0; i < messages; i++)
        for (int way = 0; way < WAYS; way++) {
            int value = way * messages + i;
            OK(MPI_Send(&value, 1, MPI_INT, 0, way, comm[way]));
        }
    die();
}

/* What rank 0 does after the deaths, before it receives. */
static void act(const char *mode, MPI_Comm comm)
{
    MPI_Group group = MPI_GROUP_EMPTY;
    MPI_Comm other;
    int word = 0;
    if (is_mode(mode, "asks"))
        while (group == MPI_GROUP_EMPTY)
            OK(MPIX_Comm_get_failed(comm, &group));
    if (is_mode(mode, "creates")) {
        usleep(50000); /* the launcher's word */
        OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
        OK(MPI_Comm_free(&other));
    }
    if (is_mode(mode, "sends"))
        FAILS(MPI_Ssend(&word, 1, MPI_INT, size - 2, TAG_PIDS, comm));
}

static void outlive(const char *mode, int messages, const MPI_Comm comm[WAYS])
{
    int pids[2], value;
    OK(MPI_Recv(pids, 2, MPI_INT, size - 1, TAG_PIDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    kill(pids[1], SIGUSR1);
    for (int i = 0; i < 2; i++)
        while (kill(pids[i], 0) == 0 || errno != ESRCH)
            usleep(1000);
    act(mode, comm[0]);
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < messages && !failed; i++) {
            value = -1;
            OK(receive(way, comm[way], &value));
            EXPECT(value == way * messages + i);
        }
    FAILS(MPI_Recv(&value, 1, MPI_INT, size - 1, 0, comm[0], MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, on_signal);
    begin(&argc, &argv);
    int messages = argc > 1 ? atoi(argv[1]) : 1;
    const char *mode = argc > 2 ? argv[2] : "";
    MPI_Comm comm[WAYS];
    for (int way = 0; way < WAYS; way++)
        if (is_mode(mode, "sends")) /* a duplicate connects the ranks */
            comm[way] = MPI_COMM_WORLD;
        else
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[way]));
    if (rank == 0)
        outlive(mode, messages, comm);
    else if (rank >= size - 1 - is_mode(mode, "sends"))
        send_and_die(mode, messages, comm);
    return end();
}
