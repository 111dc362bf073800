/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of error handlers: finds a built-in handler or one of a plugin by name, and opens it. */
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

/* Can this be the name of a handler? Does not search for plugins. */
bool pl_named_valid(const char *name);

/* The valid names, for messages. */
#define PL_NAMED_ALLOWED                                                                                               \
    "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, plenum://log, plenum://backtrace, plenum://callback "  \
    "or "                                                                                                              \
    "plugin://NAME"

/* Opens a handler; may run code of a plugin. MPI_ERR_ARG: there is no such name. MPI_ERR_OTHER: the plugin cannot be
 * loaded, or refuses. Any thread. */
int pl_named_open(const char *name, struct pl_named *named);
void pl_named_close(struct pl_named *named);

/* The n-th built-in handler's name and table; false: there are fewer. */
bool pl_named_nth(size_t n, const char **name, const struct plenum_errhandler_ops **ops);

#endif
