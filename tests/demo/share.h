/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads the rows of rank 0's matrix over the processes of a communicator, in blocks of about as many nonzeros. */
#ifndef DEMO_SHARE_H
#define DEMO_SHARE_H

#include <mpi.h>

#include "cg.h"
#include "matrix.h"

struct share {
    struct cg_rows rows; /* this process's; its arrays belong to the share */
    int ranks;
    int *first; /* [ranks + 1] first row of each process, and n */
};

/* Collective. `matrix` is rank 0's, and zero elsewhere. */
void share_rows(MPI_Comm comm, const struct matrix *matrix, struct share *share);
void share_free(struct share *share);

/* Gathers the blocks of a vector on rank 0, in `whole` [n]. */
void share_gather(MPI_Comm comm, const struct share *share, const double *block, double *whole);

#endif
