/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the tool information interface (MPI-5.0 chapter 15). Its functions invoke no error handler,
 * and may be called before MPI_Init and after MPI_Finalize, by any thread.
 */
#ifndef PLENUM_API_TOOL_H
#define PLENUM_API_TOOL_H

#include <stdbool.h>

#include "mpi.h"

/* Whether the caller is between MPI_T_init_thread and the last MPI_T_finalize. */
bool pl_tool_initialized(void);

/* MPI_T_ERR_NOT_INITIALIZED, else this error, which may be MPI_SUCCESS. */
int pl_tool_check(int error);

/* The same for an index below `count`. */
int pl_tool_check_index(int index, int count);

/* Returns a count in *number. */
int pl_tool_give_count(int count, int *number);

/* Returns a text as the interface requires: at most *length - 1 characters and a NUL. *length becomes the size of the
 * whole. */
void pl_tool_give_text(const char *text, char *to, int *length);

static inline void pl_tool_give(int value, int *to)
{
    if (to)
        *to = value;
}

#endif
