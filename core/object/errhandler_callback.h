/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's callback for errors (MPIX_Errhandler_set_callback). Any thread, any time. */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_CALLBACK_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_CALLBACK_H

#include <stdbool.h>

#include "mpi-ext.h"

/* Replaces the callback; NULL removes it. On failure the destructor is not called. MPI_ERR_NO_MEM. */
int pl_error_callback_set(MPIX_Error_callback *callback, MPIX_Destructor_function *destructor, void *context);

/* Calls it. False: there is none. */
bool pl_error_callback_call(const struct plenum_error_report *error);

#endif
