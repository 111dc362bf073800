/* SPDX-License-Identifier: BSD-3-Clause */
/* See binding.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/sysfs.h"
#include "world/runtime/job/binding.h"

/* The processors, allowed or not, of the place that `cpu` belongs to. */
static void binding_place_of(const char *sys, int cpu, enum plenum_bind bind, cpu_set_t *place)
{
    bool known = false, all = false;
    switch (bind) {
    case PLENUM_BIND_CORE: known = pl_sysfs_topology(sys, cpu, "thread_siblings_list", place); break;
    case PLENUM_BIND_SOCKET: known = pl_sysfs_topology(sys, cpu, "core_siblings_list", place), all = true; break;
    case PLENUM_BIND_NUMA: known = pl_sysfs_node(sys, cpu, place), all = true; break;
    case PLENUM_BIND_L3CACHE: known = pl_sysfs_cache(sys, cpu, place), all = true; break;
    default: break;
    }
    if (known)
        return;
    CPU_ZERO(place);
    for (int other = 0; all && other < CPU_SETSIZE; other++)
        CPU_SET((size_t)other, place);
    CPU_SET((size_t)cpu, place);
}

static bool binding_collect(const char *sys, const cpu_set_t *allowed, enum plenum_bind bind,
                            struct pl_binding_places *places)
{
    cpu_set_t left = *allowed;
    *places = (struct pl_binding_places){ pl_calloc((size_t)CPU_COUNT(allowed) + 1, sizeof(cpu_set_t)), 0 };
    if (!places->cpus)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &left))
            continue;
        cpu_set_t *place = &places->cpus[places->count++];
        binding_place_of(sys, cpu, bind, place);
        CPU_AND(place, place, &left);
        CPU_XOR(&left, &left, place);
    }
    return true;
}

/* From what a mapping takes places in turn. */
static enum plenum_bind binding_group(enum plenum_map map)
{
    return map == PLENUM_MAP_NUMA      ? PLENUM_BIND_NUMA
           : map == PLENUM_MAP_L3CACHE ? PLENUM_BIND_L3CACHE
                                       : PLENUM_BIND_SOCKET;
}

static bool binding_overlap(const cpu_set_t *a, const cpu_set_t *b)
{
    cpu_set_t both;
    CPU_AND(&both, a, b);
    return CPU_COUNT(&both) > 0;
}

/* The first of the places from `at` on that overlaps the group; `count`: none. */
static int binding_next(const cpu_set_t *from, int at, int count, const cpu_set_t *group)
{
    while (at < count && !binding_overlap(&from[at], group))
        at++;
    return at;
}

/* Reorders the places: one from each group in turn; a group without places left is skipped. */
static void binding_interleave(const struct pl_binding_places *groups, struct pl_binding_places *places,
                               cpu_set_t *from)
{
    int taken = 0, total = places->count;
    memcpy(from, places->cpus, (size_t)total * sizeof *from);
    while (taken < total) {
        int before = taken;
        for (int g = 0; g < groups->count; g++) {
            int next = binding_next(from, 0, total, &groups->cpus[g]);
            if (next == total)
                continue;
            places->cpus[taken++] = from[next];
            CPU_ZERO(&from[next]);
        }
        if (taken == before)
            break;
    }
}

/* Joins each `each` of the places that overlap `group` (NULL: all). What is left over is dropped. */
static void binding_join_in(const cpu_set_t *from, int count, const cpu_set_t *group, long each,
                            struct pl_binding_places *places)
{
    cpu_set_t sum;
    long joined = 0;
    CPU_ZERO(&sum);
    for (int i = 0; i < count; i++) {
        if (group && !binding_overlap(&from[i], group))
            continue;
        CPU_OR(&sum, &sum, &from[i]);
        if (++joined < each)
            continue;
        places->cpus[places->count++] = sum;
        CPU_ZERO(&sum);
        joined = 0;
    }
}

/* Larger places, each within a socket. Where no socket has enough they span sockets; where the machine has not, one
 * place has all. */
