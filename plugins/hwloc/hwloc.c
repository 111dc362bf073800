/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the machine to which this process is confined, by hwloc. core/comm/topology_hw.h uses them.
 *
 * Each call reads the machine anew, with the current binding, and keeps nothing: calls are rare (splitting a
 * communicator by hardware), and a topology takes memory.
 */
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/compiler.h"
#include "core/base/plain_locale.h"
#include "core/base/sysfs.h"
#include "core/comm/topology_hw.h"

#define SCHEME "hwloc://"

/* The machine, and the processors that this process may use now. */
static int machine_load(hwloc_topology_t *topology, hwloc_cpuset_t *cpus)
{
    cpu_set_t allowed; /* where the kernel denies this call, hwloc would repeat it for ever */
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 && errno != EINVAL)
        return -1;
    if (hwloc_topology_init(topology) != 0)
        return -1;
    if (!pl_sysfs_has_processors("/sys")) /* other parts of hwloc ask the processors themselves, or count them */
        hwloc_topology_set_components(*topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
    *cpus = hwloc_bitmap_alloc();
    if (!*cpus)
        goto destroy;
    if (hwloc_topology_load(*topology) != 0)
        goto free_cpus;
    if (hwloc_get_cpubind(*topology, *cpus, HWLOC_CPUBIND_PROCESS) == 0 && !hwloc_bitmap_iszero(*cpus))
        return 0;
    hwloc_bitmap_copy(*cpus, hwloc_topology_get_allowed_cpuset(*topology));
    return 0;

free_cpus:
    hwloc_bitmap_free(*cpus);
destroy:
    hwloc_topology_destroy(*topology);
    return -1;
}

static void machine_unload(hwloc_topology_t topology, hwloc_cpuset_t cpus)
{
    hwloc_bitmap_free(cpus);
    hwloc_topology_destroy(topology);
}

/* The object of this type that has all of the processors; NULL: none. */
static hwloc_obj_t machine_confining(hwloc_topology_t topology, hwloc_const_cpuset_t cpus, hwloc_obj_type_t type)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL)
        if (object->cpuset && hwloc_bitmap_isincluded(cpus, object->cpuset))
            return object;
    return NULL;
}

/* Types that contain processors, from the machine down. Memory is where its processors are. */
static const hwloc_obj_type_t types[] = {
    HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE,     HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE,
    HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE,     HWLOC_OBJ_PU,
};
enum { TYPES = sizeof types / sizeof *types };

/* hwloc's full names tell caches apart: "L3Cache". */
static void machine_name_of(hwloc_obj_t object, char *name, size_t capacity)
{
    char type[PL_TOPOLOGY_TYPE_MAX - sizeof SCHEME];
    hwloc_obj_type_snprintf(type, sizeof type, object, 1);
    snprintf(name, capacity, SCHEME "%s", type);
}

static int machine_places(struct pl_topology_place *places, int capacity)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t cpus;
    int count = 0;
    if (machine_load(&topology, &cpus) != 0)
        return -1;
    for (int i = 0; i < TYPES; i++) {
        hwloc_obj_t object = machine_confining(topology, cpus, types[i]);
        if (!object)
            continue;
        if (count < capacity) {
            machine_name_of(object, places[count].type, sizeof places[count].type);
            places[count].index = (int)object->logical_index;
        }
        count++;
    }
    machine_unload(topology, cpus);
    return count;
}

static int machine_index(const char *type)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t cpus;
    int index = -2;
    if (strncasecmp(type, SCHEME, strlen(SCHEME)) == 0)
        type += strlen(SCHEME);
    if (machine_load(&topology, &cpus) != 0)
        return -2;
    for (int i = 0; i < TYPES; i++) {
        char name[PL_TOPOLOGY_TYPE_MAX];
        hwloc_obj_t any = hwloc_get_obj_by_type(topology, types[i], 0);
        if (!any)
            continue;
        machine_name_of(any, name, sizeof name);
        if (!pl_plain_same(name + strlen(SCHEME), type))
            continue;
        hwloc_obj_t object = machine_confining(topology, cpus, types[i]);
        index = object ? (int)object->logical_index : -1;
        break;
    }
    machine_unload(topology, cpus);
    return index;
}

enum { WORDS_MAX = 256 };

/* The processors of an object, in words of 64. */
static int machine_words_of(hwloc_const_cpuset_t cpuset, uint64_t *words)
{
    int last = hwloc_bitmap_last(cpuset), count = last < 0 ? 0 : last / 64 + 1;
    if (count > WORDS_MAX)
        count = WORDS_MAX;
    memset(words, 0, (size_t)count * sizeof *words);
    for (int cpu = hwloc_bitmap_first(cpuset); cpu >= 0 && cpu / 64 < count; cpu = hwloc_bitmap_next(cpuset, cpu))
        words[cpu / 64] |= (uint64_t)1 << cpu % 64;
    return count;
}

static int machine_each(int (*found)(void *to, const struct pl_topology_place *place, const uint64_t *cpus, int words),
                        void *to)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t cpus;
    uint64_t words[WORDS_MAX];
    int rc = 0;
    if (machine_load(&topology, &cpus) != 0)
        return -1;
    for (int i = 0; rc == 0 && i < TYPES; i++)
        for (hwloc_obj_t o = NULL; rc == 0 && (o = hwloc_get_next_obj_by_type(topology, types[i], o)) != NULL;) {
            struct pl_topology_place place = { .index = (int)o->logical_index };
            machine_name_of(o, place.type, sizeof place.type);
            if (o->cpuset)
                rc = found(to, &place, words, machine_words_of(o->cpuset, words));
        }
    machine_unload(topology, cpus);
    return rc;
}

PL_EXPORT const struct pl_topology_ops plenum_topology = {
    .abi = PL_TOPOLOGY_ABI,
    .name = "hwloc",
    .places = machine_places,
    .index = machine_index,
    .each = machine_each,
};
