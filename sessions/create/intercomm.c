/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An intercommunicator from two groups. Each group meets with its leader as the host; then the leaders meet, and tell
 * their groups what they have learned. Only a leader knows both groups. The leader of the lower rank in the job is the
 * host of the other, chooses the id, and its group counts as the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/intercomm.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/job/process.h"
#include "core/object/group.h"
#include "sessions/create/create.h"
#include "sessions/create/parts.h"

/* What the leaders bring: this, then the cards of their group. */
struct offer {
    uint64_t home;
    uint32_t serial, members;
};

/* What a leader tells its group: this, the ranks of the remote group, the cards of the local and of the remote one. */
struct news {
    uint64_t home;
    uint64_t local_home;
    uint32_t serial, local_serial;
    uint32_t remote; /* members; 0: the remote group is empty, and nothing follows */
    uint32_t first;
};

/* --- the leader's part ----------------------------------------------------------------------------------------- */

static int check_groups(const struct pl_group *local, const struct pl_group *remote, int remote_leader)
{
    int rc = pl_group_check_same(local, remote);
    if (rc == MPI_SUCCESS && (remote_leader < 0 || remote_leader >= remote->size))
        rc = pl_fail(MPI_ERR_RANK, "remote_leader is %d, allowed are 0 to %d", remote_leader, remote->size - 1);
    for (int i = 0; rc == MPI_SUCCESS && i < remote->size; i++)
        if (pl_group_find(local, pl_group_proc(remote, i)) != MPI_UNDEFINED)
            rc =
                pl_fail(MPI_ERR_GROUP, "the groups are not disjoint: rank %d of remote_group is in local_group too", i);
    return rc;
}

static int write_offer(const struct pl_intercomm_parts *parts, unsigned char **offer, size_t *length)
{
    struct offer head = { parts->id.home, parts->id.serial, (uint32_t)parts->local->size };
    *length = sizeof head + pl_av_size(parts->local_av);
    *offer = pl_malloc(*length);
    if (!*offer)
        return pl_fail_memory("the addresses of a group");
    memcpy(*offer, &head, sizeof head);
    pl_av_write(parts->local_av, *offer + sizeof head);
    return MPI_SUCCESS;
}

static int read_offer(struct pl_intercomm_parts *parts, const unsigned char *data, size_t length)
{
    struct offer head = { .members = 0 };
    const unsigned char *at = data + sizeof head, *end = data + length;
    int rc = MPI_SUCCESS;
    if (length >= sizeof head)
        memcpy(&head, data, sizeof head);
    if (length >= sizeof head && head.members == (uint32_t)parts->remote->size)
        rc = pl_av_read(parts->remote_av, &at, end);
    if (rc)
        return rc;
    if (at != end || !parts->remote_av->begin)
        return pl_fail(MPI_ERR_OTHER, "what the remote leader says is damaged");
    if (!parts->first)
        parts->id = (struct pl_comm_id){ head.home, head.serial };
    return MPI_SUCCESS;
}

/* Brings the own group's offer, and takes the other's. */
static int from_groups_exchange(struct pl_exchange *leaders, struct pl_intercomm_parts *parts)
{
    unsigned char *offer;
    const void *theirs;
    size_t length;
    int rc = write_offer(parts, &offer, &leaders->payload_length);
    if (rc)
        return rc;
    leaders->payload = offer;
    if (leaders->me != leaders->coordinator) {
        rc = pl_exchange_join(leaders, &theirs, &length);
    } else {
        rc = pl_exchange_gather(leaders);
        if (rc == MPI_SUCCESS)
            theirs = pl_exchange_payload(leaders, 1, &length);
        if (rc == MPI_SUCCESS)
            rc = pl_exchange_answer(leaders, offer, leaders->payload_length);
    }
    if (rc == MPI_SUCCESS)
        rc = read_offer(parts, theirs, length);
    leaders->payload = NULL;
    free(offer);
    return rc;
}

static int from_groups_gather(struct pl_exchange *side, struct pl_intercomm_parts *parts)
{
    int rc = pl_exchange_gather(side);
    return rc ? rc : pl_av_collect(parts->local_av, side);
}

