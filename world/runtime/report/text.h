/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes reports as text. */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_TEXT_H
#define PLENUM_WORLD_RUNTIME_REPORT_TEXT_H

#include <stdio.h>

#include "world/runtime/report/report.h"

void pl_report_write(const struct pl_report *report, FILE *out);
void pl_report_write_crash(struct pl_symbols *symbols, const struct pl_job_record *page, int rank, FILE *out);

enum { PL_EACH = -3 }; /* a peer: "another rank each" */

/* " on ocean", " on window halo", " on file /tmp/out"; nothing for an item without an object. */
void pl_report_write_on(const struct pl_job_item *item, FILE *out);

/* " with root 0, 8 x MPI_INT, MPI_SUM": what is known of a collective's arguments, which may be nothing. */
void pl_report_write_arguments(const struct pl_job_item *item, FILE *out);

/* "a message from rank 1 with tag 7 on ocean" */
void pl_report_write_item(const struct pl_job_item *item, FILE *out);

/* "main+0x1c in /tmp/a.out(+0x11c) at a.c:12" */
void pl_report_frame_text(const struct pl_report_frame *frame, char text[PL_FRAME_TEXT]);

/* "MPI_Recv, waiting for a message ..." */
void pl_report_write_wait(const struct pl_report_wait *wait, FILE *out);

/* "rank 3", "ranks 0-2, 7" of the marked ranks. */
void pl_report_write_ranks(const bool *marked, int size, FILE *out);

/* "has ended", "are not waiting in MPI" */
const char *pl_report_outside(const struct pl_report_rank *rank, bool several);

#endif
