/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Receives from MPI_ANY_SOURCE while a failure is not acknowledged: the blocking ones fail, the others report
 * MPIX_ERR_PROC_FAILED_PENDING, stay active and complete after the acknowledgement. Rank 0 receives; with two ranks it
 * sends to itself.
 */
#include "ulfm.h"

static MPI_Comm comm;
static int sender;

static void send_one(int value, int tag)
{
    if (rank == sender)
        OK(MPI_Send(&value, 1, MPI_INT, 0, tag, comm));
}

/* Rank 0 says that it has acknowledged, or has got so far. */
static void step(void)
{
    char word = 's';
    if (sender == 0)
        return;
    if (rank == 0)
        OK(MPI_Send(&word, 1, MPI_CHAR, sender, 99, comm));
    if (rank == sender)
        OK(MPI_Recv(&word, 1, MPI_CHAR, 0, 99, comm, MPI_STATUS_IGNORE));
}

static void blocking(void)
{
    MPI_Message message;
    MPI_Status status;
    int value = -1, flag = -1;
    FAILS(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &status));
    FAILS(MPI_Probe(MPI_ANY_SOURCE, 1, comm, &status));
    FAILS(MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, &status));
    FAILS(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &status));
    flag = class_of(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, &status));
    EXPECT(flag == MPI_SUCCESS || flag == MPIX_ERR_PROC_FAILED);
}

