/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that are published while the job runs (core/job/published_sets.h). */
#include "core/base/error.h"
#include "core/job/published_sets.h"
#include "core/job/sets.h"
#include "sessions/psets/providers.h"

static int app_psets_open(const struct plenum_pset_host *host, void **self)
{
    (void)host;
    *self = NULL;
    return MPI_SUCCESS;
}

static void app_psets_close(void *self)
{
    (void)self;
}

static int app_psets_read(struct pl_job_sets *sets)
{
    struct pl_job_table table = pl_published_sets_table();
    const char *wrong = table.memory ? pl_job_sets_open(&table, sets) : NULL;
    return wrong ? pl_fail(MPI_ERR_OTHER, "published process sets: %s", wrong) : MPI_SUCCESS;
}

static int app_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    (void)self;
    struct pl_job_sets sets = { .count = 0 };
    int rc = app_psets_read(&sets);
    for (int i = 0; rc == MPI_SUCCESS && i < sets.count; i++)
        rc = name(to, sets.set[i].name, sets.set[i].version);
    pl_job_sets_close(&sets);
    return rc;
}

static int app_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                             void *to)
{
    (void)self;
    struct pl_job_sets sets = { .count = 0 };
    int rc = app_psets_read(&sets);
    const struct pl_job_set *set = pl_job_sets_find(&sets, name);
    if (rc == MPI_SUCCESS && !set)
        rc = PLENUM_PSET_NONE;
    if (set)
        *version = set->version;
    for (uint32_t i = 0; rc == MPI_SUCCESS && i < set->count; i++)
        rc = range(to, (int)set->ranges[2 * i], (int)set->ranges[2 * i + 1]);
    pl_job_sets_close(&sets);
    return rc;
}

static uint64_t app_psets_version(void *self)
{
    (void)self;
    struct pl_job_table table = pl_published_sets_table();
    return table.memory ? pl_job_sets_version(&table) : 0;
}

const struct plenum_pset_provider pl_psets_app = {
    .abi = PLENUM_PSET_ABI,
    .name = "app",
    .open = app_psets_open,
    .close = app_psets_close,
    .list = app_psets_list,
    .members = app_psets_members,
    .version = app_psets_version,
};
