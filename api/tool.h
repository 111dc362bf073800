/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the tool information interface (MPI-5.0 chapter 15) share. Its functions invoke no error handler,
 * and may be called before MPI_Init and after MPI_Finalize, by any thread.
 */
#ifndef PLENUM_API_TOOL_H
#define PLENUM_API_TOOL_H

#include <stdbool.h>

#include "mpi.h"

/* Between MPI_T_init_thread and the last MPI_T_finalize? */
bool pl_tool_initialized(void);

/* MPI_T_ERR_NOT_INITIALIZED, or else this error, or MPI_SUCCESS. */
int pl_tool_check(int error);

/* The same for an index of `count` things. */
int pl_tool_check_index(int index, int count);

/* A count, to *number. */
int pl_tool_give_count(int count, int *number);

/* A text, as the interface returns one: at most *length - 1 characters and a NUL; to *length what the whole takes. */
void pl_tool_give_text(const char *text, char *to, int *length);

static inline void pl_tool_give(int value, int *to)
{
    if (to)
        *to = value;
}

/* The names, for the categories. */
const char *pl_tool_cvar_name(int index);
int pl_tool_cvar_count(void);
const char *pl_tool_pvar_name(int index);
int pl_tool_pvar_count(void);

/* The end of the last initialization: sessions of performance variables go. */
void pl_tool_pvar_sessions_end(void);

#endif
