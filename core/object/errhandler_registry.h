/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of error handlers: from a name to a table of functions, built in or of a plugin, and its state. */
#ifndef PLENUM_CORE_OBJECT_ERRHANDLER_REGISTRY_H
#define PLENUM_CORE_OBJECT_ERRHANDLER_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "plenum-errhandler.h"

/* An open handler. */
struct pl_named {
    const struct plenum_errhandler_ops *ops;
    void *state;
};

/* Could this be the name of a handler? A plugin is not looked for. */
bool pl_named_valid(const char *name);

/* What is allowed, for messages. */
#define PL_NAMED_ALLOWED                                                                                               \
    "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log, plenum://backtrace, plenum://callback "  \
    "or "                                                                                                              \
    "plugin://NAME"

/* MPI_ERR_ARG: no such name; MPI_ERR_OTHER: the plugin cannot be loaded, or refuses. Any thread; code of a plugin
 * runs. */
int pl_named_open(const char *name, struct pl_named *named);
void pl_named_close(struct pl_named *named);

/* The n-th built-in handler's name and table; false: there are not so many. */
bool pl_named_nth(size_t n, const char **name, const struct plenum_errhandler_ops **ops);

#endif
