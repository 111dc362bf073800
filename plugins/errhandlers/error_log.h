/* SPDX-License-Identifier: BSD-3-Clause */
/* The handler plenum://log, which other handlers use too. */
#ifndef PLENUM_PLUGINS_ERRHANDLERS_ERROR_LOG_H
#define PLENUM_PLUGINS_ERRHANDLERS_ERROR_LOG_H

#include "core/object/errhandler_registry.h"

/* Writes one structured line to the log, without allocating. `error` is borrowed. */
void pl_errhandler_log_error(const struct plenum_error_report *error);

#endif
