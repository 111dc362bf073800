/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a report from the pages of the processes, which are not trusted, and from /proc. */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_READ_H
#define PLENUM_WORLD_RUNTIME_REPORT_READ_H

#include "world/runtime/report/report.h"

/* A report of which nothing is known, about processes on several hosts; `hosts` 0: with the job's symbols, about those
 * of this host. False: out of memory. The caller calls pl_report_fini() in both cases. */
bool pl_report_begin(struct plenum_job *job, int hosts, struct pl_report *report);

/* Begins a report and reads what the processes of this host say. False: out of memory; pl_report_fini() as above. */
bool pl_report_read(struct plenum_job *job, struct pl_report *report);

/* All ranks were read: finds their waits. False: out of memory. */
bool pl_report_arrange(struct pl_report *report);

void pl_report_fini(struct pl_report *report);

/* A copy of a page in which all counts and texts are valid, freed by the caller; NULL: out of memory. */
struct pl_job_record *pl_report_copy_page(const struct pl_job_record *page, int size);

/* Makes them valid in a page that came from another host. */
void pl_report_tidy_page(struct pl_job_record *page, int size);

/* Ends a text within `size` and replaces its control characters. */
void pl_report_tidy(char *text, size_t size);

/* Adds what the page of another tenant of the same rank says, as far as there is room. Both are copies. */
void pl_report_join_pages(struct pl_job_record *to, const struct pl_job_record *from);

/* The MPI function of a trace (the outermost), and its caller. False: the caller is not known. */
bool pl_report_place(struct pl_symbols *symbols, const struct pl_job_record *page, const struct pl_job_trace *trace,
                     char function[64], struct pl_report_frame *caller);

/* Where in its file the call is that a frame returns to: a return address may be after the end of its function, the
 * byte before it is not. */
static inline uint64_t pl_report_address(const struct pl_job_trace *trace, uint32_t i)
{
    return trace->frame[i].offset - (i > 0 || !trace->exact);
}

/* The file of a frame; NULL: not known. */
const char *pl_report_module(const struct pl_job_record *page, const struct pl_job_frame *frame);

struct pl_report_frame pl_report_frame(struct pl_symbols *symbols, const struct pl_job_record *page,
                                       const struct pl_job_trace *trace, uint32_t i);

#endif