/* One pending receive in each function that completes requests. */
static void reported(MPI_Request *request)
{
    enum { MANY = 3 };
    MPI_Request many[MANY] = { MPI_REQUEST_NULL, *request, MPI_REQUEST_NULL };
    MPI_Status status[MANY];
    int flag = -1, index = -1, count = -1, indices[MANY];
    IS(MPI_Wait(request, status), MPIX_ERR_PROC_FAILED_PENDING);
    IS(MPI_Test(request, &flag, status), MPIX_ERR_PROC_FAILED_PENDING);
    int class = class_of(MPI_Request_get_status(*request, &flag, status));
    EXPECT(flag == 0 && (class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED_PENDING));
    IS(MPI_Waitany(MANY, many, &index, status), MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(index == 1 && many[1] == *request);
    index = -1;
    IS(MPI_Testany(MANY, many, &index, &flag, status), MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(index == 1 && many[1] == *request);
    IS(MPI_Waitall(MANY, many, status), MPI_ERR_IN_STATUS);
    EXPECT(class_of(status[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING && many[1] == *request);
    IS(MPI_Testall(MANY, many, &flag, status), MPI_ERR_IN_STATUS);
    EXPECT(class_of(status[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING && many[1] == *request);
    IS(MPI_Waitsome(MANY, many, &count, indices, status), MPI_ERR_IN_STATUS);
    EXPECT(count == 1 && indices[0] == 1 && class_of(status[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING);
    IS(MPI_Testsome(MANY, many, &count, indices, status), MPI_ERR_IN_STATUS);
    EXPECT(count == 1 && indices[0] == 1 && class_of(status[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(many[1] == *request && *request != MPI_REQUEST_NULL);
}

/* Of three requests one has completed, one fails, one stays. */
static void mixed(void)
{
    enum { DONE, DEAD, STAYS, MANY };
    MPI_Request many[MANY];
    MPI_Status status[MANY];
    int value[MANY] = { -1, -1, -1 };
    send_one(11, 11);
    if (rank == 0) {
        OK(MPI_Irecv(&value[DONE], 1, MPI_INT, sender, 11, comm, &many[DONE]));
        int code = MPI_Irecv(&value[DEAD], 1, MPI_INT, size - 1, 12, comm, &many[DEAD]);
        if (code)
            many[DEAD] = MPI_REQUEST_NULL;
        FAILS(code ? code : MPIX_ERR_PROC_FAILED);
        OK(MPI_Irecv(&value[STAYS], 1, MPI_INT, MPI_ANY_SOURCE, 13, comm, &many[STAYS]));
        while (many[DONE] != MPI_REQUEST_NULL || many[DEAD] != MPI_REQUEST_NULL) {
            for (int i = 0; i < MANY; i++)
                status[i].MPI_ERROR = -1;
            int again = many[DONE] != MPI_REQUEST_NULL, dies = many[DEAD] != MPI_REQUEST_NULL;
            IS(MPI_Waitall(MANY, many, status), MPI_ERR_IN_STATUS);
            int class = class_of(status[DEAD].MPI_ERROR);
            EXPECT(!dies || class == MPIX_ERR_PROC_FAILED || class == MPI_ERR_PENDING);
            class = class_of(status[DONE].MPI_ERROR);
            EXPECT(!again || class == MPI_SUCCESS || class == MPI_ERR_PENDING);
            EXPECT(class_of(status[STAYS].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING &&
                   many[STAYS] != MPI_REQUEST_NULL);
            if (failed)
                break;
        }
        EXPECT(value[DONE] == 11);
        acknowledge(comm);
    }
    step();
    send_one(13, 13);
    if (rank == 0) {
        OK(MPI_Waitall(MANY, many, status));
        EXPECT(value[STAYS] == 13 && status[STAYS].MPI_SOURCE == sender && status[STAYS].MPI_TAG == 13);
    }
}

/* A receive that was posted before the death, and one posted afterwards; each completes after the acknowledgement. */
static void pending(MPI_Request *before, int *value, int by_name)
{
    MPI_Request after, started;
    MPI_Status status;
    int second = -1, third = -1;
    if (rank == 0) {
        reported(before);
        OK(MPI_Irecv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 22, comm, &after));
        reported(&after);
        OK(MPI_Recv_init(&third, 1, MPI_INT, MPI_ANY_SOURCE, 23, comm, &started));
        OK(MPI_Start(&started));
        reported(&started);
        if (by_name)
            OK(MPIX_Comm_failure_ack(comm));
        else
            EXPECT(acknowledge(comm) == 1);
    }
    step();
    send_one(21, 21);
    send_one(22, 22);
    send_one(23, 23);
    if (rank > 0)
        return;
    OK(MPI_Wait(before, &status));
    EXPECT(*value == 21 && status.MPI_SOURCE == sender);
    OK(MPI_Wait(&after, &status));
    EXPECT(second == 22);
    OK(MPI_Wait(&started, &status));
    EXPECT(third == 23);
    OK(MPI_Request_free(&started));
}

/* A message that has come is received whether the failure is acknowledged or not; after that nothing is special. */
static void matching(void)
{
    MPI_Request request;
    int value = -1;
    send_one(31, 31);
    send_one(32, 32);
    if (rank == 0) {
        OK(MPI_Recv(&value, 1, MPI_INT, sender, 32, comm, MPI_STATUS_IGNORE)); /* so the first has come, too */
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 31, comm, MPI_STATUS_IGNORE));
        EXPECT(value == 31);
    }
    send_one(33, 33);
    send_one(34, 34);
    if (rank == 0) {
        OK(MPI_Recv(&value, 1, MPI_INT, sender, 34, comm, MPI_STATUS_IGNORE));
        OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 33, comm, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EXPECT(value == 33);
    }
}

static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int value, flag = 0;
    if (rank > 0)
        return;
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 41, comm, &request));
    IS(MPI_Wait(&request, &status), MPIX_ERR_PROC_FAILED_PENDING);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    EXPECT(flag);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[3];
    MPI_Request before[2];
    int value[2] = { -1, -1 };
    begin(&argc, &argv);
    sender = size > 2 ? 1 : 0;
    for (int i = 0; i < 3; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < 2 && rank == 0; i++)
        OK(MPI_Irecv(&value[i], 1, MPI_INT, MPI_ANY_SOURCE, 21, comms[i], &before[i]));
    kill_ranks(1u << (size - 1));
    for (int i = 0; i < 2; i++) {
        comm = comms[i];
        if (rank == 0)
            blocking();
        matching();
        cancelled();
        pending(&before[i], &value[i], i);
    }
    comm = comms[2];
    mixed();
    matching();
    for (int i = 0; i < 3; i++)
        OK(MPI_Comm_free(&comms[i]));
    return end();
}
