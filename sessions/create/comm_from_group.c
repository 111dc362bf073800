/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator from a group: one exchange, coordinated by the first member. Its answer:
 *     u64 home and u32 serial of the communicator's id; u32 members; the address vector
 */
#include "sessions/create/comm_from_group.h"

#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/address_vector.h"
#include "core/engine/comm.h"
#include "core/engine/comm_info.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "sessions/create/exchange.h"
#include "sessions/create/key.h"

/* --- shared with intercomm_from_groups.c ------------------------------------------------------------------------ */

static struct pl_instance *create_open_instance(const struct pl_group *group)
{
    struct pl_instance *instance = (struct pl_instance *)group->instance;
    if (instance && instance == pl_world)
        return instance->serial == group->instance_serial ? instance : NULL;
    instance = pl_object_find(PL_SESSION, instance);
    return instance && instance->open && instance->serial == group->instance_serial ? instance : NULL;
}

struct pl_instance *pl_create_instance(const struct pl_group *group, const char *name)
{
    struct pl_instance *instance = create_open_instance(group);
    if (!instance)
        pl_fail(MPI_ERR_GROUP, "the session of %s is finalized", name);
    else if (group->rank == MPI_UNDEFINED)
        pl_fail(MPI_ERR_GROUP, "this process is not a member of %s, which has %d", name, group->size);
    return instance && group->rank != MPI_UNDEFINED ? instance : NULL;
}

int pl_create_reserve(const struct pl_group *group)
{
    enum { AT_LEAST = 65536, EACH = 1024 }; /* bytes: a member's card is in the answer, and in the address vector */
    return pl_memory_reserve(AT_LEAST + (size_t)group->size * EACH)
               ? MPI_SUCCESS
               : pl_fail_memory("a communicator that other processes create, too");
}

int pl_create_timeout(struct pl_info *info, long *milliseconds)
{
    *milliseconds = pl_config_long("meet_timeout") * 1000;
    return pl_info_seconds(info, "plenum_meet_timeout", milliseconds);
}

int pl_create_addresses(struct pl_av *av, const struct pl_exchange *exchange)
{
    size_t length, bytes = 0;
    for (uint32_t i = 0; i < exchange->size; i++) {
        pl_exchange_payload(exchange, i, &length);
        bytes += length;
        if (length > PL_CARD_MAX)
            return pl_fail(MPI_ERR_OTHER, "the address of rank %d of the job has %zu bytes, at most %u are allowed",
                           pl_exchange_job_rank(exchange, i), length, PL_CARD_MAX);
    }
    int rc = pl_av_open(av, bytes);
    for (uint32_t i = 0; rc == MPI_SUCCESS && i < exchange->size; i++) {
        const void *card = pl_exchange_payload(exchange, i, &length);
        pl_av_add(av, (int)i, card, length);
    }
    return rc;
}

int pl_create_configure(struct pl_comm **comm, struct pl_info *info, struct pl_errhandler *errhandler)
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

bool pl_create_must_repeat(struct pl_engine *engine, const struct pl_av *members, const struct pl_av *more)
{
    if (!pl_engine_must_widen(members, more))
        return false;
    pl_engine_enter(engine);
    pl_engine_meet_lacking(engine);
    pl_engine_leave(engine);
    return true;
}

/* --- from one group -------------------------------------------------------------------------------------------- */

/* A group of one needs no exchange. */
static int create_alone(struct pl_engine *engine, struct pl_av *av, struct pl_comm_id *id)
{
    unsigned char card[PL_CARD_MAX];
    size_t length = pl_engine_card(engine, card);
    int rc = pl_av_open(av, length);
    if (rc == MPI_SUCCESS)
        pl_av_add(av, 0, card, length);
    *id = pl_comm_new_id();
    return rc;
}

static int create_coordinate(struct pl_exchange *exchange, struct pl_av *av, struct pl_comm_id *id)
{
    int rc = pl_exchange_gather(exchange);
    if (rc == MPI_SUCCESS)
        rc = pl_create_addresses(av, exchange);
    if (rc)
        return rc;
    struct pl_writer message = pl_writer_growing(NULL, 0);
    *id = pl_comm_new_id();
    pl_write_u64(&message, id->home);
    pl_write_u32(&message, id->serial);
    pl_write_u32(&message, exchange->size);
    unsigned char *addresses = pl_write_space(&message, pl_av_size(av));
    if (addresses)
        pl_av_write(av, addresses);
    rc = message.failed ? pl_fail_memory("the answer to a group's members")
                        : pl_exchange_answer(exchange, message.data, message.length);
    pl_writer_fini(&message);
    return rc;
}

