/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes and codes that the user adds, with their strings. Both are numbered from MPI_ERR_LASTCODE + 1 in one
 * sequence, so that the same calls give the same numbers in every process. A removed number is reused first. Any
 * thread, any time; one lock.
 */
#ifndef PLENUM_CORE_BASE_ERROR_CODES_H
#define PLENUM_CORE_BASE_ERROR_CODES_H

#include <stdbool.h>

#include "mpi.h"

int pl_error_add_class(int *class);
int pl_error_add_code(int class, int *code);
int pl_error_add_text(int code, const char *text);

/* A class must be removed after its codes, and both after their texts. */
int pl_error_remove_class(int class);
int pl_error_remove_code(int code);
int pl_error_remove_text(int code);

/* The class of a code; MPI_ERR_UNKNOWN for an unknown one. And whether it is a predefined or an added code. */
int pl_error_code_class(int code);
bool pl_error_code_valid(int code);

/* The user's text for an added class or code, or ""; false: the code was not added. */
bool pl_error_user_text(int code, char text[MPI_MAX_ERROR_STRING]);

/* The value of the attribute MPI_LASTUSEDCODE: the highest code so far. */
const int *pl_error_last_used(void);

#endif
