/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that the Fortran procedures find themselves, and the names of procedures in messages. */
#ifndef PLENUM_FORTRAN_RAISE_H
#define PLENUM_FORTRAN_RAISE_H

#include "api/mpi.h"

#pragma GCC visibility push(hidden)

/* Whether other processes may wait for this one in the procedure. */
enum plf_part { PLF_ALONE, PLF_TOGETHER };

/*
 * Call the error handler of an object for an error of the procedure, and return the class or what the handler has put
 * in its place. plf_raise_none() is for an error of no object. It has no handler above a library without
 * MPIX_Comm_raise() while the World is not open. MPI_FILE_NULL has a handler of its own.
 */
int plf_raise_none(const char *procedure, int class);
int plf_raise_comm(MPI_Comm comm, const char *procedure, int class, enum plf_part part);
int plf_raise_file(MPI_File file, const char *procedure, int class, enum plf_part part);
int plf_raise_session(MPI_Session session, const char *procedure, int class);
int plf_raise_win(MPI_Win win, const char *procedure, int class, enum plf_part part);

/* Errors of the C function name the procedure, until the next call; NULL: C's name. */
void plf_call_as(const char *function, const char *procedure);

static inline int plf_called(int code)
{
    plf_call_as(NULL, NULL);
    return code;
}

/* Calls a C function that is not named as the Fortran procedure. */
#define PLF_CALL_AS(function, procedure, ...) (plf_call_as(function, procedure), plf_called(__VA_ARGS__))

#pragma GCC visibility pop

#endif
