/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A monitoring library. It gathers what every process measures in an iteration, over an MPI of its own: a session. It
 * can end the session at any time, whatever the application and other libraries do with theirs.
 *
 * All functions are collective over the processes of mpi://WORLD; the processes call monitor_note() equally often.
 */
#ifndef DEMO_MONITOR_H
#define DEMO_MONITOR_H

#include <stdbool.h>

struct monitor;

/* What rank 0 has gathered. */
struct monitor_summary {
    int ranks, notes;
    bool agreed;                    /* every process reported the same residual, every time */
    double residual;                /* the last one */
    double *seconds;                /* [ranks] sum over all notes, by process */
    double *waiting;                /* [ranks] the same */
    double slowest;                 /* the longest iteration of any process ... */
    int slowest_note, slowest_rank; /* ... which one it was, from 1, and whose */
    double session_seconds;         /* MPI_Session_init, on rank 0 */
    double comm_seconds;            /* group and communicator, on rank 0 */
    double close_seconds;           /* MPI_Session_finalize, on rank 0 */
};

struct monitor *monitor_open(void);
void monitor_note(struct monitor *monitor, double residual, double seconds, double waiting);

/* Ends the session; the gathered figures remain. */
void monitor_close(struct monitor *monitor);

/* Borrowed; means something on rank 0 only. */
const struct monitor_summary *monitor_summary(const struct monitor *monitor);

/* Frees a closed monitor. */
void monitor_free(struct monitor *monitor);

#endif
