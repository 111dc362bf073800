/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on other machines that mpiexec runs itself, with an agent on each (--launcher ssh). */
#ifndef PLENUM_MPIEXEC_HOSTS_H
#define PLENUM_MPIEXEC_HOSTS_H

#include "api/mpiexec/run.h"

/* Checks that the options can be kept, and turns -N into slots. False: `error` says why not. */
bool hosts_prepare(struct options *options, char *error, size_t size);

/* Adds the hosts to the runtime. Returns an enum plenum_error. */
int hosts_add(struct run *run);

/* Prints the hosts, for --dry-run. */
void hosts_print(const struct options *options);

#endif
