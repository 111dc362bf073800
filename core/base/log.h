/* SPDX-License-Identifier: BSD-3-Clause */
/* What pl_log() (core/base/config.h) lets through. Set by the configuration. */
#ifndef PLENUM_CORE_BASE_LOG_H
#define PLENUM_CORE_BASE_LOG_H

#include <stdbool.h>

/* "", "debug", "match:debug,shm:info": is it well-formed? */
bool pl_log_filter_valid(const char *filter);

/* Filters from now on. The text must be well-formed and stay where it is. */
void pl_log_filter(const char *filter);

/* One line, whatever the filter says: "plenum[PID] subsystem: text". In one piece, cut at about 4000 bytes. Allocates
 * nothing, takes no lock. */
void pl_log_line(const char *subsystem, const char *text);

#endif
