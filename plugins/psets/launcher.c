/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that the launcher defines with the job: `mpiexec --pset`, plenum_job_pset(). They do not change. */
#include "core/error.h"
#include "core/process.h"
#include "core/pset_name.h"
#include "core/pset_providers.h"

static int open_launcher(const struct plenum_pset_host *host, void **self)
{
    *self = (void *)host;
    return MPI_SUCCESS;
}

static void close_launcher(void *self)
{
    (void)self;
}

/* Was checked when the segment was mapped. */
static const struct pl_job_pset *sets(uint32_t *count)
{
    const struct pl_job *job = pl_process.place.job;
    *count = job ? job->pset_count : 0;
    return job ? (const void *)((const char *)job + job->psets) : NULL;
}

static const char *name_of(const struct pl_job_pset *set)
{
    return (const char *)pl_process.place.job + set->name;
}

static int list_launcher(void *self, plenum_pset_name_function *name, void *to)
{
    uint32_t count;
    const struct pl_job_pset *set = sets(&count);
    int rc = MPI_SUCCESS;
    (void)self;
    for (uint32_t i = 0; rc == MPI_SUCCESS && i < count; i++)
        rc = name(to, name_of(&set[i]), 0);
    return rc;
}

static int members_of_launcher(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range, void *to)
{
    uint32_t count;
    const struct pl_job_pset *set = sets(&count);
    int rc = PLENUM_PSET_NONE;
    (void)self;
    *version = 0;
    for (uint32_t i = 0; rc == PLENUM_PSET_NONE && i < count; i++) {
        if (!pl_pset_name_same(name, name_of(&set[i])))
            continue;
        const uint32_t *at = (const void *)((const char *)pl_process.place.job + set[i].ranges);
        rc = MPI_SUCCESS;
        for (uint32_t r = 0; rc == MPI_SUCCESS && r < set[i].count; r++)
            rc = range(to, (int)at[2 * r], (int)at[2 * r + 1]);
    }
    return rc;
}

const struct plenum_pset_provider pl_psets_launcher = {
    .abi     = PLENUM_PSET_ABI,
    .name    = "launcher",
    .open    = open_launcher,
    .close   = close_launcher,
    .list    = list_launcher,
    .members = members_of_launcher,
};
