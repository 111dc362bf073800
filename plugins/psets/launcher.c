/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets that the launcher defines with the job: those of `mpiexec --pset` and plenum_job_pset(), in the job
 * segment, or those of another launcher's server. They are read once, and assumed not to change.
 *
 * Sets of other launchers may have any name. A name that is not a URI, such as "ocean", becomes pmix://ocean.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/job/process.h"
#include "sessions/psets/providers.h"

struct set {
    char *name;
    int *rank; /* [count] */
    int count;
};

struct sets {
    struct set *set; /* [count] */
    int count;
};

static void launcher_psets_close(void *self)
{
    struct sets *sets = self;
    for (int i = 0; i < sets->count; i++) {
        free(sets->set[i].name);
        free(sets->set[i].rank);
    }
    free(sets->set);
    free(sets);
}

/* A URI of any text, to be freed. */
static char *launcher_psets_make_name(const char *text)
{
    static const char plain[] = "-._~", scheme[] = "pmix://";
    if (!pl_pset_name_check(text))
        return pl_strdup(text);
    char *name = pl_malloc(sizeof scheme + 3 * strlen(text)), *at = name;
    if (name)
        at = stpcpy(name, scheme);
    for (; name && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(plain, c))
            *at++ = (char)c;
        else
            at += sprintf(at, "%%%02X", c);
    }
    if (name)
        *at = '\0';
    return name;
}

static int launcher_psets_add(void *to, const char *name, const int *ranks, int count)
{
    struct sets *sets = to;
    struct set *grown = pl_realloc(sets->set, ((size_t)sets->count + 1) * sizeof *grown);
    if (grown)
        sets->set = grown;
    struct set set = { launcher_psets_make_name(name), pl_malloc(((size_t)count + 1) * sizeof(int)), count };
    if (!grown || !set.name || !set.rank) {
        free(set.name);
        free(set.rank);
        return pl_fail_memory("the process sets of the launcher");
    }
    memcpy(set.rank, ranks, (size_t)count * sizeof *ranks);
    sets->set[sets->count++] = set;
    return MPI_SUCCESS;
}

/* Adds a set of the segment, which was checked when it was mapped: turns its ranges into ranks. */
static int launcher_psets_add_ranges(struct sets *sets, const struct pl_job_segment *job, const struct pl_job_pset *set)
{
    const uint32_t *range = (const void *)((const char *)job + set->ranges);
    size_t count = 0;
    for (uint32_t r = 0; r < set->count; r++)
        count += range[2 * r + 1] - range[2 * r] + 1;
    int *ranks = count <= INT_MAX ? pl_malloc((count + 1) * sizeof *ranks) : NULL, *at = ranks;
    if (!ranks)
        return pl_fail_memory("the process sets of the launcher");
    for (uint32_t r = 0; r < set->count; r++)
        for (uint32_t rank = range[2 * r]; rank <= range[2 * r + 1]; rank++)
            *at++ = (int)rank;
    int rc = launcher_psets_add(sets, (const char *)job + set->name, ranks, (int)count);
    free(ranks);
    return rc;
}

static int launcher_psets_add_all(struct sets *sets)
{
    const struct pl_job_segment *job = pl_process.identity.job;
    int rc = MPI_SUCCESS;
    if (!job)
        return pl_process.bootstrap->psets ? pl_process.bootstrap->psets(launcher_psets_add, sets) : MPI_SUCCESS;
    const struct pl_job_pset *set = (const void *)((const char *)job + job->psets);
    for (uint32_t i = 0; rc == MPI_SUCCESS && i < job->pset_count; i++)
        rc = launcher_psets_add_ranges(sets, job, &set[i]);
    return rc;
}

static int launcher_psets_open(const struct plenum_pset_host *host, void **self)
{
    struct sets *sets = pl_calloc(1, sizeof *sets);
    (void)host;
    if (!sets)
        return pl_fail_memory("the process sets of the launcher");
    int rc = launcher_psets_add_all(sets);
    if (rc)
        launcher_psets_close(sets);
    else
        *self = sets;
    return rc;
}

static int launcher_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    const struct sets *sets = self;
    int rc = MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < sets->count; i++)
        rc = name(to, sets->set[i].name, 0);
    return rc;
}

static int launcher_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                                  void *to)
{
    const struct sets *sets = self;
    int rc = PLENUM_PSET_NONE;
    *version = 0;
    for (int i = 0; rc == PLENUM_PSET_NONE && i < sets->count; i++) {
        if (!pl_pset_name_same(name, sets->set[i].name))
            continue;
        rc = MPI_SUCCESS;
        for (int r = 0; rc == MPI_SUCCESS && r < sets->set[i].count; r++)
            rc = range(to, sets->set[i].rank[r], sets->set[i].rank[r]);
    }
    return rc;
}

const struct plenum_pset_provider pl_psets_launcher = {
    .abi = PLENUM_PSET_ABI,
    .name = "launcher",
    .open = launcher_psets_open,
    .close = launcher_psets_close,
    .list = launcher_psets_list,
    .members = launcher_psets_members,
};
