/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the bodies of the Fortran procedures share: they convert arguments, call the C function of the standard, and
 * convert the results back. This library calls nothing but the standard's C functions, so it works with every library
 * of the standard ABI; what it uses of mpi-ext.h is optional (extension.h).
 *
 * Conversions: handles by MPI_X_fromint() and _toint(), truth to the compiler's LOGICAL, strings without their trailing
 * blanks, sentinels by the addresses of their common blocks. Integers and statuses are the same in both languages.
 */
#ifndef PLENUM_FORTRAN_H
#define PLENUM_FORTRAN_H

#include <string.h>

#include "api/fortran/convert.h"
#include "api/fortran/section.h"
#include "api/mpi.h"

#pragma GCC visibility push(hidden)
/* Before Fortran asks what the library knows of the compiler: tells it, unless that is done. */
void plf_tell_compiler(void);
#pragma GCC visibility pop

/* Fortran calls the procedures, so their prototypes are in its modules. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* Procedures and sentinels are seen outside the library; what is declared between `hidden` and `pop` is not. */
#pragma GCC visibility push(default)

/* Gives a body written by hand, pmpi_x_(), its other names: mpi_x_(), which is weak, and those of module mpi_f08. */
#define PLF_WEAK(text) _Pragma(#text)
#define PLF_NAMES(name)                                                                                                \
    PLF_WEAK(weak mpi_##name##_ = pmpi_##name##_)                                                                      \
    PLF_WEAK(weak mpi_##name##_f08_ = pmpi_##name##_)                                                                  \
    PLF_WEAK(weak pmpi_##name##_f08_ = pmpi_##name##_)

#endif
