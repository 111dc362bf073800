/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serialized groups. See group_wire.h.
 *
 *     count of jobs;     for each its key (u64) and its name (text)
 *     count of members;  for each the index of its job, its rank in it (LEB128), and its card (blob)
 */
#include "core/comm/group_wire.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/engine/address_vector.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

enum { JOB_LEAST = 9, MEMBER_LEAST = 3 /* bytes */ };

struct card {
    uint16_t length;
    unsigned char data[PL_CARD_MAX];
};

/* The jobs of a group's members. */
struct jobs {
    int *number; /* [count] */
    size_t count;
};

/* --- writing ------------------------------------------------------------------------------------------------------ */

static size_t group_wire_job_index(const struct jobs *jobs, int number)
{
    size_t i = 0;
    while (i < jobs->count && jobs->number[i] != number)
        i++;
    return i;
}

static int group_wire_find_jobs(const struct pl_group *group, struct jobs *jobs)
{
    *jobs = (struct jobs){ .number = pl_malloc((size_t)group->size * sizeof *jobs->number) };
    if (!jobs->number)
        return pl_fail_memory("the members of a group");
    for (int i = 0; i < group->size; i++) {
        int number = PL_PROC_JOB(pl_group_proc(group, i));
        if (group_wire_job_index(jobs, number) == jobs->count)
            jobs->number[jobs->count++] = number;
    }
    return MPI_SUCCESS;
}

/* `cards` NULL: all cards are missing. */
static int group_wire_write(const struct pl_group *group, const struct card *cards, unsigned char **wire,
                            size_t *length)
{
    struct pl_writer to = pl_writer_growing(NULL, 0);
    struct jobs jobs;
    int rc = group_wire_find_jobs(group, &jobs);
    if (rc)
        return rc;
    pl_write_leb128(&to, jobs.count);
    for (size_t i = 0; i < jobs.count; i++) {
        uint64_t key;
        const char *name = pl_jobs_name(jobs.number[i], &key);
        pl_write_u64(&to, key);
        pl_write_text(&to, name);
    }
    pl_write_leb128(&to, (uint64_t)group->size);
    for (int i = 0; i < group->size; i++) {
        uint64_t proc = pl_group_proc(group, i);
        pl_write_leb128(&to, group_wire_job_index(&jobs, PL_PROC_JOB(proc)));
        pl_write_leb128(&to, (uint64_t)PL_PROC_RANK(proc));
        pl_write_blob(&to, cards ? cards[i].data : NULL, cards ? cards[i].length : 0);
    }
    free(jobs.number);
    *wire = pl_writer_take(&to, length);
    return *wire ? MPI_SUCCESS : pl_fail_memory("the members of a group");
}

int pl_group_wire_write(const struct pl_comm *comm, unsigned char **wire, size_t *length)
{
    return group_wire_write(comm->group, NULL, wire, length);
}

