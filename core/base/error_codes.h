/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes and codes that the user adds, with their strings. Any thread, any time; one lock. */
#ifndef PLENUM_CORE_BASE_ERROR_CODES_H
#define PLENUM_CORE_BASE_ERROR_CODES_H

#include <stdbool.h>

#include "mpi.h"

int pl_error_add_class(int *class);
int pl_error_add_code(int class, int *code);
int pl_error_add_text(int code, const char *text);

/* A class goes after its codes, both after their texts. */
int pl_error_remove_class(int class);
int pl_error_remove_code(int code);
int pl_error_remove_text(int code);

/* The text that the user gave to a class or code of his own, empty if he gave none; false: it is not the user's. */
bool pl_error_user_text(int code, char text[MPI_MAX_ERROR_STRING]);

/* Where the attribute MPI_LASTUSEDCODE points: the highest code so far. */
const int *pl_error_last_used(void);

#endif
