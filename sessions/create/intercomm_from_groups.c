/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An intercommunicator from two groups, in two exchanges. Each group exchanges with its leader as the coordinator;
 * then the leaders exchange, and each answers its own group. Only a leader knows both groups. The leader of the lower
 * rank in the job coordinates the other and chooses the id, and its group counts as the first.
 *
 * Formats:
 *     between leaders   u64 home and u32 serial of the id; u32 members of the group; their address vector
 *     to a group        u32 members of the remote group, if 0 nothing follows; u64 home and u32 serial of the id;
 *                       the same of the local communicator's id; u8 1 if the local group is the first; i32 rank in
 *                       the job of each remote member; the address vectors of the local and of the remote group
 */
#include "sessions/create/intercomm_from_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/intercomm.h"
#include "core/engine/address_vector.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/job/process.h"
#include "core/object/group.h"
#include "sessions/create/comm_from_group.h"
#include "sessions/create/exchange.h"
#include "sessions/create/key.h"

static void intercomm_write_id(struct pl_writer *to, struct pl_comm_id id)
{
    pl_write_u64(to, id.home);
    pl_write_u32(to, id.serial);
}

static struct pl_comm_id intercomm_read_id(struct pl_reader *from)
{
    struct pl_comm_id id = { .home = pl_read_u64(from) };
    id.serial = pl_read_u32(from);
    return id;
}

static void intercomm_write_av(struct pl_writer *to, const struct pl_av *av)
{
    unsigned char *space = pl_write_space(to, pl_av_size(av));
    if (space)
        pl_av_write(av, space);
}

/* --- the leader ------------------------------------------------------------------------------------------------ */

static int intercomm_check_groups(const struct pl_group *local, const struct pl_group *remote, int remote_leader)
{
    int rc = pl_group_check_same(local, remote);
    if (rc == MPI_SUCCESS && (remote_leader < 0 || remote_leader >= remote->size))
        rc = pl_fail(MPI_ERR_RANK, "remote_leader is %d, allowed are 0 to %d", remote_leader, remote->size - 1);
    for (int i = 0; rc == MPI_SUCCESS && i < remote->size; i++)
        if (pl_group_find(local, pl_group_proc(remote, i)) != MPI_UNDEFINED)
            rc = pl_fail(MPI_ERR_GROUP, "the groups are not disjoint: rank %d of remote_group is also in local_group",
                         i);
    return rc;
}

static int intercomm_read_leader(struct pl_intercomm_parts *parts, const void *data, size_t length)
{
    struct pl_reader from = pl_reader(data, length);
    struct pl_comm_id id = intercomm_read_id(&from);
    int rc = MPI_SUCCESS;
    pl_reader_expect(&from, pl_read_u32(&from) == (uint32_t)parts->remote->size);
    if (!from.failed)
        rc = pl_av_read(parts->remote_av, &from.at, from.end);
    if (rc == MPI_SUCCESS && !pl_reader_done(&from))
        rc = pl_fail(MPI_ERR_OTHER, "the remote leader's message is damaged");
    if (rc == MPI_SUCCESS && !parts->first)
        parts->id = id;
    return rc;
}

/* Brings the payload to the other leader, and gets the other leader's. */
static int intercomm_swap_payloads(struct pl_exchange *leaders, const void **theirs, size_t *length)
{
    if (!pl_exchange_is_coordinator(leaders))
        return pl_exchange_join(leaders, theirs, length);
    int rc = pl_exchange_gather(leaders);
    if (rc)
        return rc;
    *theirs = pl_exchange_payload(leaders, 1, length);
    return pl_exchange_answer(leaders, leaders->payload, leaders->payload_length);
}

/* `failed`: the error of this group so far, which the other leader is told. */
static int intercomm_exchange_sides(struct pl_exchange *leaders, int failed, struct pl_intercomm_parts *parts)
{
    const void *theirs;
    size_t length;
    struct pl_writer mine = pl_writer_growing(NULL, 0);
    intercomm_write_id(&mine, parts->id);
    pl_write_u32(&mine, (uint32_t)parts->local->size);
    if (!failed)
        intercomm_write_av(&mine, parts->local_av);
    if (!failed && mine.failed)
        failed = pl_fail_memory("the addresses of a group");
    leaders->payload = mine.data;
    leaders->payload_length = mine.length;
    if (failed)
        pl_exchange_decline(leaders, failed);
    int rc = intercomm_swap_payloads(leaders, &theirs, &length);
    if (rc == MPI_SUCCESS)
        rc = intercomm_read_leader(parts, theirs, length);
    leaders->payload = NULL;
    pl_writer_fini(&mine);
    return rc;
}

static int intercomm_gather_side(struct pl_exchange *side, struct pl_intercomm_parts *parts)
{
    int rc = pl_exchange_gather(side);
    return rc ? rc : pl_create_addresses(parts->local_av, side);
}

