/* SPDX-License-Identifier: BSD-3-Clause */
/* One gather for each note; rank 0 adds up. */
#include "monitor.h"

#include <mpi.h>
#include <stdlib.h>

#include "tools.h"

struct note {
    double residual, seconds, waiting;
};
enum { NOTE_DOUBLES = sizeof(struct note) / sizeof(double) };

struct monitor {
    MPI_Session session;
    MPI_Comm comm;
    int rank;
    struct note *gathered; /* [ranks] */
    struct monitor_summary summary;
};

struct monitor *monitor_open(void)
{
    struct monitor *m = allocate(1, sizeof *m);
    struct monitor_summary *s = &m->summary;
    MPI_Group everyone;
    double start = seconds_now();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &m->session);
    s->session_seconds = seconds_now() - start;

    start = seconds_now();
    MPI_Group_from_session_pset(m->session, "mpi://WORLD", &everyone);
    MPI_Comm_create_from_group(everyone, "org.plenum.demo.monitor", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &m->comm);
    MPI_Group_free(&everyone);
    s->comm_seconds = seconds_now() - start;

    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &s->ranks);
    m->gathered = allocate(s->ranks, sizeof *m->gathered);
    s->seconds = allocate(s->ranks, sizeof *s->seconds);
    s->waiting = allocate(s->ranks, sizeof *s->waiting);
    s->agreed = true;
    return m;
}

static void add(struct monitor_summary *s, int rank, const struct note *note)
{
    s->seconds[rank] += note->seconds;
    s->waiting[rank] += note->waiting;
    if (note->residual != s->residual)
        s->agreed = false;
    if (note->seconds > s->slowest) {
        s->slowest = note->seconds;
        s->slowest_note = s->notes;
        s->slowest_rank = rank;
    }
}

void monitor_note(struct monitor *monitor, double residual, double seconds, double waiting)
{
    struct note note = { residual, seconds, waiting };
    MPI_Gather(&note, NOTE_DOUBLES, MPI_DOUBLE, monitor->gathered, NOTE_DOUBLES, MPI_DOUBLE, 0, monitor->comm);
    monitor->summary.notes++;
    monitor->summary.residual = residual;
    for (int rank = 0; monitor->rank == 0 && rank < monitor->summary.ranks; rank++)
        add(&monitor->summary, rank, &monitor->gathered[rank]);
}

void monitor_close(struct monitor *monitor)
{
    double start = seconds_now();
    MPI_Comm_free(&monitor->comm);
    MPI_Session_finalize(&monitor->session);
    monitor->summary.close_seconds = seconds_now() - start;
}

const struct monitor_summary *monitor_summary(const struct monitor *monitor)
{
    return &monitor->summary;
}

void monitor_free(struct monitor *monitor)
{
    free(monitor->gathered);
    free(monitor->summary.seconds);
    free(monitor->summary.waiting);
    free(monitor);
}
