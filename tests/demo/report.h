/* SPDX-License-Identifier: BSD-3-Clause */
/* What the demo prints, on rank 0. */
#ifndef DEMO_REPORT_H
#define DEMO_REPORT_H

#include "cg.h"
#include "matrix.h"
#include "monitor.h"

/* One process's part in the work. */
struct part {
    int rows;
    int64_t nonzeros;
    struct cg_setup setup;
};

/* Seconds, on rank 0. */
struct times {
    double start, read, spread, solve, check;
};

/* The independent check. */
struct check {
    double residual; /* ||b - Ax|| / ||b||, from the whole matrix in long double */
    double error;    /* largest difference from the known solution, relative to its largest entry */
};

void report_matrix(const char *path, const struct matrix *matrix, int processes, const struct times *times);
void report_setup(const struct part *parts, int processes, const struct monitor_summary *monitor);

/* One line of the table of convergence, if this step is worth one. */
void report_step(const struct cg_step *step, double tolerance, double seconds);
void report_monitor(const struct monitor_summary *monitor);
void report_result(const struct cg_result *result, const struct check *check, const struct monitor_summary *monitor,
                   const struct times *times);

#endif
