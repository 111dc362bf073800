/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sender and receiver describe the same elements with different layouts (MPI-5.0 section 3.3.1: signatures match, type
 * maps need not): contiguous, strided, scattered, in every pair, at sizes that travel in one chunk and in many.
 */
#include "mtest.h"

enum { LAYOUTS = 4, STRIDE = 5 };
static const int lengths[] = { 1, 30, 2048, 3000, 100000 };

/* The position of element i, and a datatype of that layout. */
static int place(int layout, int i, int length)
{
    switch (layout) {
    case 0: return i;
    case 1: return i * STRIDE;
    case 2: return length - 1 - i;              /* backwards */
    default: return i / 2 * STRIDE + i % 2 * 3; /* pairs with a gap inside */
    }
}

static MPI_Datatype describe(int layout, int length)
{
    MPI_Datatype type;
    int *places = malloc((size_t)length * sizeof *places);
    for (int i = 0; i < length; i++)
        places[i] = place(layout, i, length);
    if (layout == 0)
        MPI_Type_contiguous(length, MPI_INT, &type);
    else if (layout == 1)
        MPI_Type_vector(length, 1, STRIDE, MPI_INT, &type);
    else
        MPI_Type_create_indexed_block(length, 1, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    free(places);
    return type;
}

static void exchange(int sender, int receiver, int length, int *out, int *in)
{
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size, wrong = 0, elements;
    size_t bytes = (size_t)length * STRIDE + 8;
    MPI_Datatype sent = describe(sender, length), received = describe(receiver, length);
    MPI_Request request;
    MPI_Status status;
    for (size_t i = 0; i < bytes; i++)
        out[i] = in[i] = -7;
    for (int i = 0; i < length; i++)
        out[place(sender, i, length)] = mtest_rank * 1000003 + i;
    CHECK_OK(MPI_Irecv(in, 1, received, from, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(out, 1, sent, to, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Get_elements(&status, received, &elements));
    CHECK(elements == length);
    for (int i = 0; i < length; i++) {
        wrong += in[place(receiver, i, length)] != from * 1000003 + i;
        in[place(receiver, i, length)] = -7;
    }
    for (size_t i = 0; i < bytes; i++)
        wrong += in[i] != -7; /* the gaps */
    CHECK(wrong == 0);
    MPI_Type_free(&sent);
    MPI_Type_free(&received);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    int *out = malloc(600000 * sizeof *out), *in = malloc(600000 * sizeof *in);
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
        for (int sender = 0; sender < LAYOUTS; sender++)
            for (int receiver = 0; receiver < LAYOUTS; receiver++)
                exchange(sender, receiver, lengths[n], out, in);
    free(in);
    free(out);
    MTEST_END;
}
