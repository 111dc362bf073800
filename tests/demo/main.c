/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: mpiexec -n N solve [--tolerance T] [--iterations N] MATRIX.mtx
 *
 * Three parties share the processes and know nothing of each other's MPI. This application owns MPI_COMM_WORLD. A
 * solver library (cg.h) lives in a session of its own, and a monitoring library (monitor.h) in a second one, which it
 * ends halfway while the others go on.
 *
 * The right-hand side is made from a known solution, so that the answer can be checked. Exit code 0: solved and
 * checked; 1: not, and one line on stderr says why.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg.h"
#include "matrix.h"
#include "monitor.h"
#include "report.h"
#include "share.h"
#include "tools.h"

struct app {
    int rank, size;
    const char *path;
    double tolerance;
    int iterations;
    struct matrix matrix; /* on rank 0; zero elsewhere */
    struct share share;
    struct monitor *monitor;
    bool monitor_over;
    double solve_start;
    struct times times;
};

/* --- the problem --------------------------------------------------------------------------------------------- */

/* Entry i of the solution that is to be found: rough, between 1 and 2. */
static double known(int i)
{
    return 1 + (double)(i * 7919LL % 1000) / 1000;
}

static double *right_hand_side(const struct cg_rows *rows)
{
    double *b = allocate(rows->count, sizeof *b);
    for (int i = 0; i < rows->count; i++)
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            b[i] += rows->value[k] * known(rows->column[k]);
    return b;
}

/* Computes the residual and the error of x by itself: no message, no distributed row, long double. */
static struct check check_alone(const struct matrix *a, const double *x)
{
    long double rr = 0, bb = 0, error = 0, largest = 0;
    for (int i = 0; i < a->n; i++) {
        long double b = 0, ax = 0;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
            b += (long double)a->value[k] * known(a->column[k]);
            ax += (long double)a->value[k] * x[a->column[k]];
        }
        rr += (b - ax) * (b - ax);
        bb += b * b;
        error = fmaxl(error, fabsl(x[i] - known(i)));
        largest = fmaxl(largest, known(i));
    }
    return (struct check){ .residual = (double)sqrtl(rr / (bb > 0 ? bb : 1)), .error = (double)(error / largest) };
}

/* --- the steps ----------------------------------------------------------------------------------------------- */

/* A value of rank 0, for all ranks. */
static bool all_agree(bool good)
{
    int word = good;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return word;
}

static bool parse_arguments(struct app *app, int argc, char **argv)
{
    app->tolerance = 1e-10;
    app->iterations = 20000;
    for (int i = 1; i < argc; i++) {
        char *end = "";
        if (strcmp(argv[i], "--tolerance") == 0 && i + 1 < argc)
            app->tolerance = strtod(argv[++i], &end);
        else if (strcmp(argv[i], "--iterations") == 0 && i + 1 < argc)
            app->iterations = (int)strtol(argv[++i], &end, 10);
        else if (argv[i][0] != '-' && !app->path)
            app->path = argv[i];
        else
            return false;
        if (*end != '\0')
            return false;
    }
    return app->path && app->tolerance > 0 && app->tolerance < 1 && app->iterations > 0;
}

static bool read_matrix(struct app *app)
{
    char message[1000];
    bool good = true;
    double start = seconds_now();
    if (app->rank == 0) {
        good = matrix_read(app->path, &app->matrix, message, sizeof message) == 0;
        app->times.read = seconds_now() - start;
        if (good)
            report_matrix(app->path, &app->matrix, app->size, &app->times);
        else
            fprintf(stderr, "solve: %s\n", message);
    }
    return all_agree(good);
}

