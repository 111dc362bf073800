/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the command line on the terminal: quoted for a shell, or in a message. */
#ifndef PLENUM_MPIEXEC_WORD_H
#define PLENUM_MPIEXEC_WORD_H

#include <stdio.h>

#include "core/base/compiler.h"

/* Prints a word, quoted for a shell if necessary. Control characters other than tab and newline take $'...', which dash
 * does not know. */
void print_word(const char *word, FILE *out);

/* Prints "mpiexec: ", one line in which control characters are visible, and a newline to standard error. */
PL_PRINTF(1, 2) void print_line(const char *format, ...);

#endif
