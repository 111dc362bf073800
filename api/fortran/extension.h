/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of mpi-ext.h for callbacks with a context, attributes that are integers, errors, the places of objects, and
 * failed processes. They are weak here. Above a library that lacks them, callbacks go through a limited number of C
 * functions, one for each Fortran procedure (callbacks.c). Integers lie in memory of this library (attribute.c), its
 * errors have no words of their own (raise.c), and each handle that is not predefined is converted by a call
 * (convert.c). The procedures for failed processes are refused (failed.c). A library compiled with
 * PLF_STANDARD_ALONE behaves as above another one, for tests.
 */
#ifndef PLENUM_FORTRAN_EXTENSION_H
#define PLENUM_FORTRAN_EXTENSION_H

#include <stdbool.h>
#include <stddef.h>

#include "api/mpi-ext.h"

#pragma weak MPIX_Handle_layout
#pragma weak MPIX_Op_create_x
#pragma weak MPIX_Call_as
#pragma weak MPIX_Comm_raise
#pragma weak MPIX_File_raise
#pragma weak MPIX_Session_raise
#pragma weak MPIX_Win_raise
#pragma weak MPIX_Comm_create_errhandler_x
#pragma weak MPIX_File_create_errhandler_x
#pragma weak MPIX_Session_create_errhandler_x
#pragma weak MPIX_Win_create_errhandler_x
#pragma weak MPIX_Comm_create_keyval_x
#pragma weak MPIX_Comm_set_attr_as_fortran
#pragma weak MPIX_Comm_get_attr_as_fortran
#pragma weak MPIX_Type_create_keyval_x
#pragma weak MPIX_Type_set_attr_as_fortran
#pragma weak MPIX_Type_get_attr_as_fortran
#pragma weak MPIX_Win_create_keyval_x
#pragma weak MPIX_Win_set_attr_as_fortran
#pragma weak MPIX_Win_get_attr_as_fortran
#pragma weak MPIX_Comm_ack_failed
#pragma weak MPIX_Comm_agree
#pragma weak MPIX_Comm_failure_ack
#pragma weak MPIX_Comm_failure_get_acked
#pragma weak MPIX_Comm_get_failed
#pragma weak MPIX_Comm_iagree
#pragma weak MPIX_Comm_is_revoked
#pragma weak MPIX_Comm_ishrink
#pragma weak MPIX_Comm_revoke
#pragma weak MPIX_Comm_shrink

/* True if the library of the ABI has the function. */
#ifdef PLF_STANDARD_ALONE
#define PLF_HAS(function) false
#else
#define PLF_HAS(function) ((function) != NULL)
#endif

#endif
