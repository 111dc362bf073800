/* SPDX-License-Identifier: BSD-3-Clause */
/* The three error handlers of the standard, for the registry and for the predefined handles. */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_STANDARD_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_STANDARD_H

#include "plenum-errhandler.h"

extern const struct plenum_errhandler_ops pl_errhandler_are_fatal, pl_errhandler_abort, pl_errhandler_return;

#endif
