/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that the PMIx server knows. */
#ifndef PLENUM_PLUGINS_PMIX_PMIX_PSETS_H
#define PLENUM_PLUGINS_PMIX_PMIX_PSETS_H

#include <pmix.h>

#include "core/job/process.h"

/* Asks this process's server for the sets of the job of `self`, and passes each to found() (struct pl_bootstrap_ops). A
 * server that has none, does not support such queries, or does not answer in time is not an error. */
int pl_pmix_psets_each(const struct pl_bootstrap_host *host, const pmix_proc_t *self,
                       int (*found)(void *to, const char *name, const int *ranks, int count), void *to);

#endif