int pl_group_wire_gather(struct pl_comm *comm, int root, unsigned char **wire, size_t *length)
{
    struct card own = { .length = 0 }, *cards = NULL;
    *wire = NULL;
    own.length = (uint16_t)pl_engine_card(&comm->instance->engine, own.data);
    if (comm->rank == root && !(cards = pl_malloc((size_t)comm->size * sizeof *cards)))
        return pl_fail_memory("the addresses of a group");
    int rc = pl_gather(comm, &own, sizeof own, PL_TYPE_BYTE, cards, sizeof own, PL_TYPE_BYTE, root);
    if (rc == MPI_SUCCESS && comm->rank == root)
        rc = group_wire_write(comm->group, cards, wire, length);
    free(cards);
    return rc;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

struct job {
    uint64_t key;
    const char *name; /* borrowed */
    size_t length;
};

struct member {
    uint64_t job, rank;
    const unsigned char *card; /* borrowed; NULL: the reader has failed */
    size_t length;
};

static struct job group_wire_read_job(struct pl_reader *from)
{
    struct job job = { .key = pl_read_u64(from) };
    job.name = pl_read_text(from, PL_JOB_NAME_MAX, &job.length);
    return job;
}

static struct member group_wire_read_member(struct pl_reader *from)
{
    struct member member;
    member.job = pl_read_leb128(from);
    member.rank = pl_read_leb128(from);
    member.card = pl_read_blob(from, PL_CARD_MAX, &member.length);
    return member;
}

static int group_wire_damaged(void)
{
    return pl_fail(MPI_ERR_OTHER, "the list of another group's members is damaged");
}

/* The numbers that this process has for the jobs; they are for free(). */
static int group_wire_read_jobs(struct pl_reader *from, struct jobs *jobs)
{
    size_t count = pl_read_count(from, INT32_MAX, JOB_LEAST);
    *jobs = (struct jobs){ .number = pl_malloc((count + 1) * sizeof *jobs->number), .count = count };
    if (!jobs->number)
        return pl_fail_memory("the members of another group");
    for (size_t i = 0; i < count; i++) {
        struct job job = group_wire_read_job(from);
        if (!job.name)
            return group_wire_damaged();
        int rc = pl_jobs_number(job.key, job.name, job.length, &jobs->number[i]);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* The members' numbers, for free(). */
static int group_wire_read_procs(struct pl_reader *from, const struct jobs *jobs, size_t *count, uint64_t **procs)
{
    *count = pl_read_count(from, INT32_MAX, MEMBER_LEAST);
    *procs = pl_malloc((*count + 1) * sizeof **procs);
    if (!*procs)
        return pl_fail_memory("the members of another group");
    for (size_t i = 0; i < *count; i++) {
        struct member member = group_wire_read_member(from);
        if (!member.card || member.job >= jobs->count || member.rank > INT32_MAX)
            return group_wire_damaged();
        int job = jobs->number[member.job], rank = (int)member.rank;
        if (job == 0 && rank >= pl_process.identity.size)
            return group_wire_damaged();
        (*procs)[i] = PL_PROC(job, rank);
    }
    return *count > 0 && pl_reader_done(from) ? MPI_SUCCESS : group_wire_damaged();
}

static int group_wire_read_group(struct pl_instance *instance, struct pl_reader *from, struct pl_reader *members,
                                 struct pl_group **group)
{
    struct jobs jobs;
    uint64_t *procs = NULL;
    size_t count;
    int rc = group_wire_read_jobs(from, &jobs);
    *members = *from;
    if (rc == MPI_SUCCESS)
        rc = group_wire_read_procs(from, &jobs, &count, &procs);
    if (rc == MPI_SUCCESS && !(*group = pl_instance_group(instance, (int)count, procs)))
        rc = MPI_ERR_NO_MEM;
    free(procs);
    free(jobs.number);
    return rc;
}

bool pl_group_wire_is_networked(const unsigned char *wire, size_t length)
{
    struct pl_reader from = pl_reader(wire, length);
    for (size_t left = pl_read_count(&from, INT32_MAX, JOB_LEAST); left > 0; left--)
        group_wire_read_job(&from);
    for (size_t left = pl_read_count(&from, INT32_MAX, MEMBER_LEAST); left > 0; left--) {
        struct member member = group_wire_read_member(&from);
        if (!member.card || !pl_engine_card_has(member.card, member.length, PL_FAR))
            return false;
    }
    return pl_reader_done(&from);
}

/* The cards of members that have been read before. */
static int group_wire_read_av(struct pl_reader from, struct pl_group *group, struct pl_av **av)
{
    struct pl_reader again = from;
    size_t bytes = 0;
    *av = pl_av_create(group);
    if (!*av)
        return MPI_ERR_NO_MEM;
    pl_read_count(&again, INT32_MAX, MEMBER_LEAST);
    for (int i = 0; i < group->size; i++)
        bytes += group_wire_read_member(&again).length;
    int rc = pl_av_open(*av, bytes);
    pl_read_count(&from, INT32_MAX, MEMBER_LEAST);
    for (int i = 0; rc == MPI_SUCCESS && i < group->size; i++) {
        struct member member = group_wire_read_member(&from);
        pl_av_add(*av, i, member.card, member.length);
    }
    if (rc)
        pl_av_release(*av);
    return rc;
}

int pl_group_wire_read(struct pl_instance *instance, const unsigned char *wire, size_t length, struct pl_group **group,
                       struct pl_av **av)
{
    struct pl_reader from = pl_reader(wire, length), members;
    int rc = group_wire_read_group(instance, &from, &members, group);
    if (rc || !av)
        return rc;
    rc = group_wire_read_av(members, *group, av);
    if (rc)
        pl_handle_drop(*group);
    return rc;
}
