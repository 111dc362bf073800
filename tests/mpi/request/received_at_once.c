/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Irecv may take a message that is there at once, past queues and matching. The program cannot tell by data,
 * status, order, or errors, whatever else was posted or has come before it, and however its request is released.
 */
#include "mtest.h"

enum { MOST = 5000, LETTERS = 8 };
static const int length[LETTERS] = { 0, 1, 8, 16, 17, 1024, 3000, MOST };
static unsigned char out[LETTERS][MOST], in[LETTERS][MOST];
static MPI_Request sending[LETTERS];

static unsigned char letter(int i, int at)
{
    return (unsigned char)(17 * i + at);
}

static void send_letter(int i, int to, int tag)
{
    for (int at = 0; at < length[i]; at++)
        out[i][at] = letter(i, at);
    CHECK_OK(MPI_Isend(out[i], length[i], MPI_BYTE, to, tag, MPI_COMM_WORLD, &sending[i]));
}

static void all_sent(void)
{
    CHECK_OK(MPI_Waitall(LETTERS, sending, MPI_STATUSES_IGNORE));
}

static void check_letter(int i, const unsigned char *got, const MPI_Status *status, int from, int tag)
{
    int bytes = -1, wrong = 0, cancelled = 1;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    MPI_Test_cancelled(status, &cancelled);
    for (int at = 0; at < length[i]; at++)
        wrong += got[at] != letter(i, at);
    CHECK(wrong == 0 && bytes == length[i] && !cancelled && status->MPI_SOURCE == from && status->MPI_TAG == tag);
}

/* All messages come before their receives, which are in another order of tags if `backwards`. */
static void come_first(int to, int from, int backwards)
{
    MPI_Request request[LETTERS];
    MPI_Status status[LETTERS];
    for (int i = 0; i < LETTERS; i++)
        send_letter(i, to, i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < LETTERS; k++) {
        int i = backwards ? LETTERS - 1 - k : k;
        CHECK_OK(MPI_Irecv(in[i], length[i], MPI_BYTE, from, i, MPI_COMM_WORLD, &request[i]));
    }
    CHECK_OK(MPI_Waitall(LETTERS, request, status));
    for (int i = 0; i < LETTERS; i++) {
        check_letter(i, in[i], &status[i], from, i);
        CHECK(request[i] == MPI_REQUEST_NULL);
    }
    all_sent();
}

/* A receive with wildcards was posted before: it gets the message. */
static void wildcard_first(int to, int from)
{
    MPI_Request request[2];
    MPI_Status status[2];
    CHECK_OK(MPI_Irecv(in[0], MOST, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]));
    MPI_Barrier(MPI_COMM_WORLD);
    send_letter(3, to, 5);
    send_letter(4, to, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Irecv(in[1], MOST, MPI_BYTE, from, 5, MPI_COMM_WORLD, &request[1]));
    CHECK_OK(MPI_Waitall(2, request, status));
    check_letter(3, in[0], &status[0], from, 5);
    check_letter(4, in[1], &status[1], from, 5);
    all_sent();
}

/* Released one by one, in other ways than by MPI_Waitall; and too late to be cancelled. */
static void let_go(int to, int from)
{
    MPI_Request request[4];
    MPI_Status status;
    int flag = 0, index = -1;
    for (int i = 0; i < 4; i++)
        send_letter(i, to, i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        CHECK_OK(MPI_Irecv(in[i], MOST, MPI_BYTE, from, i, MPI_COMM_WORLD, &request[i]));
    while (!flag)
        CHECK_OK(MPI_Request_get_status(request[0], &flag, &status));
    check_letter(0, in[0], &status, from, 0);
    CHECK_OK(MPI_Cancel(&request[0]));
    CHECK_OK(MPI_Wait(&request[0], &status));
    check_letter(0, in[0], &status, from, 0);
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Test(&request[1], &flag, &status));
    check_letter(1, in[1], &status, from, 1);
    CHECK_OK(MPI_Waitany(2, request, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    CHECK_OK(MPI_Waitany(1, &request[2], &index, &status));
    CHECK(index == 0);
    check_letter(2, in[2], &status, from, 2);
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Testany(4, request, &index, &flag, &status));
    CHECK(index == 3);
    check_letter(3, in[3], &status, from, 3);
    all_sent();
}

/* A message too long for its receive, and one that is never sent. */
static void not_to_be_had(int to, int from)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;
    send_letter(5, to, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Irecv(in[5], length[5] - 1, MPI_BYTE, from, 1, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Irecv(in[5], 1, MPI_BYTE, from, 2, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
    all_sent();
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int i = 0; i < LETTERS; i++)
        sending[i] = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 80; i++)
        come_first(to, from, i % 4 == 3);
    for (int i = 0; i < 20; i++) {
        wildcard_first(to, from);
        MPI_Barrier(MPI_COMM_WORLD);
        let_go(to, from);
        MPI_Barrier(MPI_COMM_WORLD);
        not_to_be_had(to, from);
    }
    MTEST_END;
}
