/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A solver library: conjugate gradients with a Jacobi preconditioner, on a matrix whose rows are spread over the
 * processes. It brings an MPI of its own, a session, and does not depend on whether and how the application uses MPI.
 *
 * All functions are collective over the processes of mpi://WORLD.
 */
#ifndef DEMO_CG_H
#define DEMO_CG_H

#include <stdint.h>

/* This process's rows: `count` of `n`, from row `first` on; the processes' rows follow each other in the order of their
 * ranks. Columns are those of the whole matrix, from 0; every row has a positive entry on the diagonal. */
struct cg_rows {
    int n, first, count;
    const int64_t *start; /* [count + 1], start[0] is 0 */
    const int *column;    /* [start[count]] */
    const double *value;  /* [start[count]] */
};

/* What the application gets after every iteration, the same residual on every process. */
struct cg_step {
    int iteration;   /* from 1 */
    double residual; /* ||r|| / ||b|| */
    double seconds;  /* that this process took for it ... */
    double waiting;  /* ... and of those, waiting for other processes */
};

enum cg_outcome { CG_CONVERGED, CG_TOO_SLOW, CG_NOT_POSITIVE };

struct cg_goal {
    double tolerance; /* of ||r|| / ||b|| */
    int iterations;   /* at most */
    /* called after every iteration; or NULL */
    void (*on_step)(void *context, const struct cg_step *step);
    void *context;
};

struct cg_result {
    enum cg_outcome outcome;
    int iterations;
    double residual;  /* ||r|| / ||b|| as the recurrence has it */
    double curvature; /* p'Ap, when it is not positive */
};

/* How long setting up the library took, and what it exchanges. */
struct cg_setup {
    double session_seconds; /* MPI_Session_init */
    double comm_seconds;    /* group from process set, communicator from group */
    double halo_seconds;    /* finding out which values each process needs, and from which */
    int halo;               /* values that this process needs from others in an iteration */
    int neighbours;         /* processes that it gets them from */
};

struct cg;

/* Opens the library's session and prepares the exchange of values. The rows are borrowed and must not move. */
struct cg *cg_open(const struct cg_rows *rows, struct cg_setup *setup);

/* Solves A x = b for this process's rows, from x as it comes in. */
struct cg_result cg_solve(struct cg *cg, const double *b, double *x, const struct cg_goal *goal);

/* Ends the session. */
void cg_close(struct cg *cg);

#endif
