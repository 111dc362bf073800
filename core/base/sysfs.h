/* SPDX-License-Identifier: BSD-3-Clause */
/* What sysfs says of processors: which of them share a cache, a package, memory. `sys` is where it is mounted: "/sys".
 * No locks. */
#ifndef PLENUM_CORE_BASE_SYSFS_H
#define PLENUM_CORE_BASE_SYSFS_H

#include <sched.h>
#include <stdbool.h>

/* Does sysfs list processors, with what they share? Not in a container without sysfs, nor where the kernel denies that
 * directories are listed. hwloc's part for Linux then prints a line, or has an assertion that ends the process. */
bool pl_sysfs_has_processors(const char *sys);

/* The processors of the machine that are in use. False, as in all of these: sysfs does not say. */
bool pl_sysfs_online(const char *sys, cpu_set_t *cpus);

/* Those that share something with `cpu`, and itself, by a file of its topology: "core_siblings_list" are those of the
 * same package, "thread_siblings_list" those of the same core. */
bool pl_sysfs_topology(const char *sys, int cpu, const char *file, cpu_set_t *cpus);

/* Those of the same NUMA node. */
bool pl_sysfs_node(const char *sys, int cpu, cpu_set_t *cpus);

/* Those that share its cache of the highest level. */
bool pl_sysfs_cache(const char *sys, int cpu, cpu_set_t *cpus);

#endif
