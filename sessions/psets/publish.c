/* SPDX-License-Identifier: BSD-3-Clause */
/* The group becomes ranges of ranks. No other provider may have the name. */
#include "sessions/psets/publish.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/job/published_sets.h"
#include "core/object/group.h"
#include "sessions/psets/registry.h"
#include "sessions/psets/watch.h"

/* The group as [2 * count]: first rank, last rank. MPI_ERR_GROUP: a member belongs to another job. */
static int publish_ranges(const struct pl_group *group, uint32_t **ranges, uint32_t *count)
{
    *count = 0;
    *ranges = pl_malloc(((size_t)group->size + 1) * 2 * sizeof **ranges);
    if (!*ranges)
        return pl_fail_memory("the members of a process set");
    for (int i = 0; i < group->size; i++) {
        uint64_t proc = pl_group_proc(group, i);
        uint32_t rank = (uint32_t)PL_PROC_RANK(proc), *last = *ranges + 2 * *count - 1;
        if (PL_PROC_JOB(proc) != 0) {
            free(*ranges);
            return pl_fail(
                MPI_ERR_GROUP,
                "rank %d of the group belongs to another job, but all members of a process set must be of this job", i);
        }
        if (*count && *last + 1 == rank) {
            *last = rank;
            continue;
        }
        (*ranges)[2 * *count] = (*ranges)[2 * *count + 1] = rank;
        ++*count;
    }
    return MPI_SUCCESS;
}

/* The sets of other providers cannot be changed, and a published set of the same name would never be found. The last
 * slot is that of the published sets. */
static int publish_check_name_locked(struct pl_psets *psets, const char *name)
{
    char shown[PL_PSET_SHOWN];
    const char *wrong = pl_pset_name_check(name);
    if (wrong)
        return pl_fail(MPI_ERR_ARG, "\"%s\" is not a name of a process set: it %s",
                       pl_pset_name_show(name, shown, sizeof shown), wrong);
    int rc = pl_psets_complete_locked(psets);
    if (rc)
        return rc;
    const struct plenum_pset_host *host = &psets->slot[psets->slots - 1].host;
    const char *holder = host->holder(host, name);
    if (holder)
        return pl_fail(MPI_ERR_ARG, "process set \"%s\" belongs to the provider %s",
                       pl_pset_name_show(name, shown, sizeof shown), holder);
    return MPI_SUCCESS;
}

int pl_psets_publish(struct pl_instance *instance, const char *name, const struct pl_group *group)
{
    struct pl_psets *psets = pl_psets_of(instance);
    uint32_t *ranges = NULL, count = 0;
    if (!psets)
        return MPI_ERR_NO_MEM;
    pl_lock_take(&psets->lock);
    int rc = publish_check_name_locked(psets, name);
    pl_lock_drop(&psets->lock);
    if (rc == MPI_SUCCESS && group)
        rc = publish_ranges(group, &ranges, &count);
    if (rc)
        return rc;
    rc = pl_published_sets_change(name, ranges, count);
    free(ranges);
    pl_psets_tell(psets);
    return rc;
}
