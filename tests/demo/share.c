/* SPDX-License-Identifier: BSD-3-Clause */
#include "share.h"

#include <stdlib.h>

#include "tools.h"

/* The number of rows of a process brings it closest to its part of the nonzeros. */
static void cut(const struct matrix *m, int ranks, int *first)
{
    int row = 0;
    for (int rank = 0; rank < ranks; rank++) {
        first[rank] = row;
        int64_t end = m->start[m->n] / ranks * (rank + 1) + m->start[m->n] % ranks * (rank + 1) / ranks;
        while (row < m->n && m->start[row + 1] + m->start[row] <= 2 * end)
            row++;
    }
    first[ranks] = m->n;
}

/* Sends each process its chunk of an array: process i gets the elements from begin[i] to begin[i + 1] - 1. */
static void scatter(MPI_Comm comm, const void *array, MPI_Datatype type, const MPI_Aint *begin, int ranks, void *mine,
                    int64_t count)
{
    MPI_Count *counts = allocate(ranks, sizeof *counts);
    for (int i = 0; i < ranks; i++)
        counts[i] = begin[i + 1] - begin[i];
    MPI_Scatterv_c(array, counts, begin, type, mine, count, type, 0, comm);
    free(counts);
}

void share_rows(MPI_Comm comm, const struct matrix *matrix, struct share *share)
{
    int rank, n = matrix->n;
    struct cg_rows *rows = &share->rows;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &share->ranks);
    share->first = allocate(share->ranks + 1, sizeof *share->first);
    if (rank == 0)
        cut(matrix, share->ranks, share->first);
    MPI_Bcast(&n, 1, MPI_INT, 0, comm);
    MPI_Bcast(share->first, share->ranks + 1, MPI_INT, 0, comm);

    rows->n = n;
    rows->first = share->first[rank];
    rows->count = share->first[rank + 1] - rows->first;
    MPI_Aint *begin = allocate(share->ranks + 1, sizeof *begin);
    for (int i = 0; i <= share->ranks; i++)
        begin[i] = share->first[i];
    int64_t *start = allocate((int64_t)rows->count + 1, sizeof *start);
    scatter(comm, rank == 0 ? matrix->start + 1 : NULL, MPI_INT64_T, begin, share->ranks, start + 1, rows->count);

    for (int i = 0; rank == 0 && i <= share->ranks; i++)
        begin[i] = matrix->start[share->first[i]];
    MPI_Bcast(begin, share->ranks + 1, MPI_AINT, 0, comm);
    for (int i = 1; i <= rows->count; i++)
        start[i] -= begin[rank];
    int64_t nonzeros = begin[rank + 1] - begin[rank];
    int *column = allocate(nonzeros, sizeof *column);
    double *value = allocate(nonzeros, sizeof *value);
    scatter(comm, matrix->column, MPI_INT, begin, share->ranks, column, nonzeros);
    scatter(comm, matrix->value, MPI_DOUBLE, begin, share->ranks, value, nonzeros);
    free(begin);
    rows->start = start;
    rows->column = column;
    rows->value = value;
}

void share_free(struct share *share)
{
    free((void *)share->rows.start);
    free((void *)share->rows.column);
    free((void *)share->rows.value);
    free(share->first);
}

void share_gather(MPI_Comm comm, const struct share *share, const double *block, double *whole)
{
    int *counts = allocate(share->ranks, sizeof *counts);
    for (int i = 0; i < share->ranks; i++)
        counts[i] = share->first[i + 1] - share->first[i];
    MPI_Gatherv(block, share->rows.count, MPI_DOUBLE, whole, counts, share->first, MPI_DOUBLE, 0, comm);
    free(counts);
}