static void describe(const struct app *app, const struct cg_setup *setup)
{
    const struct cg_rows *rows = &app->share.rows;
    struct part part = { rows->count, rows->start[rows->count], *setup };
    struct part *parts = allocate(app->size, sizeof *parts);
    MPI_Gather(&part, sizeof part, MPI_BYTE, parts, sizeof part, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (app->rank == 0)
        report_setup(parts, app->size, monitor_summary(app->monitor));
    free(parts);
}

static void end_monitor(struct app *app)
{
    if (!app->monitor_over)
        monitor_close(app->monitor);
    app->monitor_over = true;
}

/* Runs after every iteration. Halfway, with half of the wanted digits, the monitor's session ends. */
static void on_step(void *context, const struct cg_step *step)
{
    struct app *app = context;
    if (!app->monitor_over)
        monitor_note(app->monitor, step->residual, step->seconds, step->waiting);
    if (app->rank == 0)
        report_step(step, app->tolerance, seconds_now() - app->solve_start);
    if (!app->monitor_over && step->residual <= sqrt(app->tolerance)) {
        end_monitor(app);
        if (app->rank == 0)
            report_monitor(monitor_summary(app->monitor));
    }
}

static struct cg_result solve(struct app *app, struct cg *cg, double *x)
{
    struct cg_goal goal = { app->tolerance, app->iterations, on_step, app };
    double *b = right_hand_side(&app->share.rows);
    MPI_Barrier(MPI_COMM_WORLD);
    app->solve_start = seconds_now();
    struct cg_result result = cg_solve(cg, b, x, &goal);
    app->times.solve = seconds_now() - app->solve_start;
    free(b);
    return result;
}

/* Gathers the solution, checks it and prints the result. */
static bool judge(struct app *app, const struct cg_result *result, const double *x)
{
    double *whole = allocate(app->rank == 0 ? app->share.rows.n : 0, sizeof *whole);
    bool good = true;
    share_gather(MPI_COMM_WORLD, &app->share, x, whole);
    if (app->rank == 0) {
        double start = seconds_now();
        struct check check = check_alone(&app->matrix, whole);
        app->times.check = seconds_now() - start;
        report_result(result, &check, monitor_summary(app->monitor), &app->times);
        fflush(stdout);
        good = result->outcome == CG_CONVERGED && check.residual <= 10 * app->tolerance;
        if (result->outcome == CG_NOT_POSITIVE)
            fprintf(stderr, "solve: %s: not positive definite: p'Ap = %.3g after %d iterations\n", app->path,
                    result->curvature, result->iterations);
        else if (result->outcome == CG_TOO_SLOW)
            fprintf(stderr, "solve: %s: not solved in %d iterations: the residual is %.3g\n", app->path,
                    result->iterations, result->residual);
        else if (!good)
            fprintf(stderr, "solve: %s: the solver's residual is not confirmed: %.3g\n", app->path, check.residual);
    }
    free(whole);
    return all_agree(good);
}

static bool run(struct app *app)
{
    struct cg_setup setup;
    if (!read_matrix(app))
        return false;
    double start = seconds_now();
    share_rows(MPI_COMM_WORLD, &app->matrix, &app->share);
    app->times.spread = seconds_now() - start;

    struct cg *cg = cg_open(&app->share.rows, &setup);
    app->monitor = monitor_open();
    describe(app, &setup);
    double *x = allocate(app->share.rows.count, sizeof *x);
    struct cg_result result = solve(app, cg, x);
    cg_close(cg);
    end_monitor(app);

    bool good = judge(app, &result, x);
    free(x);
    monitor_free(app->monitor);
    share_free(&app->share);
    matrix_free(&app->matrix);
    return good;
}

int main(int argc, char **argv)
{
    struct app app = { 0 };
    double start = seconds_now();
    MPI_Init(&argc, &argv);
    app.times.start = seconds_now() - start;
    MPI_Comm_rank(MPI_COMM_WORLD, &app.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &app.size);
    bool good = parse_arguments(&app, argc, argv);
    if (good)
        good = run(&app);
    else if (app.rank == 0)
        fprintf(stderr, "usage: solve [--tolerance T] [--iterations N] MATRIX.mtx\n");
    MPI_Finalize();
    return good ? 0 : 1;
}
