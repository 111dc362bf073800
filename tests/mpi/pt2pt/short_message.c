/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message may be shorter than its receive (MPI-5.0 section 3.2.4): only the elements that came are written, and
 * MPI_Get_count and MPI_Get_elements say how many, MPI_UNDEFINED where they do not make whole ones.
 */
#include "mtest.h"

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    enum { CAPACITY = 40000 };
    static int out[CAPACITY], in[CAPACITY];
    static const int sent[] = { 0, 1, 5, 999, 20001 };
    int to = (mtest_rank + 1) % mtest_size, from = (mtest_rank + mtest_size - 1) % mtest_size;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < CAPACITY; i++)
        out[i] = i + mtest_rank;

    for (size_t n = 0; n < sizeof sent / sizeof *sent; n++) {
        MPI_Request request;
        MPI_Status status;
        int pairs, elements, wrong = 0;
        for (int i = 0; i < CAPACITY; i++)
            in[i] = -1;
        CHECK_OK(MPI_Isend(out, sent[n], MPI_INT, to, 2, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Recv(in, CAPACITY / 2, pair, from, 2, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Get_count(&status, pair, &pairs));
        CHECK_OK(MPI_Get_elements(&status, pair, &elements));
        CHECK(elements == sent[n]);
        CHECK(pairs == (sent[n] % 2 ? MPI_UNDEFINED : sent[n] / 2));
        for (int i = 0; i < CAPACITY; i++)
            wrong += in[i] != (i < sent[n] ? i + from : -1);
        CHECK(wrong == 0);
    }
    MPI_Type_free(&pair);
    MTEST_END;
}
