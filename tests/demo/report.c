/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PARTS_SHOWN = 16, BAR = 40 };

static double milliseconds(double seconds)
{
    return 1e3 * seconds;
}

void report_matrix(const char *path, const struct matrix *matrix, int processes, const struct times *times)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    int64_t nonzeros = matrix->start[matrix->n];
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    printf("A sparse solver on %d %s: %.60s\n\n", processes, processes == 1 ? "process" : "processes", library);
    printf("Matrix    %s, read in %.2f s\n", path, times->read);
    printf("          %d rows, %lld nonzeros (%.1f a row), %s file\n", matrix->n, (long long)nonzeros,
           (double)nonzeros / matrix->n, matrix->symmetric ? "symmetric" : "general");
    if (matrix->summed > 0)
        printf("          %lld repeated entries were added up\n", (long long)matrix->summed);
    printf("\n");
}

/* The slowest of all processes. */
static struct cg_setup slowest_setup(const struct part *parts, int processes)
{
    struct cg_setup slowest = { 0 };
    for (int i = 0; i < processes; i++) {
        slowest.session_seconds = fmax(slowest.session_seconds, parts[i].setup.session_seconds);
        slowest.comm_seconds = fmax(slowest.comm_seconds, parts[i].setup.comm_seconds);
        slowest.halo_seconds = fmax(slowest.halo_seconds, parts[i].setup.halo_seconds);
    }
    return slowest;
}

void report_setup(const struct part *parts, int processes, const struct monitor_summary *monitor)
{
    printf("Process        rows    nonzeros   values from others\n");
    for (int i = 0; i < processes && i < PARTS_SHOWN; i++)
        printf("%7d  %10d  %10lld   %10d from %d\n", i, parts[i].rows, (long long)parts[i].nonzeros,
               parts[i].setup.halo, parts[i].setup.neighbours);
    if (processes > PARTS_SHOWN)
        printf("          and %d more\n", processes - PARTS_SHOWN);

    struct cg_setup setup = slowest_setup(parts, processes);
    printf("\nWorld     belongs to the application\n");
    printf("Solver    its own session: opened in %.2f ms, communicator in %.2f ms, exchange planned in %.1f ms\n",
           milliseconds(setup.session_seconds), milliseconds(setup.comm_seconds), milliseconds(setup.halo_seconds));
    printf("Monitor   another session: opened in %.2f ms, communicator in %.2f ms\n\n",
           milliseconds(monitor->session_seconds), milliseconds(monitor->comm_seconds));
    printf("iteration   ||r|| / ||b||   seconds\n");
    fflush(stdout);
}

/* A step is printed when the residual first falls below a power of ten, or after a long time without a line. */
void report_step(const struct cg_step *step, double tolerance, double seconds)
{
    static int said, digits;
    int now = (int)floor(-log10(step->residual) + 1e-9);
    bool last = step->residual <= tolerance;
    if (now <= digits && step->iteration < 10 * said && step->iteration < said + 1000 && !last)
        return;
    if (said == 0 && now <= 0 && step->iteration > 1 && !last)
        return;
    said = step->iteration;
    digits = now > digits ? now : digits;

    char bar[BAR + 1];
    double part = log(step->residual) / log(tolerance);
    int length = part > 0 ? (int)fmin(BAR, BAR * part) : 0;
    memset(bar, '#', (size_t)length);
    bar[length] = '\0';
    printf("%9d %15.2e %9.3f  |%-*s|\n", step->iteration, step->residual, seconds, BAR, bar);
    fflush(stdout);
}

void report_monitor(const struct monitor_summary *monitor)
{
    printf("      ... the monitor's session ends here, in %.2f ms; the others go on\n",
           milliseconds(monitor->close_seconds));
    fflush(stdout);
}

static void report_gathered(const struct monitor_summary *m)
{
    double least = 1, most = 0;
    for (int i = 0; i < m->ranks; i++) {
        double part = m->seconds[i] > 0 ? m->waiting[i] / m->seconds[i] : 0;
        least = fmin(least, part);
        most = fmax(most, part);
    }
    printf("Monitor   %d notes from each of %d processes; they %s on the residual\n", m->notes, m->ranks,
           m->agreed ? "agree" : "DO NOT AGREE");
    if (m->notes > 0)
        printf("          waiting for others %.0f to %.0f %% of the time; slowest iteration %.2f ms (%d, process %d)\n",
               100 * least, 100 * most, milliseconds(m->slowest), m->slowest_note, m->slowest_rank);
}

void report_result(const struct cg_result *result, const struct check *check, const struct monitor_summary *monitor,
                   const struct times *times)
{
    int iterations = result->iterations;
    printf("\nSolved    %d iterations in %.3f s, %.3f ms each\n", iterations, times->solve,
           iterations > 0 ? milliseconds(times->solve) / iterations : 0);
    report_gathered(monitor);
    printf("Checked   %.2e  is ||b - Ax|| / ||b||, says the solver\n", result->residual);
    printf("          %.2e  is the same, computed by rank 0 alone from the whole matrix in long double\n",
           check->residual);
    printf("          %.2e  is the largest error of x against the known solution\n", check->error);
    printf("Times     start %.3f s, read %.3f, spread %.3f, solve %.3f, check %.3f\n", times->start, times->read,
           times->spread, times->solve, times->check);
}
