/* SPDX-License-Identifier: BSD-3-Clause */
/* Published names by way of the PMIx server, where it has such a service; see struct pl_bootstrap_ops. */
#ifndef PLENUM_PLUGINS_PMIX_NAMES_H
#define PLENUM_PLUGINS_PMIX_NAMES_H

#include <pmix.h>

#include "core/job/process.h"

void names_open(const struct pl_bootstrap_host *host);
int names_publish(const char *name, const char *value);
int names_withdraw(const char *name);
int names_find(const char *name, char *value, size_t room);

#endif
