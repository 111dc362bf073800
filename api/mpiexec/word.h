/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines in words that can be typed. */
#ifndef PLENUM_MPIEXEC_WORD_H
#define PLENUM_MPIEXEC_WORD_H

#include <stdio.h>

/* A word as a shell would have to be told. */
void print_word(const char *word, FILE *out);

#endif