/* The own group meets, then the leaders. Who looks after one meeting looks after the remote group too. What fails in
 * the own group's is told to the other leader. */
static int exchange_with_leader(struct pl_exchange *side, struct pl_intercomm_parts *parts, int remote_leader)
{
    uint64_t own = pl_process_self(), other = pl_group_proc(parts->remote, remote_leader);
    bool first = own < other;
    struct pl_group two = { .size = 2, .first = first ? own : other };
    two.stride = (int64_t)((first ? other : own) - two.first);
    struct pl_exchange leaders = {
        .group = &two,
        .members = 2,
        .me = !first,
        .tag = side->tag,
        .who = "the two leaders",
        .patience = side->patience,
        .outer = side,
        .others = parts->remote,
    };
    void *key = NULL;
    int rc = first ? pl_key_create(PL_KEY_LEADERS, side->tag, parts->local, (int)side->me, parts->remote, remote_leader,
                                   &key, &leaders.key_length)
                   : pl_key_create(PL_KEY_LEADERS, side->tag, parts->remote, remote_leader, parts->local, (int)side->me,
                                   &key, &leaders.key_length);
    if (rc)
        return rc;
    leaders.key = key;
    side->others = parts->remote;
    parts->first = first;
    char why[PL_DETAIL_MAX];
    int gathered = from_groups_gather(side, parts);
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    rc = pl_exchange_open(&leaders);
    if (rc == MPI_SUCCESS)
        rc = gathered ? pl_fail(gathered, "%s", why) : from_groups_exchange(&leaders, parts);
    if (rc && leaders.listener)
        pl_exchange_refuse(&leaders, rc);
    pl_exchange_close(&leaders);
    side->others = NULL;
    free(key);
    return rc;
}

static int tell_group(struct pl_exchange *side, const struct pl_intercomm_parts *parts)
{
    struct news head = { parts->id.home,         parts->local_id.home,          parts->id.serial,
                         parts->local_id.serial, (uint32_t)parts->remote->size, parts->first };
    size_t list = head.remote * sizeof(int32_t),
           size = sizeof head + list + pl_av_size(parts->local_av) + pl_av_size(parts->remote_av);
    unsigned char *message = pl_malloc(size), *at = message;
    if (!message)
        return pl_fail_memory("the answer to a group's members");
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int i = 0; i < parts->remote->size; i++, at += sizeof(int32_t)) {
        int32_t rank = PL_PROC_RANK(pl_group_proc(parts->remote, i));
        memcpy(at, &rank, sizeof rank);
    }
    at = pl_av_write(parts->local_av, at);
    pl_av_write(parts->remote_av, at);
    int rc = pl_exchange_answer(side, message, size);
    free(message);
    return rc;
}

/* Only the leader knows: the others come, and are told. */
static int lead_alone(struct pl_exchange *side)
{
    const struct news nobody = { .remote = 0 };
    int rc = pl_exchange_gather(side);
    return rc ? rc : pl_exchange_answer(side, &nobody, sizeof nobody);
}

static int from_groups_lead(struct pl_exchange *side, struct pl_intercomm_parts *parts, struct pl_group *remote,
                            int remote_leader)
{
    if (remote->size == 0)
        return lead_alone(side);
    int rc = check_groups(parts->local, remote, remote_leader);
    if (rc)
        return rc;
    parts->remote = pl_object_retain(remote);
    parts->remote_av = pl_av_create(remote);
    if (!parts->remote_av)
        return MPI_ERR_NO_MEM;
    parts->id = pl_comm_new_id();
    parts->local_id = pl_comm_new_id();
    rc = exchange_with_leader(side, parts, remote_leader);
    return rc ? rc : tell_group(side, parts);
}

/* --- the others' part ------------------------------------------------------------------------------------------ */

