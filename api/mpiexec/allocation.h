/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines that a batch system has given to this job, for a command line that names none. */
#ifndef PLENUM_MPIEXEC_ALLOCATION_H
#define PLENUM_MPIEXEC_ALLOCATION_H

#include "api/mpiexec/parse.h"

/* Takes the hosts of Slurm, PBS, Grid Engine or LSF into the options, if agents may start there. Slurm's own launcher
 * goes first where none is chosen. False: the error is written. */
bool allocation_take(struct parse *p);

/* "a[1-3,7],b" and "2(x3),1" become "a1:2,a2:2,a3:2,a7:1,b:1": Slurm's list of nodes, and what each has; without counts
 * each has 1. The caller frees it. NULL: the list is malformed. */
char *allocation_slurm(const char *nodes, const char *counts);

/* The slots of the Slurm allocation that mpiexec runs in; without one the number given. 0: its list cannot be read, or
 * they are more than an int holds. */
int allocation_slurm_slots(int otherwise);

#endif
