/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the published process sets are, and changing them. See published_sets.h. */
#include "core/job/published_sets.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/pset_name.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/sets.h"

enum { ALONE_BYTES = 32768 };

static struct {
    struct pl_job_table_memory memory;
    char buffers[PL_JOB_BUFFERS * ALONE_BYTES];
} alone;

struct pl_job_table pl_published_sets_table(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    bool whole = !identity->attached || identity->local_size == identity->size; /* or the pool of this machine */
    if (identity->job && whole)
        return pl_job_table_of(identity->job, identity->common);
    bool singleton = strcmp(pl_process.bootstrap->name, "singleton") == 0;
    return (struct pl_job_table){ singleton ? &alone.memory : NULL, ALONE_BYTES, 1 };
}

int pl_published_sets_change(const char *name, const uint32_t *ranges, uint32_t count)
{
    struct pl_job_table table = pl_published_sets_table();
    uint64_t version;
    char shown[80];
    if (!table.memory)
        return pl_fail(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "process sets can be published only in jobs of Plenum's mpiexec or runtime on one machine, and in "
            "pools on one machine");
    const char *wrong = pl_job_sets_change(&table, name, ranges, count, &version);
    if (wrong)
        return pl_fail(ranges ? MPI_ERR_OTHER : MPI_ERR_ARG, "process set \"%s\" cannot be %s: %s",
                       pl_pset_name_show(name, shown, sizeof shown), ranges ? "published" : "withdrawn", wrong);
    pl_job_note_send(pl_process.identity.job, &(struct pl_job_note){ .kind = PL_NOTE_SETS });
    return MPI_SUCCESS;
}
