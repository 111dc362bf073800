/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator from a group: one meeting, with the first member as its host. */
#include "sessions/create/create.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/comm_info.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "sessions/create/parts.h"

/* What the host tells: this, then all cards. */
struct news {
    uint64_t home;
    uint32_t serial, members;
};

/* --- parts ----------------------------------------------------------------------------------------------------- */

/* Doors are found by rank in this job. */
static int from_group_check_job(const struct pl_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (PL_PROC_JOB(pl_group_proc(group, i)) != 0)
            return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                           "rank %d of the group is of another job, where only processes of one job can meet: "
                           "MPI_Comm_create_group makes a communicator from one that has them",
                           i);
    return MPI_SUCCESS;
}

static struct pl_key_group from_group_describe(const struct pl_group *group, int leader)
{
    return (struct pl_key_group){
        .size = group->size,
        .leader = leader,
        .first = group->list ? 0 : PL_PROC_RANK(group->first),
        .stride = group->list ? 0 : (int32_t)group->stride,
    };
}

static size_t list_size(const struct pl_group *group)
{
    return group && group->list ? (size_t)group->size * sizeof(int32_t) : 0;
}

static unsigned char *put_list(const struct pl_group *group, unsigned char *at)
{
    for (size_t i = 0; i < list_size(group) / sizeof(int32_t); i++, at += sizeof(int32_t)) {
        int32_t rank = PL_PROC_RANK(group->list[i]);
        memcpy(at, &rank, sizeof rank);
    }
    return at;
}

int pl_key_create(enum pl_key_kind kind, const char *tag, const struct pl_group *a, int a_leader,
                  const struct pl_group *b, int b_leader, void **key, uint32_t *length)
{
    int rc = from_group_check_job(a);
    if (rc == MPI_SUCCESS && b)
        rc = from_group_check_job(b);
    if (rc)
        return rc;
    struct pl_key head = { .kind = kind,
                           .tag_length = (uint32_t)strlen(tag),
                           .groups = { from_group_describe(a, a_leader) } };
    size_t bytes = sizeof head + head.tag_length + list_size(a) + list_size(b);
    unsigned char *made = bytes < UINT32_MAX ? pl_malloc(bytes) : NULL;
    if (!made)
        return pl_fail_memory("the members of a group");
    if (b)
        head.groups[1] = from_group_describe(b, b_leader);
    memcpy(made, &head, sizeof head);
    memcpy(made + sizeof head, tag, head.tag_length);
    put_list(b, put_list(a, made + sizeof head + head.tag_length));
    *key = made;
    *length = (uint32_t)bytes;
    return MPI_SUCCESS;
}

/* The instance of a group, if it is still open. */
static struct pl_instance *instance_of(const struct pl_group *group)
{
    struct pl_instance *instance = (struct pl_instance *)group->instance;
    if (instance && instance == pl_world)
        return instance->serial == group->instance_serial ? instance : NULL;
    instance = pl_object_find(PL_SESSION, instance);
    return instance && instance->open && instance->serial == group->instance_serial ? instance : NULL;
}

struct pl_instance *pl_group_instance(const struct pl_group *group, const char *name)
{
    struct pl_instance *instance = instance_of(group);
    if (!instance)
        pl_fail(MPI_ERR_GROUP, "the session of %s is finalized", name);
    else if (group->rank == MPI_UNDEFINED)
        pl_fail(MPI_ERR_GROUP, "this process is not a member of %s, which has %d", name, group->size);
    return instance && group->rank != MPI_UNDEFINED ? instance : NULL;
}

int pl_patience(struct pl_info *info, long *milliseconds)
{
    *milliseconds = pl_config_long("meet_timeout") * 1000;
    return pl_info_seconds(info, "plenum_meet_timeout", milliseconds);
}

int pl_av_collect(struct pl_av *av, const struct pl_exchange *exchange)
{
    size_t length, bytes = 0;
    for (uint32_t i = 0; i < exchange->members; i++) {
        pl_exchange_payload(exchange, i, &length);
        bytes += length;
        if (length > PL_CARD_MAX)
            return pl_fail(MPI_ERR_OTHER, "the address of rank %d of the job has %zu bytes",
                           PL_PROC_RANK(pl_group_proc(exchange->group, (int)i)), length);
    }
    int rc = pl_av_open(av, bytes);
    for (uint32_t i = 0; rc == MPI_SUCCESS && i < exchange->members; i++) {
        const void *card = pl_exchange_payload(exchange, i, &length);
        pl_av_add(av, (int)i, card, length);
    }
    return rc;
}

