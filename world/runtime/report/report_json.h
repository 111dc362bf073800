/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes reports as JSON. */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_REPORT_JSON_H
#define PLENUM_WORLD_RUNTIME_REPORT_REPORT_JSON_H

#include "world/runtime/report/report.h"

/* `count`: of the job, and of those that its tree has spawned. The caller frees the text; NULL: out of memory. */
char *pl_report_json(struct pl_report *report, int count);
char *pl_report_json_crash(struct pl_symbols *symbols, const struct pl_job_record *page, int rank);

#endif
