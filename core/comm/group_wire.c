/* SPDX-License-Identifier: BSD-3-Clause */
/* See group_wire.h. */
#include "core/comm/group_wire.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/engine/address_vector.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

struct head {
    uint32_t members, jobs;
};
struct job { /* then its name */
    uint64_t key;
    uint32_t length;
};
struct member {   /* then its card */
    uint32_t job; /* its how many-th of the roster's */
    int32_t rank;
    uint32_t length;
};
struct card {
    uint16_t length;
    unsigned char data[PL_CARD_MAX];
};

/* The jobs that a group's members are of. */
struct jobs {
    int *number; /* [count] */
    uint32_t count;
};

static uint32_t group_wire_index_of(const struct jobs *jobs, int number)
{
    uint32_t i = 0;
    while (i < jobs->count && jobs->number[i] != number)
        i++;
    return i;
}

static int find_jobs(const struct pl_group *group, struct jobs *jobs)
{
    *jobs = (struct jobs){ .number = pl_malloc((size_t)group->size * sizeof *jobs->number) };
    if (!jobs->number)
        return pl_fail_memory("the members of a group");
    for (int i = 0; i < group->size; i++) {
        int number = PL_PROC_JOB(pl_group_proc(group, i));
        if (group_wire_index_of(jobs, number) == jobs->count)
            jobs->number[jobs->count++] = number;
    }
    return MPI_SUCCESS;
}

static size_t group_wire_size_of(const struct pl_group *group, const struct jobs *jobs, const struct card *cards)
{
    size_t size = sizeof(struct head);
    uint64_t key;
    for (uint32_t i = 0; i < jobs->count; i++)
        size += sizeof(struct job) + strlen(pl_jobs_name(jobs->number[i], &key));
    for (int i = 0; i < group->size; i++)
        size += sizeof(struct member) + (cards ? cards[i].length : 0);
    return size;
}

static unsigned char *group_wire_put(unsigned char *at, const void *data, size_t bytes)
{
    if (bytes)
        memcpy(at, data, bytes);
    return at + bytes;
}

/* `cards` NULL: without. */
static int write_group(const struct pl_group *group, const struct card *cards, unsigned char **wire, size_t *length)
{
    struct jobs jobs;
    int rc = find_jobs(group, &jobs);
    if (rc)
        return rc;
    *length = group_wire_size_of(group, &jobs, cards);
    unsigned char *at = *wire = pl_malloc(*length);
    if (!at) {
        free(jobs.number);
        return pl_fail_memory("the members of a group");
    }
    at = group_wire_put(at, &(struct head){ (uint32_t)group->size, jobs.count }, sizeof(struct head));
    for (uint32_t i = 0; i < jobs.count; i++) {
        struct job job = { .length = 0 };
        const char *name = pl_jobs_name(jobs.number[i], &job.key);
        job.length = (uint32_t)strlen(name);
        at = group_wire_put(group_wire_put(at, &job, sizeof job), name, job.length);
    }
    for (int i = 0; i < group->size; i++) {
        uint64_t proc = pl_group_proc(group, i);
        struct member member = { group_wire_index_of(&jobs, PL_PROC_JOB(proc)), PL_PROC_RANK(proc),
                                 cards ? cards[i].length : 0 };
        at = group_wire_put(group_wire_put(at, &member, sizeof member), cards ? cards[i].data : NULL, member.length);
    }
    free(jobs.number);
    return MPI_SUCCESS;
}

int pl_group_wire_write(const struct pl_comm *comm, unsigned char **wire, size_t *length)
{
    return write_group(comm->group, NULL, wire, length);
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
        rc = write_group(comm->group, cards, wire, length);
    free(cards);
    return rc;
}

/* --- reading -------------------------------------------------------------------------------------------------- */

struct reader {
    const unsigned char *at, *end;
};

static const unsigned char *group_wire_take(struct reader *from, size_t bytes)
{
    const unsigned char *at = from->at;
    if ((size_t)(from->end - at) < bytes)
        return NULL;
    from->at += bytes;
    return at;
}

