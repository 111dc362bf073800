/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a report from the pages of the processes, which are not trusted, and from /proc. */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_READ_H
#define PLENUM_WORLD_RUNTIME_REPORT_READ_H

#include "world/runtime/report/report.h"

/* False: out of memory. The caller calls pl_report_fini() in both cases. */
bool pl_report_read(struct plenum_job *job, struct pl_report *report);
void pl_report_fini(struct pl_report *report);

/* A copy of a page in which all counts and texts are valid, freed by the caller; NULL: out of memory. */
struct pl_job_record *pl_report_copy_page(const struct pl_job_record *page, int size);

/* Adds what the page of another tenant of the same rank says, as far as there is room. Both are copies. */
void pl_report_join_pages(struct pl_job_record *to, const struct pl_job_record *from);

/* The MPI function of a trace (the outermost), and its caller. False: the caller is not known. */
bool pl_report_place(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     char function[64], struct pl_report_frame *caller);

struct pl_report_frame pl_report_frame(struct pl_symbols *symbols, const struct pl_job_record *page,
                                       const struct pl_job_trace *trace, uint32_t i);

#endif
