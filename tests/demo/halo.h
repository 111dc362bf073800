/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halo of a distributed sparse matrix: the entries of a vector that a process needs for its rows but another one
 * owns. Exactly those are exchanged, with one message a neighbour, while the caller computes the rows that need none of
 * them.
 *
 * A vector has local.count own entries and, behind them, halo.needed entries of others.
 */
#ifndef DEMO_HALO_H
#define DEMO_HALO_H

#include <mpi.h>

#include "cg.h"

struct halo_neighbour {
    int rank;
    int first, count; /* in the halo part of a vector, or in `list` */
};

struct halo {
    MPI_Comm comm;
    int own;              /* entries that this process owns */
    int needed;           /* entries that it gets */
    int sources, targets; /* neighbours that it gets from, and that it sends to */
    struct halo_neighbour *source, *target;
    int *list;            /* own entries to send, one target after the other */
    double *packed;       /* the same, for the messages */
    MPI_Request *request; /* [sources + targets] */
    int *column;          /* the columns of the rows, as positions in a vector */
};

/* Collective. The communicator is borrowed. */
void halo_open(struct halo *halo, MPI_Comm comm, const struct cg_rows *rows);
void halo_close(struct halo *halo);

void halo_begin(struct halo *halo, double *vector);
void halo_end(struct halo *halo);

#endif
