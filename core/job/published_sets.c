/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the published process sets are, and changing them. See published_sets.h. */
#include "core/job/published_sets.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/pset_name.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/question.h"
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

/* On hosts the runtime has the sets, and answers once all hosts of the job know of the change. */
static int published_sets_ask(const char *name, const uint32_t *ranges, uint32_t count)
{
    struct pl_question question;
    struct pl_writer data = pl_writer_growing(NULL, 0);
    char shown[80], why[PL_DETAIL_MAX];
    pl_write_text(&data, name);
    if (ranges)
        pl_write_leb128(&data, count);
    for (size_t i = 0; ranges && i < 2 * (size_t)count; i++)
        pl_write_u32(&data, ranges[i]);
    int rc = pl_question_ask(&question, ranges ? PL_QUESTION_SET : PL_QUESTION_NO_SET, &data,
                             ranges ? MPI_ERR_OTHER : MPI_ERR_ARG);
    if (rc == MPI_SUCCESS)
        rc = pl_question_await(&question, true);
    if (rc) {
        snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
        pl_fail(rc, "process set \"%s\" cannot be %s: %s", pl_pset_name_show(name, shown, sizeof shown),
                ranges ? "published" : "withdrawn", why);
    }
    pl_question_close(&question);
    pl_writer_fini(&data);
    return rc;
}

int pl_published_sets_change(const char *name, const uint32_t *ranges, uint32_t count)
{
    struct pl_job_table table = pl_published_sets_table();
    uint64_t version;
    char shown[80];
    if (pl_question_is_for_hosts())
        return published_sets_ask(name, ranges, count);
    if (!table.memory)
        return pl_fail(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "process sets can be published only in jobs of Plenum's mpiexec or runtime, and in pools on one machine");
    const char *wrong = pl_job_sets_change(&table, name, ranges, count, &version);
    if (wrong)
        return pl_fail(ranges ? MPI_ERR_OTHER : MPI_ERR_ARG, "process set \"%s\" cannot be %s: %s",
                       pl_pset_name_show(name, shown, sizeof shown), ranges ? "published" : "withdrawn", wrong);
    pl_job_note_send(pl_process.identity.job, &(struct pl_job_note){ .kind = PL_NOTE_SETS });
    return MPI_SUCCESS;
}
