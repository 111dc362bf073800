/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that name the cores of each rank: rank files and lists of processors. */
#ifndef PLENUM_MPIEXEC_RANKFILE_H
#define PLENUM_MPIEXEC_RANKFILE_H

#include "api/mpiexec/apply.h"

struct plenum_job;

/* Reads lines such as "rank 0=host slot=1:0-2". */
bool rankfile_apply(struct parse *p, const char *file);

/* All options are known: sets the number of ranks of a single program without -n, and the machine. */
bool rankfile_end(struct parse *p);

/* Where no hosts are named, those of the rank file are. */
bool rankfile_add_hosts(struct parse *p);

/* Replaces the hosts of the lines by those of --host. False: `error` says which one is not there. */
bool rankfile_find_hosts(struct options *o, char *error, size_t size);

/* Binds the ranks of a job to their cores, and on_hosts puts them on theirs. Returns an enum plenum_error. */
int rankfile_describe(struct plenum_job *job, const struct options *o, bool on_hosts);

/* Whether this machine has the cores, for --dry-run; the launch checks it by itself. Returns an enum plenum_error. */
int rankfile_find_cores(const struct plenum_job *job, const struct options *o);

/* Prints the places, for --dry-run. */
void rankfile_print(const struct options *o);

/* The number of items in a list such as "0-2,5", which is checked. */
int rankfile_count(const char *list);

/* Its items, each with a text before it: "p0 p1 p2 p5". The caller frees it. Exits when memory is short. */
char *rankfile_each(const char *list, const char *before, char between);

#endif
