/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that always exist: mpi://WORLD, mpi://SELF, and plenum://NODE, the processes of this node. */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/pset_name.h"
#include "core/job/process.h"
#include "sessions/psets/providers.h"

static int builtin_psets_open(const struct plenum_pset_host *host, void **self)
{
    *self = (void *)host;
    return MPI_SUCCESS;
}

static void builtin_psets_close(void *self)
{
    (void)self;
}

static int builtin_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    (void)self;
    int rc = name(to, "mpi://WORLD", 0);
    return rc ? rc : name(to, "mpi://SELF", 0);
}

static int builtin_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                                 void *to)
{
    const struct plenum_pset_host *host = self;
    *version = 0;
    if (pl_pset_name_same(name, "mpi://WORLD"))
        return range(to, 0, host->size - 1);
    if (pl_pset_name_same(name, "mpi://SELF"))
        return range(to, host->rank, host->rank);
    return PLENUM_PSET_NONE;
}

const struct plenum_pset_provider pl_psets_builtin = {
    .abi = PLENUM_PSET_ABI,
    .name = "builtin",
    .scheme = "mpi",
    .open = builtin_psets_open,
    .close = builtin_psets_close,
    .list = builtin_psets_list,
    .members = builtin_psets_members,
};

/* --- the node --------------------------------------------------------------------------------------------------- */

static bool node_psets_is_one_node(void)
{
    return pl_process.identity.local_size == pl_process.identity.size;
}

static int node_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    (void)self;
    return node_psets_is_one_node() || pl_process.identity.local_ranks ? name(to, "plenum://NODE", 0) : MPI_SUCCESS;
}

/* Passes on the ranks of a launcher's list such as "0,1,4". */
static int node_psets_give_list(const char *ranks, plenum_pset_range_function *range, void *to)
{
    int rc = MPI_SUCCESS;
    for (const char *at = ranks; rc == MPI_SUCCESS && *at; at += *at == ',') {
        char *behind;
        long rank = strtol(at, &behind, 10);
        if (behind == at || rank < 0 || rank > INT_MAX)
            return pl_fail(MPI_ERR_OTHER, "plenum://NODE: the launcher gives \"%.60s\" as the ranks of this node",
                           ranks);
        rc = range(to, (int)rank, (int)rank);
        at = behind;
    }
    return rc;
}

static int node_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                              void *to)
{
    const struct plenum_pset_host *host = self;
    *version = 0;
    if (!pl_pset_name_same(name, "plenum://NODE"))
        return PLENUM_PSET_NONE;
    if (node_psets_is_one_node())
        return range(to, 0, host->size - 1);
    if (pl_process.identity.local_ranks)
        return node_psets_give_list(pl_process.identity.local_ranks, range, to);
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "plenum://NODE: this launcher does not list the processes of this node; use MPI_Comm_split_type");
}

const struct plenum_pset_provider pl_psets_node = {
    .abi = PLENUM_PSET_ABI,
    .name = "node",
    .scheme = "plenum",
    .open = builtin_psets_open,
    .close = builtin_psets_close,
    .list = node_psets_list,
    .members = node_psets_members,
};
