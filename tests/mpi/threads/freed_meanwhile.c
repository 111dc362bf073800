/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A blocking call goes on with what it was given, although that is freed meanwhile, and other objects are made in its
 * place. Another thread does that, which knows from the peer that the call has begun, or the function of the operation.
 */
/* ranks: 2 3 */
#include "mtest.h"

#include <pthread.h>

enum { NUMBERS = 200000, OTHERS = 8, HELLO = 1, GO = 2, SHORT = 100 };

static MPI_Comm comm;
static MPI_Datatype spaced; /* every second int */
static MPI_Op sum;
static int *numbers;
static int calls;

typedef int send_function(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
static send_function *send_call;

static void *send_numbers(void *nothing)
{
    CHECK_OK(send_call(numbers, 1, spaced, 1, 0, comm));
    return nothing;
}

static MPI_Datatype make_spaced(void)
{
    MPI_Datatype made;
    CHECK_OK(MPI_Type_vector(NUMBERS, 1, 2, MPI_INT, &made));
    CHECK_OK(MPI_Type_commit(&made));
    return made;
}

/* Frees the communicator and the datatype, and makes others, which would take their place. */
static void free_and_make(MPI_Comm comms[OTHERS], MPI_Datatype types[OTHERS])
{
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&spaced));
    for (int i = 0; i < OTHERS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
        CHECK_OK(MPI_Type_contiguous(3, MPI_DOUBLE, &types[i]));
        CHECK_OK(MPI_Type_commit(&types[i]));
    }
}

static void check_made(MPI_Comm comms[OTHERS], MPI_Datatype types[OTHERS])
{
    for (int i = 0; i < OTHERS; i++) {
        int size, bytes;
        CHECK_OK(MPI_Comm_size(comms[i], &size));
        CHECK_OK(MPI_Type_size(types[i], &bytes));
        CHECK(size == 1 && bytes == 3 * (int)sizeof(double));
        CHECK_OK(MPI_Comm_free(&comms[i]));
        CHECK_OK(MPI_Type_free(&types[i]));
    }
}

/* Rank 1 probes, so the send has begun when it says so. */
static void try_send(send_function *function)
{
    MPI_Comm comms[OTHERS];
    MPI_Datatype types[OTHERS];
    pthread_t thread;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    spaced = make_spaced();
    for (int i = 0; i < 2 * NUMBERS; i++)
        numbers[i] = mtest_rank == 0 ? i : -1;
    if (mtest_rank == 0) {
        send_call = function;
        pthread_create(&thread, NULL, send_numbers, NULL);
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, HELLO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        free_and_make(comms, types);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD));
        pthread_join(thread, NULL);
        check_made(comms, types);
        return;
    }
    if (mtest_rank == 1) {
        int wrong = 0;
        CHECK_OK(MPI_Probe(0, 0, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, HELLO, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(numbers, 1, spaced, 0, 0, comm, MPI_STATUS_IGNORE));
        for (int i = 0; i < NUMBERS; i++)
            wrong += numbers[2 * i] != 2 * i || numbers[2 * i + 1] != -1;
        CHECK(wrong == 0);
    }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&spaced));
}

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    int *from = in, *to = inout, size;
    CHECK_OK(MPI_Type_size(*datatype, &size));
    CHECK(size == 2 * (int)sizeof(int));
    for (int i = 0; i < 2 * *count; i++)
        to[i] += from[i];
    calls++;
    if (sum == MPI_OP_NULL)
        return;
    CHECK_OK(MPI_Op_free(&sum));
    CHECK_OK(MPI_Type_free(&spaced));
}

/* The function frees the operation and the datatype. */
static void try_operation(int commutes)
{
    int in[2 * SHORT], out[2 * SHORT];
    MPI_Op made = MPI_OP_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL, other;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Op_create(add, commutes, &made));
    calls = 0;
    sum = made;
    spaced = pair;
    for (int i = 0; i < 2 * SHORT; i++)
        in[i] = i + mtest_rank;
    CHECK_OK(MPI_Allreduce(in, out, SHORT, pair, made, MPI_COMM_WORLD));
    for (int i = 0; i < 2 * SHORT; i++)
        CHECK(out[i] == mtest_size * i + mtest_size * (mtest_size - 1) / 2);
    if (sum != MPI_OP_NULL) { /* this process has applied nothing */
        CHECK(calls == 0);
        CHECK_OK(MPI_Op_free(&sum));
        CHECK_OK(MPI_Type_free(&spaced));
    }
    CHECK_OK(MPI_Type_contiguous(5, MPI_INT, &other));
    CHECK_OK(MPI_Type_free(&other));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mtest_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mtest_size);
    numbers = malloc(2 * NUMBERS * sizeof *numbers);
    CHECK(numbers && provided == MPI_THREAD_MULTIPLE);
    try_send(MPI_Send);
    try_send(MPI_Ssend);
    try_operation(1);
    try_operation(0);
    free(numbers);
    MTEST_END;
}
