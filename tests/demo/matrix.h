/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric sparse matrices from Matrix Market files ("coordinate", real, integer or pattern, general or symmetric). No
 * content of a file is trusted: an error gives one line, with the file and the line number.
 */
#ifndef DEMO_MATRIX_H
#define DEMO_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compressed rows: the nonzeros of row i are start[i] .. start[i + 1] - 1, sorted by column, each column once. */
struct matrix {
    int n;
    int64_t *start; /* [n + 1] */
    int *column;    /* [start[n]], from 0 */
    double *value;  /* [start[n]] */
    int64_t summed; /* entries of the file that were added to an earlier one for the same place */
    bool symmetric; /* the file holds one triangle only */
};

/* Reads a matrix that is square and symmetric with a positive diagonal. Returns 0; or -1 with one line in `message`,
 * and then nothing is to be freed. */
int matrix_read(const char *path, struct matrix *matrix, char *message, size_t size);
void matrix_free(struct matrix *matrix);

#endif
