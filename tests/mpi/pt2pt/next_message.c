/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking receives that check their peer's next message first. Whatever else has come, is posted, or comes in between,
 * each message reaches the receive that MPI's order gives it to. Every rank sends to its right and receives from its
 * left.
 */
#include "mtest.h"

enum { ROUNDS = 150 };
static int left, right;
static MPI_Comm other;

static void send(int value, int tag, MPI_Comm comm)
{
    MPI_Send(&value, 1, MPI_INT, right, tag, comm);
}

static void expect(int value, int source, int tag, MPI_Comm comm)
{
    int got = -1, count;
    MPI_Status status;
    MPI_Recv(&got, 1, MPI_INT, source, tag, comm, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(got == value);
    CHECK(status.MPI_SOURCE == left && count == 1 && (tag == MPI_ANY_TAG || status.MPI_TAG == tag));
}

static void plain(int i)
{
    send(i, 1, MPI_COMM_WORLD);
    expect(i, left, 1, MPI_COMM_WORLD);
}

/* The second message is taken first. */
static void overtake(int i, int tag, MPI_Comm comm, int second_tag)
{
    send(i, tag, comm);
    send(i + 1, second_tag, MPI_COMM_WORLD);
    expect(i + 1, left, second_tag, MPI_COMM_WORLD);
    expect(i, left, tag, comm);
}

static void later_one_first(int i)
{
    overtake(i, 2, MPI_COMM_WORLD, 3);
}

static void posted_before(int i)
{
    static const int any[][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };
    int first = -1;
    MPI_Request request;
    MPI_Irecv(&first, 1, MPI_INT, any[i % 4][0] ? MPI_ANY_SOURCE : left, any[i % 4][1] ? MPI_ANY_TAG : 4,
              MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    send(i, 4, MPI_COMM_WORLD);
    send(i + 1, 4, MPI_COMM_WORLD);
    expect(i + 1, left, 4, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(first == i);
}

static void other_communicator(int i)
{
    overtake(i, 5, other, 5);
}

static void wildcards(int i)
{
    send(i, 6, MPI_COMM_WORLD);
    send(i + 1, 7, MPI_COMM_WORLD);
    expect(i, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD);
    expect(i + 1, left, MPI_ANY_TAG, MPI_COMM_WORLD);
}

static void too_long(int i)
{
    int two[2] = { i, i + 1 }, one = -1, class;
    MPI_Send(two, 2, MPI_INT, right, 8, other);
    send(i + 2, 8, other);
    MPI_Error_class(MPI_Recv(&one, 1, MPI_INT, left, 8, other, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    expect(i + 2, left, 8, other);
}

static void synchronous(int i)
{
    MPI_Request request;
    MPI_Issend(&i, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &request);
    expect(i, left, 9, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void shorter_than_the_buffer(int i)
{
    static unsigned char out[20000], in[20001];
    int bytes = i * 97 % (int)sizeof out, got;
    MPI_Request request;
    MPI_Status status;
    for (int k = 0; k < bytes; k++)
        out[k] = (unsigned char)(k * 7 + i);
    in[bytes] = 1;
    MPI_Isend(out, bytes, MPI_BYTE, right, 10, MPI_COMM_WORLD, &request);
    MPI_Recv(in, sizeof in, MPI_BYTE, left, 10, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK(got == bytes && in[bytes] == 1);
    CHECK(memcmp(in, out, (size_t)bytes) == 0);
}

static void with_gaps(int i)
{
    int out[6] = { i, -1, i + 1, -1, i + 2, -1 }, in[3] = { 0 };
    MPI_Datatype type;
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send(out, 1, type, right, 11, MPI_COMM_WORLD);
    MPI_Recv(in, 3, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == i && in[1] == i + 1 && in[2] == i + 2);
    MPI_Send(in, 3, MPI_INT, right, 11, MPI_COMM_WORLD);
    MPI_Recv(out, 1, type, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(out[0] == i && out[1] == -1 && out[4] == i + 2);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    static void (*const way[])(int i) = {
        plain,    later_one_first, posted_before,           other_communicator, wildcards,
        too_long, synchronous,     shorter_than_the_buffer, with_gaps,
    };
    MTEST_INIT(argc, argv);
    left = (mtest_rank + mtest_size - 1) % mtest_size;
    right = (mtest_rank + 1) % mtest_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    for (int i = 0; i < ROUNDS; i++)
        for (size_t w = 0; w < sizeof way / sizeof *way; w++)
            way[(w + (size_t)i) % (sizeof way / sizeof *way)](i);
    MPI_Comm_free(&other);
    MTEST_END;
}
