/* SPDX-License-Identifier: BSD-3-Clause */
/* An error as one structured line of the log. */
#ifndef PLENUM_PLUGINS_ERRHANDLERS_LINE_H
#define PLENUM_PLUGINS_ERRHANDLERS_LINE_H

#include "core/object/errhandler_registry.h"

void pl_errhandler_log_error(const struct plenum_error_report *error);

#endif
