/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishing a process set: the group becomes ranges of ranks, and no other provider may have the name. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "core/object/group.h"
#include "sessions/psets/registry.h"

enum { SHOWN = 80 };

/* The group as [2 * count]: first rank, last rank. MPI_ERR_GROUP: somebody is not of this job. */
static int ranges_of(const struct pl_group *group, uint32_t **ranges, uint32_t *count)
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
            return pl_fail(MPI_ERR_GROUP,
                           "rank %d of the group is of another job; a process set has members of its own job only", i);
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

/* Another provider's sets cannot be changed, and one of this name would never be found. The slot of what is published
 * is the last one. */
static int check_name_locked(struct pl_psets *psets, const char *name)
{
    char shown[SHOWN];
    const char *wrong = pl_pset_name_check(name);
    if (wrong)
        return pl_fail(MPI_ERR_ARG, "\"%s\" is no name of a process set: it %s",
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
    int rc = check_name_locked(psets, name);
    pl_lock_drop(&psets->lock);
    if (rc == MPI_SUCCESS && group)
        rc = ranges_of(group, &ranges, &count);
    if (rc)
        return rc;
    rc = pl_psets_app_change(name, ranges, count);
    free(ranges);
    pl_psets_tell(psets);
    return rc;
}
