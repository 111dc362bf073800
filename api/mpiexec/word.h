/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines that can be typed into a shell. */
#ifndef PLENUM_MPIEXEC_WORD_H
#define PLENUM_MPIEXEC_WORD_H

#include <stdio.h>

/* Prints a word, quoted for a shell if necessary. */
void print_word(const char *word, FILE *out);

#endif
