/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of mpi-ext.h that make callbacks with a context. They are weak here: above a library that lacks them, the
 * callbacks go through a limited number of C functions, one for each Fortran procedure (callbacks.c).
 */
#ifndef PLENUM_FORTRAN_EXTENSION_H
#define PLENUM_FORTRAN_EXTENSION_H

#include "api/mpi-ext.h"

#pragma weak MPIX_Op_create_x
#pragma weak MPIX_Comm_create_errhandler_x
#pragma weak MPIX_File_create_errhandler_x
#pragma weak MPIX_Session_create_errhandler_x
#pragma weak MPIX_Win_create_errhandler_x

#endif
