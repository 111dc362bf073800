/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds likely causes of a hang. */
#ifndef PLENUM_WORLD_RUNTIME_REPORT_FIND_H
#define PLENUM_WORLD_RUNTIME_REPORT_FIND_H

#include "world/runtime/report/report.h"

/* Fills in `likely`. When memory is short, sentences are missing. */
void pl_report_find(struct pl_report *report);

#endif
