/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on other machines that mpiexec runs itself, with an agent on each (--launcher ssh). */
#ifndef PLENUM_MPIEXEC_HOSTS_H
#define PLENUM_MPIEXEC_HOSTS_H

#include "api/mpiexec/run.h"

/* Checks that the options can be kept, and turns -N into slots. False: `error` says why not. */
bool hosts_prepare(struct options *options, char *error, size_t size);

/* Adds the hosts to the runtime. Returns an enum plenum_error. */
int hosts_add(struct run *run);

/* The ranks of programs with --map-by ppr:N without -n: waits until the agents have told how many cores or the like
 * their hosts have. Returns 0, or the number of a signal that has come. */
int hosts_count(struct run *run, struct options *options);

/* Puts these ranks on their hosts. Returns an enum plenum_error. */
int hosts_put_ranks(struct plenum_job *job, const struct options *options);

/* Prints the hosts, for --dry-run. */
void hosts_print(const struct options *options);

#endif
