/* SPDX-License-Identifier: BSD-3-Clause */
/* See sysfs.h. The kernel's lists suffice, and reading them takes no library. */
#include "core/base/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

enum { NODES_MAX = 256, CACHES_MAX = 16 };

/* Reads a list such as "0-3,8". False: the file has none. */
static bool sysfs_read_list(const char *file, cpu_set_t *cpus)
{
    FILE *list = fopen(file, "re");
    int first, last;
    CPU_ZERO(cpus);
    if (!list)
        return false;
    while (fscanf(list, "%9d", &first) == 1) {
        if (fscanf(list, "-%9d", &last) != 1)
            last = first;
        for (int cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, cpus);
        if (fgetc(list) != ',')
            break;
    }
    fclose(list);
    return CPU_COUNT(cpus) > 0;
}

bool pl_sysfs_has_processors(const char *sys)
{
    char file[256];
    const struct dirent *entry;
    bool found = false;
    snprintf(file, sizeof file, "%s/devices/system/cpu", sys);
    DIR *directory = opendir(file);
    while (directory && !found && (entry = readdir(directory)) != NULL) {
        int cpu, length = 0;
        if (sscanf(entry->d_name, "cpu%9d%n", &cpu, &length) != 1 || entry->d_name[length])
            continue;
        snprintf(file, sizeof file, "%s/devices/system/cpu/cpu%d/topology", sys, cpu);
        found = access(file, R_OK | X_OK) == 0;
    }
    if (directory)
        closedir(directory);
    return found;
}

bool pl_sysfs_online(const char *sys, cpu_set_t *cpus)
{
    char file[256];
    snprintf(file, sizeof file, "%s/devices/system/cpu/online", sys);
    return sysfs_read_list(file, cpus);
}

bool pl_sysfs_topology(const char *sys, int cpu, const char *name, cpu_set_t *cpus)
{
    char file[256];
    snprintf(file, sizeof file, "%s/devices/system/cpu/cpu%d/topology/%s", sys, cpu, name);
    return sysfs_read_list(file, cpus) && CPU_ISSET((size_t)cpu, cpus);
}

bool pl_sysfs_node(const char *sys, int cpu, cpu_set_t *cpus)
{
    char file[256];
    for (int node = 0; node < NODES_MAX; node++) {
        snprintf(file, sizeof file, "%s/devices/system/node/node%d/cpulist", sys, node);
        if (sysfs_read_list(file, cpus) && CPU_ISSET((size_t)cpu, cpus))
            return true;
    }
    return false;
}

/* One core's cache has several files, in any order. */
bool pl_sysfs_cache(const char *sys, int cpu, cpu_set_t *cpus)
{
    int highest = 0;
    for (int index = 0; index < CACHES_MAX; index++) {
        char file[256];
        int level = 0;
        cpu_set_t shared;
        snprintf(file, sizeof file, "%s/devices/system/cpu/cpu%d/cache/index%d/level", sys, cpu, index);
        FILE *number = fopen(file, "re");
        if (!number)
            break;
        bool read = fscanf(number, "%9d", &level) == 1;
        fclose(number);
        snprintf(file, sizeof file, "%s/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", sys, cpu, index);
        if (!read || level <= highest || !sysfs_read_list(file, &shared) || !CPU_ISSET((size_t)cpu, &shared))
            continue;
        highest = level;
        *cpus = shared;
    }
    return highest > 0;
}
