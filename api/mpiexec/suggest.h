/* SPDX-License-Identifier: BSD-3-Clause */
/* Suggestions for unknown options: typing errors, and options of other launchers. */
#ifndef PLENUM_MPIEXEC_SUGGEST_H
#define PLENUM_MPIEXEC_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Writes what to type instead of the option `name` (without dashes). False: there is no suggestion. */
bool suggest_option(const char *name, char *text, size_t size);

#endif
