/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys are compared as bytes and never read. So equal groups must give equal bytes: a group is either a sequence, by
 * its first rank and stride, or a list, as core/object/group.h has it. */
#include "sessions/create/key.h"

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/object/group.h"

static int key_check_group(const struct pl_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (PL_PROC_JOB(pl_group_proc(group, i)) != 0)
            return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                           "rank %d of the group belongs to another job, but all members must be of one job: "
                           "MPI_Comm_create_group can create a communicator across jobs",
                           i);
    return MPI_SUCCESS;
}

static void key_write_group(struct pl_writer *to, const struct pl_group *group, int leader)
{
    pl_write_i32(to, group->size);
    pl_write_i32(to, leader);
    pl_write_i32(to, group->list ? 0 : PL_PROC_RANK(group->first));
    pl_write_i32(to, group->list ? 0 : (int32_t)group->stride);
    for (int i = 0; group->list && i < group->size; i++)
        pl_write_i32(to, PL_PROC_RANK(group->list[i]));
}

int pl_exchange_key_create(enum pl_exchange_key_kind kind, const char *tag, const struct pl_group *a, int a_leader,
                           const struct pl_group *b, int b_leader, void **key, size_t *length)
{
    int rc = key_check_group(a);
    if (rc == MPI_SUCCESS && b)
        rc = key_check_group(b);
    if (rc)
        return rc;
    struct pl_writer to = pl_writer_growing(NULL, 0);
    pl_write_u8(&to, (uint8_t)kind);
    pl_write_text(&to, tag);
    key_write_group(&to, a, a_leader);
    if (b)
        key_write_group(&to, b, b_leader);
    *key = pl_writer_take(&to, length);
    return *key ? MPI_SUCCESS : pl_fail_memory("the members of a group");
}
