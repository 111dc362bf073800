/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of a communicator: assertions are stored as bits, kinds of memory as the text that the user gave. */
#include "core/engine/comm_info.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/object/alloc_kinds.h"
#include "core/object/info.h"

static const struct {
    const char *key;
    unsigned bit;
} assertions[] = {
    { "mpi_assert_no_any_tag", PL_ASSERT_NO_ANY_TAG },
    { "mpi_assert_no_any_source", PL_ASSERT_NO_ANY_SOURCE },
    { "mpi_assert_exact_length", PL_ASSERT_EXACT_LENGTH },
    { "mpi_assert_allow_overtaking", PL_ASSERT_ALLOW_OVERTAKING },
    { "mpi_assert_strict_persistent_collective_ordering", PL_ASSERT_STRICT_ORDERING },
};
enum { ASSERTIONS = sizeof assertions / sizeof *assertions };

static unsigned read_assertions(struct pl_info *info, unsigned before)
{
    char value[8];
    size_t length;
    for (int i = 0; i < ASSERTIONS; i++) {
        if (!pl_info_read(info, assertions[i].key, value, sizeof value, &length))
            continue;
        if (strcmp(value, "true") == 0)
            before |= assertions[i].bit;
        else if (strcmp(value, "false") == 0)
            before &= ~assertions[i].bit;
    }
    return before;
}

static int comm_info_keep_kinds(struct pl_comm *comm, const char *kinds)
{
    struct pl_info *made = pl_info_create();
    int rc = made ? pl_info_set(made, PL_ALLOC_KINDS_ASSERT_KEY, kinds) : pl_fail_memory("the hints of a communicator");
    if (rc == MPI_SUCCESS) {
        pl_lock_take(&comm->lock);
        struct pl_info *old = comm->hints.info;
        comm->hints.info = made;
        pl_lock_drop(&comm->lock);
        made = old;
    }
    pl_object_release(made);
    return rc;
}

int pl_comm_info_set(struct pl_comm *comm, struct pl_info *info)
{
    if (!info)
        return MPI_SUCCESS;
    char *kinds;
    int rc = pl_info_get(info, PL_ALLOC_KINDS_ASSERT_KEY, &kinds);
    if (kinds)
        rc = comm_info_keep_kinds(comm, kinds);
    free(kinds);
    if (rc == MPI_SUCCESS) {
        unsigned before = atomic_load_explicit(&comm->hints.asserted, memory_order_relaxed);
        atomic_store_explicit(&comm->hints.asserted, read_assertions(info, before), memory_order_relaxed);
    }
    return rc;
}

int pl_comm_info_get(struct pl_comm *comm, struct pl_info *used)
{
    pl_lock_take(&comm->lock);
    struct pl_info *asked = comm->hints.info ? pl_object_retain(comm->hints.info) : NULL;
    pl_lock_drop(&comm->lock);
    int rc = pl_alloc_kinds_use(comm->instance->info, asked, used);
    pl_object_release(asked);
    unsigned asserted = atomic_load_explicit(&comm->hints.asserted, memory_order_relaxed);
    for (int i = 0; i < ASSERTIONS && rc == MPI_SUCCESS; i++)
        rc = pl_info_set(used, assertions[i].key, asserted & assertions[i].bit ? "true" : "false");
    return rc;
}