static int read_remote(struct pl_intercomm_parts *parts, const unsigned char *ranks, uint32_t count)
{
    uint64_t *procs = pl_malloc(count * sizeof *procs);
    if (!procs)
        return pl_fail_memory("the remote group");
    for (uint32_t i = 0; i < count; i++) {
        int32_t rank;
        memcpy(&rank, ranks + i * sizeof rank, sizeof rank);
        procs[i] = PL_PROC(0, rank);
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

static int from_groups_follow(struct pl_exchange *side, struct pl_intercomm_parts *parts)
{
    const void *data;
    size_t length;
    struct news head;
    int rc = pl_exchange_join(side, &data, &length);
    if (rc)
        return rc;
    const unsigned char *at = data, *end = at + length;
    if (length < sizeof head)
        goto damaged;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (head.remote == 0)
        return MPI_SUCCESS;
    if (head.remote > (size_t)(end - at) / sizeof(int32_t))
        goto damaged;
    rc = read_remote(parts, at, head.remote);
    at += head.remote * sizeof(int32_t);
    if (rc == MPI_SUCCESS)
        rc = pl_av_read(parts->local_av, &at, end);
    if (rc == MPI_SUCCESS)
        rc = pl_av_read(parts->remote_av, &at, end);
    if (rc)
        return rc;
    if (at != end)
        goto damaged;
    parts->id = (struct pl_comm_id){ head.home, head.serial };
    parts->local_id = (struct pl_comm_id){ head.local_home, head.local_serial };
    parts->first = head.first != 0;
    return MPI_SUCCESS;
damaged:
    return pl_fail(MPI_ERR_OTHER, "the answer of the group's leader is damaged");
}

/* --- the communicator ------------------------------------------------------------------------------------------ */

static int from_groups_meet(struct pl_intercomm_parts *parts, int local_leader, struct pl_group *remote,
                            int remote_leader, const char *tag, long patience, struct pl_engine *engine)
{
    unsigned char card[PL_CARD_MAX];
    struct pl_group *local = parts->local;
    struct pl_exchange side = {
        .group = local,
        .members = (uint32_t)local->size,
        .me = (uint32_t)local->rank,
        .coordinator = (uint32_t)local_leader,
        .payload = card,
        .payload_length = pl_engine_card(engine, card),
        .tag = tag,
        .who = "the local group's processes",
        .patience = patience,
    };
    void *key = NULL;
    int rc = pl_key_create(PL_KEY_SIDE, tag, local, local_leader, NULL, 0, &key, &side.key_length);
    if (rc)
        return rc;
    side.key = key;
    rc = pl_exchange_open(&side);
    if (rc == MPI_SUCCESS)
        rc = local->rank == local_leader ? from_groups_lead(&side, parts, remote, remote_leader)
                                         : from_groups_follow(&side, parts);
    if (rc && side.listener)
        pl_exchange_refuse(&side, rc);
    pl_exchange_close(&side);
    free(key);
    return rc;
}

int pl_intercomm_from_groups(struct pl_group *local, int local_leader, struct pl_group *remote, int remote_leader,
                             const char *tag, struct pl_info *info, struct pl_errhandler *errhandler,
                             struct pl_comm **comm)
{
    struct pl_intercomm_parts parts = { .local = local };
    long patience;
    *comm = NULL;
    if (local->size == 0)
        return MPI_SUCCESS;
    struct pl_instance *instance = pl_group_instance(local, "local_group");
    if (!instance)
        return MPI_ERR_GROUP;
    if (local_leader < 0 || local_leader >= local->size)
        return pl_fail(MPI_ERR_RANK, "local_leader is %d, allowed are 0 to %d", local_leader, local->size - 1);
    int rc = pl_patience(info, &patience);
    if (rc)
        return rc;
    parts.local_av = pl_av_create(local);
    if (!parts.local_av)
        return MPI_ERR_NO_MEM;
    rc = from_groups_meet(&parts, local_leader, remote, remote_leader, tag, patience, &instance->engine);
    if (rc == MPI_SUCCESS && parts.remote)
        rc = pl_intercomm_assemble(instance, &parts, comm);
    if (rc == MPI_SUCCESS && *comm)
        rc = pl_comm_dress(comm, info, errhandler);
    pl_av_release(parts.local_av);
    pl_av_release(parts.remote_av);
    pl_object_release(parts.remote);
    return rc;
}
