/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets by hardware. hwloc://NUMANode/0 contains the processes that are confined to the processors of that NUMA
 * node; hwloc://NUMANode is the set of the node to which this process is confined. Types and logical indices are those
 * of hwloc.
 *
 * What counts is the processors that the launcher gave to a process. The job segment lists them for all processes from
 * the start. So every process gets the same members at any time, without communication. A process that binds itself
 * later does not change the sets.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/comm/topology_hw.h"
#include "core/job/process.h"
#include "core/object/plugin.h"
#include "sessions/psets/providers.h"

#define TYPES "Machine, Package, NUMANode, L3Cache, Core, PU and others that hwloc finds here"

enum { NAME_BYTES = PL_TOPOLOGY_TYPE_MAX + 16, OWN_WORDS = sizeof(cpu_set_t) / sizeof(uint64_t) };

struct part {
    struct pl_topology_place place; /* its type with "hwloc://" */
    uint64_t *cpus;                 /* [words] */
    int words;
};

struct machine {
    const struct plenum_pset_host *host;
    bool read;
    struct part *part; /* [count] */
    int count;
};

/* --- the processors of a process -------------------------------------------------------------------------------- */

/* The words of a rank's processors; NULL: unknown. */
static const uint64_t *hwloc_psets_cpus_of(const struct machine *m, int rank, uint64_t own[OWN_WORDS], int *words)
{
    const struct pl_job_segment *job = pl_process.identity.job;
    if (job && job->cpu_words) {
        *words = (int)job->cpu_words;
        return (const uint64_t *)((const char *)job + job->cpus) + (size_t)rank * job->cpu_words;
    }
    *words = OWN_WORDS;
    cpu_set_t set;
    if (m->host->size > 1 || sched_getaffinity(0, sizeof set, &set) != 0)
        return NULL;
    memcpy(own, &set, sizeof set);
    return own;
}

static int hwloc_psets_fail_unknown(void)
{
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "hwloc://: the binding of the job's processes is known only under Plenum's mpiexec and runtime");
}

/* Is every processor of the rank one of the part's? False without `*known`: the rank's processors are unknown. */
static bool hwloc_psets_is_confined(const struct machine *m, int rank, const struct part *part, bool *known)
{
    uint64_t own[OWN_WORDS], any = 0;
    int words;
    const uint64_t *cpus = hwloc_psets_cpus_of(m, rank, own, &words);
    *known = cpus != NULL;
    for (int w = 0; cpus && w < words; w++) {
        any |= cpus[w];
        if (cpus[w] & ~(w < part->words ? part->cpus[w] : 0))
            return false;
    }
    return any != 0;
}

/* --- the machine ------------------------------------------------------------------------------------------------ */

static int hwloc_psets_add_part(void *to, const struct pl_topology_place *place, const uint64_t *cpus, int words)
{
    struct machine *m = to;
    struct part *grown = pl_realloc(m->part, ((size_t)m->count + 1) * sizeof *grown);
    uint64_t *own = pl_malloc(((size_t)words + 1) * sizeof *own);
    if (grown)
        m->part = grown;
    if (!grown || !own) {
        free(own);
        return pl_fail_memory("the parts of the machine");
    }
    memcpy(own, cpus, (size_t)words * sizeof *own);
    m->part[m->count++] = (struct part){ *place, own, words };
    return MPI_SUCCESS;
}

static void hwloc_psets_free_parts(struct machine *m)
{
    for (int i = 0; i < m->count; i++)
        free(m->part[i].cpus);
    free(m->part);
    m->part = NULL;
    m->count = 0;
}

/* Takes some milliseconds the first time. */
static int hwloc_psets_read_machine(struct machine *m)
{
    if (m->read)
        return MPI_SUCCESS;
    const struct pl_topology_ops *topology = pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL);
    if (!topology)
        return MPI_ERR_OTHER;
    int rc = topology->each(hwloc_psets_add_part, m);
    if (rc < 0)
        rc = pl_fail(MPI_ERR_OTHER, "hwloc cannot read the topology of this machine");
    m->read = rc == MPI_SUCCESS;
    if (rc)
        hwloc_psets_free_parts(m);
    return rc;
}

/* --- the provider ----------------------------------------------------------------------------------------------- */

static int hwloc_psets_open(const struct plenum_pset_host *host, void **self)
{
    struct machine *m = pl_calloc(1, sizeof *m);
    if (!m)
        return pl_fail_memory("the process sets of the machine");
    m->host = host;
    *self = m;
    return MPI_SUCCESS;
}

static void hwloc_psets_close(void *self)
{
    hwloc_psets_free_parts(self);
    free(self);
}

static bool hwloc_psets_has_member(const struct machine *m, const struct part *part)
{
    bool known = true, member = false;
    for (int rank = 0; known && !member && rank < m->host->size; rank++)
        member = hwloc_psets_is_confined(m, rank, part, &known);
    return member;
}

static void hwloc_psets_name_of(const struct part *part, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s/%d", part->place.type, part->place.index);
}

/* Lists the parts with a member. Where bindings are unknown it lists none; members() reports the reason. */
static int hwloc_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    struct machine *m = self;
    char text[NAME_BYTES];
    int rc = MPI_SUCCESS;
    if (hwloc_psets_read_machine(m) != MPI_SUCCESS)
        return MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < m->count; i++)
        if (hwloc_psets_has_member(m, &m->part[i])) {
            hwloc_psets_name_of(&m->part[i], text);
            rc = name(to, text, 0);
        }
    return rc;
}

/* The part of this name, or of this type to which this process is confined. NULL: none (recorded). */
static const struct part *hwloc_psets_find(const struct machine *m, const char *name)
{
    char text[NAME_BYTES];
    bool type = false, known = true;
    for (int i = 0; i < m->count; i++) {
        const struct part *part = &m->part[i];
        hwloc_psets_name_of(part, text);
        if (pl_pset_name_same(name, text))
            return part;
        if (!pl_pset_name_same(name, part->place.type))
            continue;
        type = true;
        if (hwloc_psets_is_confined(m, m->host->rank, part, &known))
            return part;
    }
    if (!known)
        hwloc_psets_fail_unknown();
    else if (type)
        pl_fail(MPI_ERR_ARG, "%.80s: this process is not confined to one", name);
    else
        pl_fail(MPI_ERR_ARG,
                "there is no process set \"%.80s\": types are " TYPES
                ", with a slash and a number to choose one of several",
                name);
    return NULL;
}

static int hwloc_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                               void *to)
{
    struct machine *m = self;
    int class = MPI_ERR_OTHER;
    *version = 0;
    int rc = hwloc_psets_read_machine(m);
    const struct part *part = rc ? NULL : hwloc_psets_find(m, name);
    if (!part) {
        pl_error_detail(&class);
        return class;
    }
    for (int rank = 0; rc == MPI_SUCCESS && rank < m->host->size; rank++) {
        bool known, member = hwloc_psets_is_confined(m, rank, part, &known);
        if (!known)
            return hwloc_psets_fail_unknown();
        if (member)
            rc = range(to, rank, rank);
    }
    return rc;
}

const struct plenum_pset_provider pl_psets_hwloc = {
    .abi = PLENUM_PSET_ABI,
    .name = "hwloc",
    .scheme = "hwloc",
    .open = hwloc_psets_open,
    .close = hwloc_psets_close,
    .list = hwloc_psets_list,
    .members = hwloc_psets_members,
};
