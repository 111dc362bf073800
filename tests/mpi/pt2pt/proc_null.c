/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_PROC_NULL (MPI-5.0 section 3.10): communication with it succeeds at once and touches no buffer; a receive's
 * status is source MPI_PROC_NULL, tag MPI_ANY_TAG, count 0; a matched probe gives MPI_MESSAGE_NO_PROC.
 */
#include "mtest.h"

static MPI_Comm comm = MPI_COMM_WORLD;

static void check_status(MPI_Status *status)
{
    int count = -1;
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0);
    memset(status, 0x55, sizeof *status);
}

static void sends(int *data)
{
    MPI_Request requests[8];
    CHECK_OK(MPI_Send(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm));
    CHECK_OK(MPI_Ssend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm));
    CHECK_OK(MPI_Rsend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm));
    CHECK_OK(MPI_Bsend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm)); /* with no buffer attached */
    CHECK_OK(MPI_Isend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[0]));
    CHECK_OK(MPI_Issend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[1]));
    CHECK_OK(MPI_Irsend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[2]));
    CHECK_OK(MPI_Ibsend(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[3]));
    CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Send_init(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[4]));
    CHECK_OK(MPI_Ssend_init(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[5]));
    CHECK_OK(MPI_Rsend_init(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[6]));
    CHECK_OK(MPI_Bsend_init(data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[7]));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Startall(4, requests + 4));
        CHECK_OK(MPI_Waitall(4, requests + 4, MPI_STATUSES_IGNORE));
    }
    for (int i = 4; i < 8; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
}

static void receives(int *data)
{
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, 5, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Irecv(data, 4, MPI_INT, MPI_PROC_NULL, 5, comm, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_status(&status);
    CHECK_OK(MPI_Recv_init(data, 4, MPI_INT, MPI_PROC_NULL, 5, comm, &request));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        check_status(&status);
    }
    CHECK_OK(MPI_Request_free(&request));
}

static void probes(int *data)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    CHECK_OK(MPI_Probe(MPI_PROC_NULL, 5, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, 5, comm, &flag, &status));
    CHECK(flag);
    check_status(&status);
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 5, comm, &message, &status));
    check_status(&status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Mrecv(data, 4, MPI_INT, &message, &status));
    check_status(&status);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Improbe(MPI_PROC_NULL, 5, comm, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    check_status(&status);
    CHECK_OK(MPI_Imrecv(data, 4, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Wait(&request, &status));
    check_status(&status);
}

/* One half goes to MPI_PROC_NULL, the other to this process. */
static void halves(int *data)
{
    int in = -1, out = 17;
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Sendrecv_replace(data, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Isendrecv(&out, 1, MPI_INT, mtest_rank, 6, data, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_status(&status);
    CHECK_OK(MPI_Sendrecv(data, 4, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, mtest_rank, 6, comm, &status));
    CHECK(in == 17 && status.MPI_SOURCE == mtest_rank && status.MPI_TAG == 6);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int data[4] = { 1, 2, 3, 4 };
    sends(data);
    receives(data);
    probes(data);
    halves(data);
    CHECK(data[0] == 1 && data[1] == 2 && data[2] == 3 && data[3] == 4);
    MTEST_END;
}
