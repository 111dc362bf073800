/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables: the changes in a job's description, and environments made by applying them. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_VARS_H
#define PLENUM_WORLD_RUNTIME_VARS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/compiler.h"

struct pl_var {
    char *name;
    char *value; /* NULL: unset the variable */
};

struct pl_vars {
    struct pl_var *var;
    size_t count;
    size_t *index; /* [slots], by the names' hashes: 1 more than a place in `var`, or 0. NULL: the list is short */
    size_t slots;  /* a power of two */
};

/* All of these copy their arguments. False: out of memory; the last variable is unchanged. */
bool pl_vars_set(struct pl_vars *vars, const char *name, const char *value);
PL_PRINTF(3, 4) bool pl_vars_format(struct pl_vars *vars, const char *name, const char *format, ...);
bool pl_vars_apply(struct pl_vars *vars, const struct pl_vars *changes);
/* Sets the variables of a NULL-terminated list of NAME=value. */
bool pl_vars_import(struct pl_vars *vars, char *const *environment);

/* The value, borrowed; NULL: unset or not mentioned. */
const char *pl_vars_get(const struct pl_vars *vars, const char *name);
/* Is the name mentioned, if only to unset it? */
bool pl_vars_has(const struct pl_vars *vars, const char *name);

/* As if it had never been set or unset. */
void pl_vars_remove(struct pl_vars *vars, const char *name);

void pl_vars_fini(struct pl_vars *vars);

#endif
