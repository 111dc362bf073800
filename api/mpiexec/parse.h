/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of the command line (options.c) and the functions that apply the options (apply.c). */
#ifndef PLENUM_MPIEXEC_PARSE_H
#define PLENUM_MPIEXEC_PARSE_H

#include "api/mpiexec/options.h"

struct parse {
    struct options *o;
    struct section *s; /* the one being filled */
    const char *name;  /* of the option being applied, as it was typed */
    const char *taken; /* its last argument; NULL: it has none */
    char *error;
    size_t size;
    int depth; /* of configuration files */
};

/* Writes the error and returns false. */
bool parse_fail(struct parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One more element, zeroed. mpiexec gives up when memory is short while it reads its own command line. */
void *parse_append(void *array, int *count, size_t each);

/* Memory that is freed with the options. */
void *parse_keep(struct parse *p, void *memory);

/* Reads words into the sections, from the one that is being filled on. */
bool parse_arguments(struct parse *p, int argc, char *const argv[]);

/* What the options do. Each takes its arguments, and says in p->error what is wrong with them. */
typedef bool apply_fn(struct parse *p, char *const *arg);
apply_fn apply_n, apply_per_node, apply_env, apply_genv, apply_genvlist, apply_genvnone, apply_export, apply_host,
    apply_soft, apply_configfile, apply_errhandler, apply_alloc_kinds, apply_pset, apply_bind, apply_map, apply_stdin,
    apply_hostfile, apply_launcher, apply_timeout, apply_grace, apply_pmix, apply_output, apply_dry_run;

#endif