/* First the exchange of the leader's own group, then that of the leaders. Both also watch the remote group. A failure
 * in the group is told to the other leader, which is not waited for where a member is missing. */
static int intercomm_exchange_leaders(struct pl_exchange *side, struct pl_intercomm_parts *parts, int remote_leader)
{
    uint64_t own = pl_process_self(), other = pl_group_proc(parts->remote, remote_leader);
    bool first = own < other;
    struct pl_group two = { .size = 2, .first = first ? own : other };
    two.stride = (int64_t)((first ? other : own) - two.first);
    struct pl_exchange leaders = {
        .group = &two,
        .size = 2,
        .rank = !first,
        .tag = side->tag,
        .members = "leaders",
        .timeout = side->timeout,
        .outer = side,
        .watch = parts->remote,
    };
    const struct pl_group *a = first ? parts->local : parts->remote, *b = first ? parts->remote : parts->local;
    int a_leader = first ? (int)side->rank : remote_leader, b_leader = first ? remote_leader : (int)side->rank;
    void *key = NULL;
    int rc =
        pl_exchange_key_create(PL_EXCHANGE_KEY_LEADERS, side->tag, a, a_leader, b, b_leader, &key, &leaders.key_length);
    if (rc)
        return rc;
    leaders.key = key;
    side->watch = parts->remote;
    parts->first = first;
    char why[PL_DETAIL_MAX];
    int gathered = intercomm_gather_side(side, parts);
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    rc = pl_exchange_open(&leaders);
    if (rc == MPI_SUCCESS && gathered)
        pl_fail(gathered, "%s", why);
    if (rc == MPI_SUCCESS)
        rc = gathered && side->joined < side->size ? gathered : intercomm_exchange_sides(&leaders, gathered, parts);
    if (rc && leaders.listener)
        pl_exchange_refuse(&leaders, rc);
    pl_exchange_close(&leaders);
    side->watch = NULL;
    free(key);
    return rc;
}

static int intercomm_answer_side(struct pl_exchange *side, const struct pl_intercomm_parts *parts)
{
    struct pl_writer message = pl_writer_growing(NULL, 0);
    pl_write_u32(&message, (uint32_t)parts->remote->size);
    intercomm_write_id(&message, parts->id);
    intercomm_write_id(&message, parts->local_id);
    pl_write_u8(&message, parts->first);
    for (int i = 0; i < parts->remote->size; i++)
        pl_write_i32(&message, PL_PROC_RANK(pl_group_proc(parts->remote, i)));
    intercomm_write_av(&message, parts->local_av);
    intercomm_write_av(&message, parts->remote_av);
    int rc = message.failed ? pl_fail_memory("the answer to a group's members")
                            : pl_exchange_answer(side, message.data, message.length);
    pl_writer_fini(&message);
    return rc;
}

/* Only the leader knows that the remote group is empty: the other members join, and are told. */
static int intercomm_answer_empty(struct pl_exchange *side)
{
    static const unsigned char no_members[sizeof(uint32_t)];
    int rc = pl_exchange_gather(side);
    return rc ? rc : pl_exchange_answer(side, no_members, sizeof no_members);
}

static int intercomm_lead(struct pl_exchange *side, struct pl_intercomm_parts *parts, struct pl_group *remote,
                          int remote_leader)
{
    if (remote->size == 0)
        return intercomm_answer_empty(side);
    int rc = intercomm_check_groups(parts->local, remote, remote_leader);
    if (rc) {
        pl_exchange_decline(side, rc);
        return pl_exchange_gather(side);
    }
    parts->remote = pl_object_retain(remote);
    parts->remote_av = pl_av_create(remote);
    if (!parts->remote_av && !side->declined)
        pl_exchange_decline(side, MPI_ERR_NO_MEM);
    parts->id = pl_comm_new_id();
    parts->local_id = pl_comm_new_id();
    rc = intercomm_exchange_leaders(side, parts, remote_leader);
    return rc ? rc : intercomm_answer_side(side, parts);
}

/* --- the other members ----------------------------------------------------------------------------------------- */

