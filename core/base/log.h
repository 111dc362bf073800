/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: lines on stderr, each written in one piece. The configuration (PLENUM_LOG) sets the filter.
 *
 * Locking: none, so that it may be used under any lock. The filter is a text that is parsed when a line might be
 * logged. With an empty filter pl_log() costs one comparison.
 */
#ifndef PLENUM_CORE_BASE_LOG_H
#define PLENUM_CORE_BASE_LOG_H

#include <stdbool.h>

#include "core/base/compiler.h"

/* Writes one line if the filter admits this subsystem, one of PL_LOG_ALLOWED, and level (0 error, 1 warning, 2 info,
 * 3 debug). */
PL_PRINTF(3, 4) void pl_log(const char *subsystem, int level, const char *format, ...);

/* Whether a filter ("", "debug", "match:debug,shm:info") is well-formed and names subsystems that exist. */
bool pl_log_filter_valid(const char *filter);
#define PL_LOG_ALLOWED                                                                                                 \
    "error, warning, info or debug, or subsystem:level,... with coll, comm, config, engine, errhandler, match, pmi, "  \
    "pmix, process, pset, session, shm or ucx"

/* Sets the filter. The text must be well-formed and remain valid. */
void pl_log_filter(const char *filter);

/* Writes one line whatever the filter is: "plenum[PID] subsystem: text", truncated at about 4000 bytes. Allocates
 * nothing. */
void pl_log_line(const char *subsystem, const char *text);

#endif
