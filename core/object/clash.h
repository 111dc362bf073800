/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two MPI libraries under the same names.
 *
 * The dynamic loader binds each function by itself. Where libmpi_abi.so and another MPI are in one process, a caller
 * may get MPI_Session_init from one of them and MPI_Comm_rank from the other; also a library that contains libmpi_abi.a
 * and does not hide its names. Or a program that was linked with one may get all from the other. The first call says
 * so; later it would be a crash. The private library (docs/private.md) has other names, so there is nothing to find.
 *
 * What counts is how the caller is bound: a tool that wraps MPI_*, or a caller that uses dlsym(), may go on. Only an
 * object that defines PMPI_* counts as another MPI.
 */
#ifndef PLENUM_CORE_OBJECT_CLASH_H
#define PLENUM_CORE_OBJECT_CLASH_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_CLASH_HINT = 400 };

/* `function` was called from the code at `caller`. If its MPI_* are of two libraries, or all are of this one and it was
 * linked with another, MPI_ERR_OTHER, recorded. `say`: and the first time printed, since the caller's MPI_Error_string
 * may be the other's, too. */
int pl_clash_check(const void *caller, const char *function, bool say);

/* Writes the end of a sentence about an invalid handle: another MPI is in this process. "": there is no other. */
const char *pl_clash_hint(char text[PL_CLASH_HINT]);

#endif