static int intercomm_read_remote(struct pl_intercomm_parts *parts, struct pl_reader *from, size_t count)
{
    pl_reader_expect(from, count <= pl_reader_left(from) / sizeof(int32_t));
    if (from->failed)
        return MPI_SUCCESS; /* the caller reports it */
    uint64_t *procs = pl_malloc(count * sizeof *procs);
    if (!procs)
        return pl_fail_memory("the remote group");
    for (size_t i = 0; i < count; i++) {
        int32_t rank = pl_read_i32(from);
        pl_reader_expect(from, rank >= 0);
        procs[i] = PL_PROC(0, from->failed ? 0 : rank);
    }
    struct pl_group *group = pl_instance_group(parts->local->instance, (int)count, procs);
    free(procs);
    if (!group)
        return MPI_ERR_NO_MEM;
    parts->remote = pl_object_retain(group);
    pl_handle_drop(group);
    parts->remote_av = pl_av_create(parts->remote);
    return parts->remote_av ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int intercomm_read_answer(struct pl_intercomm_parts *parts, const void *data, size_t length)
{
    struct pl_reader from = pl_reader(data, length);
    uint32_t count = pl_read_u32(&from);
    if (!from.failed && count == 0)
        return MPI_SUCCESS;
    parts->id = intercomm_read_id(&from);
    parts->local_id = intercomm_read_id(&from);
    parts->first = pl_read_u8(&from) != 0;
    int rc = intercomm_read_remote(parts, &from, count);
    if (rc == MPI_SUCCESS && !from.failed)
        rc = pl_av_read(parts->local_av, &from.at, from.end);
    if (rc == MPI_SUCCESS && !from.failed)
        rc = pl_av_read(parts->remote_av, &from.at, from.end);
    if (rc == MPI_SUCCESS && !pl_reader_done(&from))
        rc = pl_fail(MPI_ERR_OTHER, "the answer of the group's leader is damaged");
    return rc;
}

static int intercomm_participate(struct pl_exchange *side, struct pl_intercomm_parts *parts)
{
    const void *data;
    size_t length;
    int rc = pl_exchange_join(side, &data, &length);
    return rc ? rc : intercomm_read_answer(parts, data, length);
}

/* --- the communicator ------------------------------------------------------------------------------------------ */

/* `failed`: the error of this process so far, which the others are told. */
static int intercomm_exchange_group(struct pl_intercomm_parts *parts, int local_leader, struct pl_group *remote,
                                    int remote_leader, const char *tag, long timeout, struct pl_engine *engine,
                                    int failed)
{
    unsigned char card[PL_CARD_MAX];
    struct pl_group *local = parts->local;
    struct pl_exchange side = {
        .group = local,
        .size = (uint32_t)local->size,
        .rank = (uint32_t)local->rank,
        .coordinator = (uint32_t)local_leader,
        .payload = card,
        .payload_length = pl_engine_card(engine, card),
        .tag = tag,
        .members = "processes of the local group",
        .timeout = timeout,
    };
    if (failed)
        pl_exchange_decline(&side, failed);
    void *key = NULL;
    int rc = pl_exchange_key_create(PL_EXCHANGE_KEY_SIDE, tag, local, local_leader, NULL, 0, &key, &side.key_length);
    if (rc)
        return rc;
    side.key = key;
    rc = pl_exchange_open(&side);
    if (rc == MPI_SUCCESS)
        rc = pl_exchange_is_coordinator(&side) ? intercomm_lead(&side, parts, remote, remote_leader)
                                               : intercomm_participate(&side, parts);
    if (rc && side.listener)
        pl_exchange_refuse(&side, rc);
    pl_exchange_close(&side);
    free(key);
    return rc;
}

static void intercomm_forget_parts(struct pl_intercomm_parts *parts)
{
    pl_av_release(parts->local_av);
    pl_av_release(parts->remote_av);
    pl_object_release(parts->remote);
    parts->local_av = parts->remote_av = NULL;
    parts->remote = NULL;
}

int pl_intercomm_from_groups(struct pl_group *local, int local_leader, struct pl_group *remote, int remote_leader,
                             const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                             struct pl_comm **comm)
{
    struct pl_intercomm_parts parts = { .local = local };
    long timeout;
    *comm = NULL;
    if (local->size == 0)
        return MPI_SUCCESS;
    struct pl_instance *instance = pl_create_instance(local, "local_group");
    if (!instance)
        return MPI_ERR_GROUP;
    if (local_leader < 0 || local_leader >= local->size)
        return pl_fail(MPI_ERR_RANK, "local_leader is %d, allowed are 0 to %d", local_leader, local->size - 1);
    int rc = pl_create_timeout(info, &timeout);
    if (rc)
        return rc;
    struct pl_engine *engine = &instance->engine;
    int failed = pl_create_reserve(local);
    for (int turn = 0; turn == 0 || (turn == 1 && pl_create_must_repeat(engine, parts.local_av, parts.remote_av));
         turn++) {
        intercomm_forget_parts(&parts);
        parts.local_av = failed ? NULL : pl_av_create(local);
        if (!failed && !parts.local_av)
            failed = MPI_ERR_NO_MEM;
        rc = intercomm_exchange_group(&parts, local_leader, remote, remote_leader, tag, timeout, engine, failed);
        if (rc || !parts.remote)
            break;
    }
    if (rc == MPI_SUCCESS && parts.remote)
        rc = pl_intercomm_assemble(instance, &parts, comm);
    if (rc == MPI_SUCCESS && *comm)
        rc = pl_create_configure(comm, info, errhandler);
    pl_memory_free_reserve();
    intercomm_forget_parts(&parts);
    return rc;
}
