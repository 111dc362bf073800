/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of this machine. */
#ifndef PLENUM_MPIEXEC_MACHINE_H
#define PLENUM_MPIEXEC_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Is `name` [length] a name of this machine: localhost, its host name, with or without its domain? */
bool machine_is_this(const char *name, size_t length);

#endif
