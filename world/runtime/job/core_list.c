/* SPDX-License-Identifier: BSD-3-Clause */
/* See core_list.h. Cores are numbered as hwloc numbers them: those of the first socket come first. */
#include "world/runtime/job/core_list.h"

#include <limits.h>
#include <stdio.h>

#include "core/base/sysfs.h"
#include "world/runtime/job/binding.h"

enum { ANY_SOCKET = -1 };

/* One part of a list: cores of the machine or of a socket; or processors, by the kernel's numbers. What is said before
 * a number holds until a semicolon. */
struct part {
    bool processors;
    int socket, first, last;
};

static bool part_read_number(const char **at, int *number)
{
    int used = 0;
    if (**at < '0' || **at > '9' || sscanf(*at, "%5d%n", number, &used) != 1)
        return false;
    *at += used;
    return true;
}

/* "1:" before a core, or "p" before a processor. */
static bool part_read_prefix(const char **at, struct part *part)
{
    const char *ahead = *at;
    int socket;
    if (*ahead == 'p' || *ahead == 'P') {
        part->processors = true;
        (*at)++;
    } else if (part_read_number(&ahead, &socket) && *ahead == ':') {
        part->socket = socket;
        *at = ahead + 1;
    }
    return !part->processors || part->socket == ANY_SOCKET;
}

/* Reads a part and what separates it from the next one. */
static bool part_read(const char **at, struct part *part)
{
    if (!part_read_prefix(at, part))
        return false;
    if (**at == '*' && part->socket != ANY_SOCKET) {
        part->first = 0;
        part->last = INT_MAX;
        (*at)++;
    } else {
        if (!part_read_number(at, &part->first))
            return false;
        part->last = part->first;
        if (**at == '-' && (++*at, !part_read_number(at, &part->last) || part->last < part->first))
            return false;
    }
    if (**at != ',' && **at != ';')
        return !**at;
    return *++*at != '\0';
}

static void part_forget(const char *at, struct part *part)
{
    if (at[-1] == ';')
        *part = (struct part){ .socket = ANY_SOCKET };
}

bool pl_core_list_valid(const char *list)
{
    struct part part = { .socket = ANY_SOCKET };
    const char *at = list;
    do {
        if (!part_read(&at, &part))
            return false;
        part_forget(at, &part);
    } while (*at);
    return true;
}

static bool core_list_overlap(const cpu_set_t *a, const cpu_set_t *b)
{
    cpu_set_t both;
    CPU_AND(&both, a, b);
    return CPU_COUNT(&both) > 0;
}

/* The cores, in order, that the part names; each must have an allowed processor. */
static bool core_list_add_cores(const struct pl_binding_places *sockets, const struct pl_binding_places *cores,
                                const struct part *part, const cpu_set_t *allowed, cpu_set_t *cpus)
{
    int number = 0, found = 0;
    for (int s = 0; s < sockets->count; s++) {
        if (part->socket != ANY_SOCKET && part->socket != s)
            continue;
        for (int c = 0; c < cores->count; c++) {
            if (!core_list_overlap(&cores->cpus[c], &sockets->cpus[s]))
                continue;
            bool named = number >= part->first && number <= part->last;
            number++;
            if (!named || !core_list_overlap(&cores->cpus[c], allowed))
                continue;
            CPU_OR(cpus, cpus, &cores->cpus[c]);
            found++;
        }
    }
    return part->last == INT_MAX ? found > 0 : found == part->last - part->first + 1;
}

static bool core_list_add_processors(const struct part *part, const cpu_set_t *allowed, cpu_set_t *cpus)
{
    for (int cpu = part->first; cpu <= part->last; cpu++) {
        if (cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, allowed))
            return false;
        CPU_SET((size_t)cpu, cpus);
    }
    return true;
}

enum pl_core_list pl_core_list_find(const char *sys, const cpu_set_t *allowed, const char *list, cpu_set_t *cpus)
{
    struct pl_binding_places sockets, cores;
    struct part part = { .socket = ANY_SOCKET };
    cpu_set_t online;
    bool found = true;
    CPU_ZERO(cpus);
    if (!pl_sysfs_online(sys, &online))
        online = *allowed;
    if (!pl_binding_find(sys, &online, PLENUM_BIND_SOCKET, PLENUM_MAP_SLOT, 0, &sockets))
        return PL_CORE_LIST_NO_MEMORY;
    if (!pl_binding_find(sys, &online, PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 0, &cores)) {
        pl_binding_fini(&sockets);
        return PL_CORE_LIST_NO_MEMORY;
    }
    for (const char *at = list; found && *at;) {
        found = part_read(&at, &part);
        if (found && part.processors)
            found = core_list_add_processors(&part, allowed, cpus);
        else if (found)
            found = core_list_add_cores(&sockets, &cores, &part, allowed, cpus);
        part_forget(at, &part);
    }
    CPU_AND(cpus, cpus, allowed);
    pl_binding_fini(&sockets);
    pl_binding_fini(&cores);
    return found ? PL_CORE_LIST_FOUND : PL_CORE_LIST_ABSENT;
}