int pl_comm_dress(struct pl_comm **comm, struct pl_info *info, struct pl_errhandler *errhandler)
{
    int rc = pl_comm_info_set(*comm, info);
    if (rc) {
        pl_comm_free(*comm);
        *comm = NULL;
    } else if (errhandler) {
        pl_object_release((*comm)->errhandler);
        (*comm)->errhandler = pl_object_retain(errhandler);
    }
    return rc;
}

/* A process alone meets nobody. */
static int be_alone(struct pl_engine *engine, struct pl_av *av, struct pl_comm_id *id)
{
    unsigned char card[PL_CARD_MAX];
    size_t length = pl_engine_card(engine, card);
    int rc = pl_av_open(av, length);
    if (rc == MPI_SUCCESS)
        pl_av_add(av, 0, card, length);
    *id = pl_comm_new_id();
    return rc;
}

/* --- the meeting ----------------------------------------------------------------------------------------------- */

static int from_group_tell(struct pl_exchange *exchange, struct pl_av *av, struct pl_comm_id *id)
{
    int rc = pl_av_collect(av, exchange);
    if (rc)
        return rc;
    *id = pl_comm_new_id();
    struct news news = { id->home, id->serial, exchange->members };
    size_t size = sizeof news + pl_av_size(av);
    unsigned char *message = pl_malloc(size);
    if (!message)
        return pl_fail_memory("the answer to a group's members");
    memcpy(message, &news, sizeof news);
    pl_av_write(av, message + sizeof news);
    rc = pl_exchange_answer(exchange, message, size);
    free(message);
    return rc;
}

static int from_group_hear(struct pl_exchange *exchange, struct pl_av *av, struct pl_comm_id *id)
{
    const void *data;
    size_t length;
    struct news news;
    int rc = pl_exchange_join(exchange, &data, &length);
    if (rc)
        return rc;
    const unsigned char *at = data, *end = at + length;
    if (length >= sizeof news) {
        memcpy(&news, data, sizeof news);
        at += sizeof news;
        *id = (struct pl_comm_id){ news.home, news.serial };
        if (news.members == exchange->members)
            rc = pl_av_read(av, &at, end);
        if (rc || at == end)
            return rc;
    }
    return pl_fail(MPI_ERR_OTHER, "the answer of the group's first member is damaged");
}

static int from_group_meet(struct pl_group *group, const char *tag, long patience, struct pl_engine *engine,
                           struct pl_av *av, struct pl_comm_id *id)
{
    unsigned char card[PL_CARD_MAX];
    struct pl_exchange exchange = {
        .group = group,
        .members = (uint32_t)group->size,
        .me = (uint32_t)group->rank,
        .payload = card,
        .payload_length = pl_engine_card(engine, card),
        .tag = tag,
        .who = "the group's processes",
        .patience = patience,
    };
    void *key = NULL;
    int rc = pl_key_create(PL_KEY_GROUP, tag, group, 0, NULL, 0, &key, &exchange.key_length);
    if (rc)
        return rc;
    exchange.key = key;
    rc = pl_exchange_open(&exchange);
    if (rc == MPI_SUCCESS && group->rank == 0) {
        rc = pl_exchange_gather(&exchange);
        if (rc == MPI_SUCCESS)
            rc = from_group_tell(&exchange, av, id);
    } else if (rc == MPI_SUCCESS) {
        rc = from_group_hear(&exchange, av, id);
    }
    if (rc && exchange.listener)
        pl_exchange_refuse(&exchange, rc);
    pl_exchange_close(&exchange);
    free(key);
    return rc;
}

int pl_comm_from_group(struct pl_group *group, const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                       struct pl_comm **comm)
{
    struct pl_comm_id id;
    long patience;
    *comm = NULL;
    if (group->size == 0)
        return MPI_SUCCESS;
    struct pl_instance *instance = pl_group_instance(group, "group");
    if (!instance)
        return MPI_ERR_GROUP;
    int rc = pl_patience(info, &patience);
    if (rc)
        return rc;
    struct pl_av *av = pl_av_create(group);
    if (!av)
        return MPI_ERR_NO_MEM;
    if (group->size > 1)
        rc = from_group_meet(group, tag, patience, &instance->engine, av, &id);
    else
        rc = be_alone(&instance->engine, av, &id);
    if (rc == MPI_SUCCESS)
        rc = pl_comm_create_with_av(instance, NULL, av, group, NULL, id, comm);
    if (rc) {
        pl_av_release(av);
        return rc;
    }
    return pl_comm_dress(comm, info, errhandler);
}