static bool group_wire_get(struct reader *from, void *to, size_t bytes)
{
    const unsigned char *at = group_wire_take(from, bytes);
    if (at)
        memcpy(to, at, bytes);
    return at != NULL;
}

static int group_wire_damaged(void)
{
    return pl_fail(MPI_ERR_OTHER, "the list of another group's members is damaged");
}

static int read_jobs(struct reader *from, uint32_t count, int *jobs)
{
    for (uint32_t i = 0; i < count; i++) {
        struct job job;
        const unsigned char *name;
        if (!group_wire_get(from, &job, sizeof job) || job.length > PL_JOB_NAME_MAX ||
            !(name = group_wire_take(from, job.length)) || memchr(name, '\0', job.length))
            return group_wire_damaged();
        int rc = pl_jobs_number(job.key, (const char *)name, job.length, &jobs[i]);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Of each member: who it is; its card is skipped. */
static int read_members(struct reader *from, const struct head *head, const int *jobs, uint64_t *procs)
{
    for (uint32_t i = 0; i < head->members; i++) {
        struct member member;
        if (!group_wire_get(from, &member, sizeof member) || member.job >= head->jobs || member.rank < 0 ||
            member.length > PL_CARD_MAX || !group_wire_take(from, member.length) ||
            (jobs[member.job] == 0 && member.rank >= pl_process.place.size))
            return group_wire_damaged();
        procs[i] = PL_PROC(jobs[member.job], member.rank);
    }
    return from->at == from->end ? MPI_SUCCESS : group_wire_damaged();
}

bool pl_group_wire_is_networked(const unsigned char *wire, size_t length)
{
    struct reader from = { wire, wire + length };
    struct head head;
    struct job job;
    struct member member;
    bool good = group_wire_get(&from, &head, sizeof head);
    for (uint32_t i = 0; good && i < head.jobs; i++)
        good = group_wire_get(&from, &job, sizeof job) && group_wire_take(&from, job.length);
    for (uint32_t i = 0; good && i < head.members; i++) {
        const unsigned char *card =
            group_wire_get(&from, &member, sizeof member) ? group_wire_take(&from, member.length) : NULL;
        good = card && pl_engine_card_has(card, member.length, PL_NETWORK);
    }
    return good;
}

/* Of each member: its card; who it is has been read. */
static int read_av(struct reader from, struct pl_group *group, struct pl_av **av)
{
    struct reader again = from;
    struct member member;
    size_t bytes = 0;
    *av = pl_av_create(group);
    if (!*av)
        return MPI_ERR_NO_MEM;
    for (int i = 0;
         i < group->size && group_wire_get(&again, &member, sizeof member) && group_wire_take(&again, member.length);
         i++)
        bytes += member.length;
    int rc = pl_av_open(*av, bytes);
    for (int i = 0; rc == MPI_SUCCESS && i < group->size && group_wire_get(&from, &member, sizeof member); i++)
        pl_av_add(*av, i, group_wire_take(&from, member.length), member.length);
    if (rc)
        pl_av_release(*av);
    return rc;
}

int pl_group_wire_read(struct pl_instance *instance, const unsigned char *wire, size_t length, struct pl_group **group,
                       struct pl_av **av)
{
    struct reader from = { wire, wire + length };
    struct head head;
    if (!group_wire_get(&from, &head, sizeof head) || head.members == 0 ||
        head.members > length / sizeof(struct member) || head.jobs > length / sizeof(struct job))
        return group_wire_damaged();
    int *jobs = pl_malloc((head.jobs + 1) * sizeof *jobs);
    uint64_t *procs = pl_malloc(head.members * sizeof *procs);
    int rc = jobs && procs ? read_jobs(&from, head.jobs, jobs) : pl_fail_memory("the members of another group");
    struct reader members = from;
    if (rc == MPI_SUCCESS)
        rc = read_members(&from, &head, jobs, procs);
    if (rc == MPI_SUCCESS && !(*group = pl_instance_group(instance, (int)head.members, procs)))
        rc = MPI_ERR_NO_MEM;
    free(procs);
    free(jobs);
    if (rc == MPI_SUCCESS && av) {
        rc = read_av(members, *group, av);
        if (rc)
            pl_handle_drop(*group);
    }
    return rc;
}
