/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several copies of the library in one process, and one connection to the launcher's server. The first copy makes an
 * anonymous file that the others find in /proc/self/fd. Its lock (flock) gives the connection to one of them for the
 * time of a request, and its contents are the names of the copies.
 */
#ifndef PLENUM_PLUGINS_PMI_COPIES_H
#define PLENUM_PLUGINS_PMI_COPIES_H

#include <stdbool.h>

#include "core/job/tenant.h"

/* The first copy creates the file; another one opens it. False: there is none. */
bool pl_pmi_copies_open(bool first);

/* Enters this copy, and returns the name that only it has in this process. */
void pl_pmi_copies_enter(char name[PL_TENANT_NAME]);

/* Nothing happens if the file is not open. */
void pl_pmi_copies_lock(void);
void pl_pmi_copies_unlock(void);

#endif
