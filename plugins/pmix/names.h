/* SPDX-License-Identifier: BSD-3-Clause */
/* Published names through the PMIx server, for all jobs of its session and as long as the process lives. The contracts
 * are those of struct pl_bootstrap_ops; PL_UNREACHABLE: the server has no such service. */
#ifndef PLENUM_PLUGINS_PMIX_NAMES_H
#define PLENUM_PLUGINS_PMIX_NAMES_H

#include <pmix.h>

#include "core/job/process.h"

int pl_pmix_names_publish(const char *name, const char *value);
int pl_pmix_names_withdraw(const char *name);
int pl_pmix_names_find(const char *name, char *value, size_t bytes);

#endif