static bool binding_join(const char *sys, const cpu_set_t *allowed, long each, struct pl_binding_places *places)
{
    struct pl_binding_places sockets;
    int count = places->count;
    cpu_set_t *from = pl_calloc((size_t)count + 1, sizeof *from);
    if (!from || !binding_collect(sys, allowed, PLENUM_BIND_SOCKET, &sockets)) {
        free(from);
        return false;
    }
    memcpy(from, places->cpus, (size_t)count * sizeof *from);
    places->count = 0;
    for (int s = 0; s < sockets.count; s++)
        binding_join_in(from, count, &sockets.cpus[s], each, places);
    if (places->count == 0)
        binding_join_in(from, count, NULL, each < count ? each : count, places);
    pl_binding_fini(&sockets);
    free(from);
    return true;
}

bool pl_binding_find(const char *sys, const cpu_set_t *allowed, enum plenum_bind bind, enum plenum_map map, long each,
                     struct pl_binding_places *places)
{
    struct pl_binding_places groups;
    if (!binding_collect(sys, allowed, bind, places))
        return false;
    if (each > 1 && !binding_join(sys, allowed, each, places)) {
        pl_binding_fini(places);
        return false;
    }
    if (map == PLENUM_MAP_SLOT || map == PLENUM_MAP_NODE)
        return true;
    cpu_set_t *from = pl_calloc((size_t)places->count + 1, sizeof *from);
    bool good = from && binding_collect(sys, allowed, binding_group(map), &groups);
    if (good) {
        binding_interleave(&groups, places, from);
        pl_binding_fini(&groups);
    } else {
        pl_binding_fini(places);
    }
    free(from);
    return good;
}

/* Copies the places group by group; or, in turn, one of each group. */
static void binding_gather(const cpu_set_t *from, const struct pl_binding_places *groups, bool in_turn, int *next,
                           cpu_set_t *to, int count)
{
    for (int done = 0, before = -1; before < done;) {
        before = done;
        for (int g = 0; g < groups->count; g++) {
            int most = in_turn ? 1 : count;
            while (most-- > 0 && (next[g] = binding_next(from, next[g], count, &groups->cpus[g])) < count)
                to[done++] = from[next[g]++];
        }
    }
}

bool pl_binding_rank(const char *sys, const cpu_set_t *allowed, enum plenum_map map, enum plenum_rank rank,
                     cpu_set_t *taken, int count)
{
    struct pl_binding_places groups;
    if (rank != PLENUM_RANK_FILL && rank != PLENUM_RANK_SPAN)
        return true;
    if (!binding_collect(sys, allowed, binding_group(map), &groups))
        return false;
    cpu_set_t *from = pl_calloc((size_t)count + 1, sizeof *from);
    int *next = pl_calloc((size_t)groups.count + 1, sizeof *next);
    bool good = from && next;
    if (good) {
        memcpy(from, taken, (size_t)count * sizeof *from);
        binding_gather(from, &groups, rank == PLENUM_RANK_SPAN, next, taken, count);
    }
    free(from);
    free(next);
    pl_binding_fini(&groups);
    return good;
}

void pl_binding_fini(struct pl_binding_places *places)
{
    free(places->cpus);
    *places = (struct pl_binding_places){ 0 };
}

int pl_binding_text(const cpu_set_t *cpus, char *text, size_t size)
{
    int used = 0;
    if (size > 0)
        text[0] = '\0';
    for (int first = 0; first < CPU_SETSIZE; first++) {
        int last = first;
        if (!CPU_ISSET((size_t)first, cpus))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, cpus))
            last++;
        size_t left = (size_t)used < size ? size - (size_t)used : 0;
        used += last > first ? snprintf(left ? text + used : NULL, left, "%s%d-%d", used ? "," : "", first, last)
                             : snprintf(left ? text + used : NULL, left, "%s%d", used ? "," : "", first);
        first = last;
    }
    return used;
}
