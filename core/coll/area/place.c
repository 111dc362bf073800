/* SPDX-License-Identifier: BSD-3-Clause */
/* See place.h. */
#include "core/coll/area/place.h"

#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/sysfs.h"
#include "core/job/process.h"

static const struct pl_area_place place_unknown = { -1, -1, -1, 0 };

static int place_lowest(const cpu_set_t *cpus)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, cpus))
            return cpu;
    return -1;
}

/* `known`: sysfs has said which processors `all` are. */
static int32_t place_number(bool known, const cpu_set_t *all, const cpu_set_t *allowed)
{
    cpu_set_t both;
    CPU_AND(&both, all, allowed);
    return known && CPU_EQUAL(&both, allowed) ? place_lowest(all) : -1;
}

struct pl_area_place pl_area_place_in(const char *sys, const cpu_set_t *allowed)
{
    struct pl_area_place place = place_unknown;
    int cpu = place_lowest(allowed);
    cpu_set_t all;
    if (cpu < 0)
        return place;
    place.package = place_number(pl_sysfs_topology(sys, cpu, "core_siblings_list", &all), &all, allowed);
    place.node = place_number(pl_sysfs_node(sys, cpu, &all), &all, allowed);
    place.cache = place_number(pl_sysfs_cache(sys, cpu, &all), &all, allowed);
    return place;
}

/* --- the variable ------------------------------------------------------------------------------------------------- */

static bool places_parse(const char *text, int *packages, int *caches)
{
    int end = 0;
    return sscanf(text, "%4dx%4d%n", packages, caches, &end) == 2 && !text[end] && *packages > 0 && *caches > 0;
}

bool pl_area_places_valid(const char *text)
{
    int packages, caches;
    return strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 || places_parse(text, &packages, &caches);
}

/* The processes of the node fill the caches one after the other. */
static struct pl_area_place places_spread(int packages, int caches)
{
    int size = pl_process.identity.local_size > 0 ? pl_process.identity.local_size : 1;
    long all = (long)packages * caches, cache = pl_process.identity.rank % size * all / size;
    int32_t package = (int32_t)(cache / caches);
    return (struct pl_area_place){ package, package, (int32_t)cache, 1 };
}

struct pl_area_place pl_area_place_self(bool only_given)
{
    static _Thread_local cpu_set_t last; /* empty: none */
    static _Thread_local struct pl_area_place place;
    const char *text = pl_config_text("coll_places");
    int packages, caches;
    cpu_set_t allowed;
    if (places_parse(text, &packages, &caches))
        return places_spread(packages, caches);
    if (only_given || strcmp(text, "none") == 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return place_unknown;
    if (!CPU_EQUAL(&allowed, &last)) {
        place = pl_area_place_in("/sys", &allowed);
        last = allowed;
    }
    return place;
}
