/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that have functions. */
#ifndef PLENUM_MPIEXEC_APPLY_H
#define PLENUM_MPIEXEC_APPLY_H

#include "api/mpiexec/parse.h"

/* Checks the arguments of an option and stores them. False: p->error says what is wrong with them. */
typedef bool apply_fn(struct parse *p, char *const *arg);
apply_fn apply_n, apply_per_node, apply_env, apply_genv, apply_genvlist, apply_genvnone, apply_export, apply_host,
    apply_soft, apply_configfile, apply_errhandler, apply_ft, apply_recovery, apply_alloc_kinds, apply_pset, apply_bind,
    apply_map, apply_stdin, apply_hostfile, apply_launcher, apply_timeout, apply_grace, apply_heartbeat, apply_pmix,
    apply_cores, apply_gpus, apply_output, apply_dry_run, apply_one_per_node, apply_universe, apply_prefix,
    apply_output_keys, apply_out_pattern, apply_err_pattern, apply_rank, apply_bynode, apply_byslot, apply_per_socket,
    apply_display, apply_envlist, apply_envnone, apply_cpus, apply_rankfile, apply_cpu_list;

/* Reads a number in this range. */
bool apply_number(struct parse *p, const char *text, long least, long most, long *value);

/* Is it a list of processors or cores such as "0-3,8"? */
bool apply_is_list(const char *text);

/* The index of the text, up to a colon, in the list of words; -1: it is not in the list. Case does not matter. */
int apply_word(const char *text, const char *const *words);

#endif
