/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets that processes of the job, or its launcher, publish while it runs. They are in the job segment
 * (core/job/sets.h). A process that no launcher started is a job with a table of its own. Other launchers offer no
 * such table.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/pset_name.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/sets.h"
#include "sessions/psets/providers.h"

enum { ALONE_BYTES = 32768 };

static struct {
    struct pl_job_table table;
    char buffers[PL_JOB_BUFFERS * ALONE_BYTES];
} alone = { .table = { .capacity = ALONE_BYTES, .size = 1 } };

/* NULL: none under this launcher. */
static struct pl_job_table *app_psets_table(void)
{
    const struct pl_job_segment *job = pl_process.place.job;
    if (job)
        return job->table ? (struct pl_job_table *)((char *)job + job->table) : NULL;
    return strcmp(pl_process.bootstrap->name, "singleton") == 0 ? &alone.table : NULL;
}

static int app_psets_change(const char *name, const uint32_t *ranges, uint32_t count)
{
    struct pl_job_table *t = app_psets_table();
    uint64_t version;
    char shown[80];
    if (!t)
        return pl_fail(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "process sets can be published only in jobs of Plenum's mpiexec or runtime, not under this launcher");
    const char *wrong = pl_job_sets_change(t, name, ranges, count, &version);
    if (wrong)
        return pl_fail(ranges ? MPI_ERR_OTHER : MPI_ERR_ARG, "process set \"%s\" cannot be %s: %s",
                       pl_pset_name_show(name, shown, sizeof shown), ranges ? "published" : "withdrawn", wrong);
    pl_job_note_send(pl_process.place.job, &(struct pl_job_note){ .kind = PL_NOTE_SETS });
    return MPI_SUCCESS;
}

static int app_psets_open(const struct plenum_pset_host *host, void **self)
{
    (void)host;
    *self = app_psets_table();
    return MPI_SUCCESS;
}

static void app_psets_close(void *self)
{
    (void)self;
}

static int app_psets_read(void *self, struct pl_job_sets *sets)
{
    const char *wrong = self ? pl_job_sets_open(self, sets) : NULL;
    return wrong ? pl_fail(MPI_ERR_OTHER, "published process sets: %s", wrong) : MPI_SUCCESS;
}

static int app_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    struct pl_job_sets sets = { .count = 0 };
    int rc = app_psets_read(self, &sets);
    for (int i = 0; rc == MPI_SUCCESS && i < sets.count; i++)
        rc = name(to, sets.set[i].name, sets.set[i].version);
    pl_job_sets_close(&sets);
    return rc;
}

static int app_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                             void *to)
{
    struct pl_job_sets sets = { .count = 0 };
    int rc = app_psets_read(self, &sets);
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
    return self ? pl_job_sets_version(self) : 0;
}

static const struct plenum_pset_provider app_psets_provider = {
    .abi = PLENUM_PSET_ABI,
    .name = "app",
    .open = app_psets_open,
    .close = app_psets_close,
    .list = app_psets_list,
    .members = app_psets_members,
    .version = app_psets_version,
};

const struct pl_psets_publisher pl_psets_app = { &app_psets_provider, app_psets_change };
