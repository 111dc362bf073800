/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets that are always there: mpi://WORLD, mpi://SELF, and plenum://NODE, the processes of the own node. */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/pset_name.h"
#include "core/job/process.h"
#include "sessions/psets/providers.h"

static int open_builtin(const struct plenum_pset_host *host, void **self)
{
    *self = (void *)host;
    return MPI_SUCCESS;
}

static void close_builtin(void *self)
{
    (void)self;
}

static int list_builtin(void *self, plenum_pset_name_function *name, void *to)
{
    (void)self;
    int rc = name(to, "mpi://WORLD", 0);
    return rc ? rc : name(to, "mpi://SELF", 0);
}

static int members_of_builtin(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
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
    .open = open_builtin,
    .close = close_builtin,
    .list = list_builtin,
    .members = members_of_builtin,
};

/* --- the node --------------------------------------------------------------------------------------------------- */

static bool is_one_node(void)
{
    return pl_process.place.local_size == pl_process.place.size;
}

static int list_node(void *self, plenum_pset_name_function *name, void *to)
{
    (void)self;
    return is_one_node() || pl_process.place.local_ranks ? name(to, "plenum://NODE", 0) : MPI_SUCCESS;
}

/* "0,1,4", as a launcher has given it. */
static int say_list(const char *ranks, plenum_pset_range_function *range, void *to)
{
    int rc = MPI_SUCCESS;
    for (const char *at = ranks; rc == MPI_SUCCESS && *at; at += *at == ',') {
        char *behind;
        long rank = strtol(at, &behind, 10);
        if (behind == at || rank < 0 || rank > INT_MAX)
            return pl_fail(MPI_ERR_OTHER, "plenum://NODE: the launcher says that the ranks of this node are \"%.60s\"",
                           ranks);
        rc = range(to, (int)rank, (int)rank);
        at = behind;
    }
    return rc;
}

static int members_of_node(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range, void *to)
{
    const struct plenum_pset_host *host = self;
    *version = 0;
    if (!pl_pset_name_same(name, "plenum://NODE"))
        return PLENUM_PSET_NONE;
    if (is_one_node())
        return range(to, 0, host->size - 1);
    if (pl_process.place.local_ranks)
        return say_list(pl_process.place.local_ranks, range, to);
    return pl_fail(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "plenum://NODE: this launcher does not tell which processes are on this node; use MPI_Comm_split_type");
}

const struct plenum_pset_provider pl_psets_node = {
    .abi = PLENUM_PSET_ABI,
    .name = "node",
    .scheme = "plenum",
    .open = open_builtin,
    .close = close_builtin,
    .list = list_node,
    .members = members_of_node,
};
