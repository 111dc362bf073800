/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of cores, as plenum_job_place() takes them: "0-2,5", "1:0,1", "1:*", "p3". No locking. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_CORE_LIST_H
#define PLENUM_WORLD_RUNTIME_JOB_CORE_LIST_H

#include <sched.h>
#include <stdbool.h>

/* Is the list well-formed? */
bool pl_core_list_valid(const char *list);

enum pl_core_list { PL_CORE_LIST_FOUND, PL_CORE_LIST_ABSENT, PL_CORE_LIST_NO_MEMORY };

/* Finds the processors of a valid list. ABSENT: the machine lacks one of the cores, or none of a core's processors is
 * in `allowed`.
 * @param sys  where sysfs is mounted: "/sys" */
enum pl_core_list pl_core_list_find(const char *sys, const cpu_set_t *allowed, const char *list, cpu_set_t *cpus);

#endif
