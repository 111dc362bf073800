/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the parser of the command line (options.c, apply.c), its errors and its memory. */
#ifndef PLENUM_MPIEXEC_PARSE_H
#define PLENUM_MPIEXEC_PARSE_H

#include "api/mpiexec/options.h"

#include "core/base/compiler.h"

struct parse {
    struct options *o;
    struct section *s; /* the section being filled */
    const char *name;  /* of the option being applied, as it was typed */
    const char *value; /* its argument, or the first of two */
    const char *taken; /* its last argument; NULL: it has none */
    char *error;
    size_t size;
    int depth; /* of configuration files */
};

/* Writes the error and returns false. */
PL_PRINTF(2, 3) bool parse_fail(struct parse *p, const char *format, ...);

/* Appends one zeroed element to an array. Exits when memory is short. */
void *parse_append(void *array, int *count, size_t each);

/* Adds a line that is printed before the job starts. Steals `text`. */
void parse_note(struct parse *p, char *text);

/* Steals memory, which is freed with the options. */
void *parse_keep(struct parse *p, void *memory);

#endif
