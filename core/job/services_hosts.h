/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names in a job on hosts of Plenum's launcher: the runtime that has the hosts keeps those of all its jobs
 * (world/runtime/job/published_names.h), and is asked by questions (core/job/question.h). It has each name once, until
 * the process withdraws it or its rank ends. No lock is held.
 */
#ifndef PLENUM_CORE_JOB_SERVICES_HOSTS_H
#define PLENUM_CORE_JOB_SERVICES_HOSTS_H

#include <stdbool.h>

#include "core/job/services.h"

/* MPI_ERR_SERVICE: it is published already, or the runtime cannot be asked. */
int pl_services_hosts_publish(const char *name, const char *value);

/* MPI_ERR_SERVICE: this process has not published it with this value. `progress`: makes progress while it waits. */
int pl_services_hosts_withdraw(const char *name, const char *value, bool progress);

/* MPI_ERR_NAME: it is not published. */
int pl_services_hosts_find(const char *name, char value[PL_SERVICE_VALUE_MAX]);

#endif
