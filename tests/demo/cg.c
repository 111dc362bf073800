/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iteration is the textbook's. Two functions deal with many processes: multiply() exchanges the halo while it
 * computes the rows that need none of it, and sum() adds over all processes.
 */
#include "cg.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "halo.h"
#include "tools.h"

struct cg {
    struct cg_rows rows;
    MPI_Session session;
    MPI_Comm comm;
    struct halo halo;
    int *inner, *outer; /* rows that need no halo, and rows that do */
    int inner_count, outer_count;
    double *inverse; /* of the diagonal: the preconditioner */
    double waiting;  /* seconds spent waiting for others, so far */
};

/* --- setting up ---------------------------------------------------------------------------------------------- */

/* A communicator of all processes, in the order of mpi://WORLD, with nothing but a session. */
static void open_session(struct cg *cg, struct cg_setup *setup)
{
    MPI_Group everyone;
    double start = seconds_now();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &cg->session);
    setup->session_seconds = seconds_now() - start;

    start = seconds_now();
    MPI_Group_from_session_pset(cg->session, "mpi://WORLD", &everyone);
    MPI_Comm_create_from_group(everyone, "org.plenum.demo.cg", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &cg->comm);
    MPI_Group_free(&everyone);
    setup->comm_seconds = seconds_now() - start;
}

static void prepare_rows(struct cg *cg)
{
    const struct cg_rows *rows = &cg->rows;
    cg->inverse = allocate(rows->count, sizeof *cg->inverse);
    cg->inner = allocate(rows->count, sizeof *cg->inner);
    cg->outer = allocate(rows->count, sizeof *cg->outer);
    for (int i = 0; i < rows->count; i++) {
        bool needs_halo = false;
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            needs_halo |= cg->halo.column[k] >= rows->count;
            if (cg->halo.column[k] == i)
                cg->inverse[i] = 1 / rows->value[k];
        }
        if (needs_halo)
            cg->outer[cg->outer_count++] = i;
        else
            cg->inner[cg->inner_count++] = i;
    }
}

struct cg *cg_open(const struct cg_rows *rows, struct cg_setup *setup)
{
    struct cg *cg = allocate(1, sizeof *cg);
    cg->rows = *rows;
    open_session(cg, setup);
    double start = seconds_now();
    halo_open(&cg->halo, cg->comm, rows);
    prepare_rows(cg);
    setup->halo_seconds = seconds_now() - start;
    setup->halo = cg->halo.needed;
    setup->neighbours = cg->halo.sources;
    return cg;
}

void cg_close(struct cg *cg)
{
    halo_close(&cg->halo);
    MPI_Comm_free(&cg->comm);
    MPI_Session_finalize(&cg->session);
    free(cg->inner);
    free(cg->outer);
    free(cg->inverse);
    free(cg);
}

/* --- over all processes -------------------------------------------------------------------------------------- */

static void sum(struct cg *cg, double *values, int count)
{
    double start = seconds_now();
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, cg->comm);
    cg->waiting += seconds_now() - start;
}

static void multiply_rows(const struct cg *cg, const int *list, int count, const double *p, double *q)
{
    const int64_t *start = cg->rows.start;
    for (int j = 0; j < count; j++) {
        int i = list[j];
        double total = 0;
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            total += cg->rows.value[k] * p[cg->halo.column[k]];
        q[i] = total;
    }
}

/* q = A p; fills in the halo of p. */
static void multiply(struct cg *cg, double *p, double *q)
{
    double start = seconds_now();
    halo_begin(&cg->halo, p);
    double begun = seconds_now();
    multiply_rows(cg, cg->inner, cg->inner_count, p, q);
    double computed = seconds_now();
    halo_end(&cg->halo);
    cg->waiting += begun - start + seconds_now() - computed;
    multiply_rows(cg, cg->outer, cg->outer_count, p, q);
}

/* --- the iteration ------------------------------------------------------------------------------------------- */

/* The vectors of the iteration, with the inner products carried from one step to the next. */
struct state {
    double *r, *z, *p, *q; /* p with space for the halo */
    double bb, rr, rz;
};

/* z = M r, with r'r and r'z. */
static void precondition(struct cg *cg, struct state *s, double *rr, double *rz)
{
    double products[2] = { 0, 0 };
    for (int i = 0; i < cg->rows.count; i++) {
        s->z[i] = cg->inverse[i] * s->r[i];
        products[0] += s->r[i] * s->r[i];
        products[1] += s->r[i] * s->z[i];
    }
    sum(cg, products, 2);
    *rr = products[0];
    *rz = products[1];
}

static void begin(struct cg *cg, struct state *s, const double *b, const double *x)
{
    int n = cg->rows.count;
    double *block = allocate(4 * (int64_t)n + cg->halo.needed, sizeof *block);
    *s = (struct state){ .r = block, .z = block + n, .q = block + 2 * (size_t)n, .p = block + 3 * (size_t)n };
    memcpy(s->p, x, (size_t)n * sizeof *x);
    multiply(cg, s->p, s->q);
    for (int i = 0; i < n; i++) {
        s->r[i] = b[i] - s->q[i];
        s->bb += b[i] * b[i];
    }
    sum(cg, &s->bb, 1);
    if (s->bb == 0)
        s->bb = 1;
    precondition(cg, s, &s->rr, &s->rz);
    memcpy(s->p, s->z, (size_t)n * sizeof *s->p);
}

/* One step; returns p'Ap. If that is not positive, nothing has changed. */
static double step(struct cg *cg, struct state *s, double *x)
{
    int n = cg->rows.count;
    double curvature = 0, rz;
    multiply(cg, s->p, s->q);
    for (int i = 0; i < n; i++)
        curvature += s->p[i] * s->q[i];
    sum(cg, &curvature, 1);
    if (!(curvature > 0))
        return curvature;

    double alpha = s->rz / curvature;
    for (int i = 0; i < n; i++) {
        x[i] += alpha * s->p[i];
        s->r[i] -= alpha * s->q[i];
    }
    precondition(cg, s, &s->rr, &rz);
    double beta = rz / s->rz;
    s->rz = rz;
    for (int i = 0; i < n; i++)
        s->p[i] = s->z[i] + beta * s->p[i];
    return curvature;
}

struct cg_result cg_solve(struct cg *cg, const double *b, double *x, const struct cg_goal *goal)
{
    struct state s;
    begin(cg, &s, b, x);
    struct cg_result result = { .outcome = CG_TOO_SLOW, .residual = sqrt(s.rr / s.bb) };
    while (result.residual > goal->tolerance && result.iterations < goal->iterations) {
        double start = seconds_now();
        cg->waiting = 0;
        double curvature = step(cg, &s, x);
        if (!(curvature > 0)) {
            result.outcome = CG_NOT_POSITIVE;
            result.curvature = curvature;
            break;
        }
        result.iterations++;
        result.residual = sqrt(s.rr / s.bb);
        struct cg_step done = { result.iterations, result.residual, seconds_now() - start, cg->waiting };
        if (goal->on_step)
            goal->on_step(goal->context, &done);
    }
    if (result.residual <= goal->tolerance)
        result.outcome = CG_CONVERGED;
    free(s.r);
    return result;
}
