/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that a PMIx server knows. */
#ifndef PLENUM_PLUGINS_PMIX_PSETS_H
#define PLENUM_PLUGINS_PMIX_PSETS_H

#include <pmix.h>

#include "core/job/process.h"

/* Asks the own server for its sets of the job `self` is in, and says them one by one; see struct pl_bootstrap_ops. A
 * server that has none, or does not understand, or does not answer in time, has said nothing. */
int psets_each(const struct pl_bootstrap_host *host, const pmix_proc_t *self,
               int (*found)(void *to, const char *name, const int *ranks, int count), void *to);

#endif
