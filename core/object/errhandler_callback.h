/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's one callback for errors (MPIX_Errhandler_set_callback). Any thread, any time. */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_CALLBACK_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_CALLBACK_H

#include <stdbool.h>

#include "mpi-ext.h"

/* NULL callback: none from now on. The destructor is not called when this fails. */
int pl_error_callback_set(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context);

/* False: there is no callback. */
bool pl_error_callback_call(const struct plenum_error_report *error);

#endif