static int create_participate(struct pl_exchange *exchange, struct pl_av *av, struct pl_comm_id *id)
{
    const void *data;
    size_t length;
    int rc = pl_exchange_join(exchange, &data, &length);
    if (rc)
        return rc;
    struct pl_reader from = pl_reader(data, length);
    id->home = pl_read_u64(&from);
    id->serial = pl_read_u32(&from);
    pl_reader_expect(&from, pl_read_u32(&from) == exchange->size);
    if (!from.failed)
        rc = pl_av_read(av, &from.at, from.end);
    if (rc == MPI_SUCCESS && !pl_reader_done(&from))
        rc = pl_fail(MPI_ERR_OTHER, "the answer of the group's first member is damaged");
    return rc;
}

/* `failed`: the error of this process so far, which the others are told. */
static int create_exchange(struct pl_group *group, const char *tag, long timeout, struct pl_engine *engine, int failed,
                           struct pl_av *av, struct pl_comm_id *id)
{
    unsigned char card[PL_CARD_MAX];
    struct pl_exchange exchange = {
        .group = group,
        .size = (uint32_t)group->size,
        .rank = (uint32_t)group->rank,
        .payload = card,
        .payload_length = pl_engine_card(engine, card),
        .tag = tag,
        .members = "processes of the group",
        .timeout = timeout,
    };
    if (failed)
        pl_exchange_decline(&exchange, failed);
    void *key = NULL;
    int rc = pl_exchange_key_create(PL_EXCHANGE_KEY_GROUP, tag, group, 0, NULL, 0, &key, &exchange.key_length);
    if (rc)
        return rc;
    exchange.key = key;
    rc = pl_exchange_open(&exchange);
    if (rc == MPI_SUCCESS)
        rc = pl_exchange_is_coordinator(&exchange) ? create_coordinate(&exchange, av, id)
                                                   : create_participate(&exchange, av, id);
    if (rc && exchange.listener)
        pl_exchange_refuse(&exchange, rc);
    pl_exchange_close(&exchange);
    free(key);
    return rc;
}

/* Where a member turns out to lack shared memory, all add the network, and meet once more with their new cards. */
static int create_meet(struct pl_group *group, const char *tag, long timeout, struct pl_engine *engine, int failed,
                       struct pl_av **av, struct pl_comm_id *id)
{
    for (int turn = 0;; turn++) {
        int rc = failed;
        *av = rc ? NULL : pl_av_create(group);
        if (!rc && !*av)
            rc = MPI_ERR_NO_MEM;
        if (group->size > 1)
            rc = create_exchange(group, tag, timeout, engine, rc, *av, id);
        else if (!rc)
            rc = create_alone(engine, *av, id);
        if (rc == MPI_SUCCESS && (turn > 0 || !pl_create_must_repeat(engine, *av, NULL)))
            return MPI_SUCCESS;
        pl_av_release(*av);
        if (rc)
            return rc;
    }
}

int pl_comm_from_group(struct pl_group *group, const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                       struct pl_comm **comm)
{
    struct pl_comm_id id;
    long timeout;
    *comm = NULL;
    if (group->size == 0)
        return MPI_SUCCESS;
    struct pl_instance *instance = pl_create_instance(group, "group");
    if (!instance)
        return MPI_ERR_GROUP;
    int rc = pl_create_timeout(info, &timeout);
    if (rc)
        return rc;
    struct pl_av *av;
    rc = create_meet(group, tag, timeout, &instance->engine, pl_create_reserve(group), &av, &id);
    if (rc == MPI_SUCCESS) {
        rc = pl_comm_create_with_av(instance, NULL, av, group, NULL, id, comm);
        if (rc)
            pl_av_release(av);
        else
            rc = pl_create_configure(comm, info, errhandler);
    }
    pl_memory_free_reserve();
    return rc;
}
