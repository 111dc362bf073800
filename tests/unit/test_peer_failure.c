/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of a pool that die, as reported by a fake launcher: which communicators are broken from the start and which
 * later. A collective in the middle of which the communicator breaks has no effect.
 */
#include "unit.h"

#include <endian.h>

#include "core/base/error.h"
#include "core/coll/area/area.h"
#include "core/coll/collective.h"
#include "core/comm/intercomm.h"
#include "core/engine/address_vector.h"
#include "core/engine/comm.h"
#include "core/engine/departure.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/job/process.h"

enum { SIZE = 4, ME = 1 };

static uint32_t replaced[SIZE]; /* how many processes of this rank have died and been replaced */
static bool dead[SIZE];         /* and one more that has not been replaced */
static struct pl_bootstrap_ops ops;
static struct pl_instance *instance;
static struct pl_group *all;

static int alive(int rank)
{
    return dead[rank] ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

static uint32_t deaths(int rank)
{
    return replaced[rank];
}

static void setup(void)
{
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    ops = *pl_process.bootstrap;
    ops.alive = alive;
    ops.deaths = deaths;
    pl_process.bootstrap = &ops;
    pl_process.identity.size = pl_process.identity.local_size = SIZE;
    pl_process.identity.rank = ME;
    pl_group_self = pl_process_self();
    pl_process.identity.watched = true;
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
    all = pl_instance_group_range(instance, SIZE, 0, 1);
}

static void teardown(void)
{
    pl_handle_drop(all);
    pl_instance_close(instance);
    pl_process_close();
}

/* Addresses of the members, which no transport can reach, each with the number of deaths before this process came. */
static struct pl_av *vector_of(struct pl_group *group, const uint32_t came[SIZE])
{
    struct pl_av *av = pl_av_create(group);
    ck_assert_int_eq(pl_av_open(av, (size_t)group->size * sizeof(uint64_t)), MPI_SUCCESS);
    for (int i = 0; i < group->size; i++) {
        int rank = PL_PROC_RANK(pl_group_proc(group, i));
        uint64_t id = htole64((uint64_t)(rank + 1) << 32 | came[rank]);
        pl_av_add(av, i, &id, sizeof id);
    }
    return av;
}

static struct pl_comm *comm_of(struct pl_group *group, const uint32_t came[SIZE])
{
    struct pl_comm *comm;
    ck_assert_int_eq(pl_comm_create_with_av(instance, NULL, vector_of(group, came), group, NULL, pl_comm_new_id(),
                                            &comm),
                     MPI_SUCCESS);
    return comm;
}

static int failed(struct pl_comm *comm)
{
    int rank = atomic_load(&comm->health.failed) - 1;
    pl_handle_drop(comm);
    return rank;
}

START_TEST(from_the_start)
{
    uint32_t came[SIZE] = { 0 };
    ck_assert_int_eq(failed(comm_of(all, came)), -1);
    dead[2] = true; /* it had joined */
    ck_assert_int_eq(failed(comm_of(all, came)), 2);
    dead[2] = false;
    replaced[2] = 1;
    ck_assert_int_eq(failed(comm_of(all, came)), 2);
    came[2] = 1; /* the other has joined */
    ck_assert_int_eq(failed(comm_of(all, came)), -1);
    came[ME] = 9; /* a process does not watch itself */
    ck_assert_int_eq(failed(comm_of(all, came)), -1);
}
END_TEST

/*
 * A live communicator detects the failure; a child that is created from it afterwards is broken, too. A process
 * replaced between two queries seems to have died less often than before.
 */
START_TEST(later)
{
    uint32_t came[SIZE] = { 0 };
    struct pl_comm *old = comm_of(all, came), *child, *fresh;
    dead[3] = true;
    ck_assert_int_eq(pl_comm_create(instance, old, all, NULL, pl_comm_new_id(), &child), MPI_SUCCESS);
    ck_assert_int_eq(atomic_load(&old->health.failed) - 1, 3);
    ck_assert_int_eq(failed(child), 3);
    ck_assert_int_eq(failed(old), 3);
    replaced[3] = came[3] = 1;
    dead[3] = false;
    fresh = comm_of(all, came);
    replaced[3] = 0;
    ck_assert_int_eq(failed(comm_of(all, came)), -1);
    ck_assert_int_eq(failed(fresh), -1);
}
END_TEST

/* A transport that finds a member unreachable while it makes progress cannot take what that one has sent. */
START_TEST(inside_a_transport)
{
    uint32_t came[SIZE] = { 0 };
    struct pl_comm *comm = comm_of(all, came);
    dead[3] = true;
    pl_engine_enter(&instance->engine);
    instance->engine.wait.inside = true;
    ck_assert_int_eq(pl_failure_explain(comm, 3, MPI_ERR_OTHER), PL_AGAIN);
    ck_assert(!atomic_load(&comm->health.failed));
    instance->engine.wait.inside = false;
    ck_assert_int_eq(pl_failure_explain(comm, 3, MPI_ERR_OTHER), MPI_ERR_PROC_ABORTED);
    pl_engine_leave(&instance->engine);
    ck_assert_int_eq(failed(comm), 3);
    dead[3] = false;
}
END_TEST

static int completions;

static void completed(struct pl_request *request)
{
    completions++;
    atomic_store(&request->done, 1);
}

/* A wait that takes long asks whether the rank has departed, and only that finds its death. */
START_TEST(by_a_question)
{
    uint32_t came[SIZE] = { 0 };
    struct pl_comm *comm = comm_of(all, came);
    struct pl_request *request;
    int value = -1;
    ck_assert_int_eq(pl_recv_prepare(comm, &value, 1, pl_type_predefined((uintptr_t)MPI_INT), 3, 5, &request),
                     MPI_SUCCESS);
    ck_assert_int_eq(pl_p2p_start(request), MPI_SUCCESS);
    request->on.completed = completed;
    dead[3] = true;
    pl_engine_enter(&instance->engine);
    pl_departure_check(&instance->engine, request, NULL);
    ck_assert_int_eq(completions, 1);
    ck_assert_int_eq(request->outcome.error, MPI_ERR_PROC_ABORTED);
    pl_departure_check(&instance->engine, request, NULL);
    ck_assert_int_eq(completions, 1);
    pl_engine_leave(&instance->engine);
    request->on.completed = NULL;
    pl_handle_drop(request);
    ck_assert_int_eq(failed(comm), 3);
    dead[3] = false;
}
END_TEST

/* The part of a communicator that is on one node is broken with the whole, whichever process has died. */
START_TEST(of_a_node)
{
    struct pl_group *two = pl_instance_group_range(instance, 2, 0, 1);
    uint32_t came[SIZE] = { 0 };
    struct pl_comm *whole = comm_of(all, came), *part = comm_of(two, came);
    strcpy(whole->name, "ocean");
    part->role.whole = whole;
    dead[3] = true;
    ck_assert_int_eq(failed(comm_of(all, came)), 3);
    ck_assert_int_eq(pl_coll_check(part), MPI_ERR_PROC_ABORTED);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "rank 3 of ocean has died"));
    part->role.whole = NULL;
    pl_handle_drop(part);
    pl_handle_drop(whole);
    pl_handle_drop(two);
}
END_TEST

static struct pl_comm *inter_of(struct pl_group *local, struct pl_group *remote, const uint32_t came[SIZE])
{
    struct pl_comm *comm;
    struct pl_intercomm_parts parts = {
        .local = local, .remote = remote, .id = pl_comm_new_id(), .local_id = pl_comm_new_id()
    };
    parts.local_av = vector_of(local, came);
    parts.remote_av = vector_of(remote, came);
    ck_assert_int_eq(pl_intercomm_assemble(instance, &parts, &comm), MPI_SUCCESS);
    ck_assert(!parts.local_av && !parts.remote_av);
    return comm;
}

START_TEST(between_groups)
{
    struct pl_group *low = pl_instance_group_range(instance, 2, 0, 1),
                    *high = pl_instance_group_range(instance, 2, 2, 1);
    uint32_t came[SIZE] = { 0 };
    ck_assert_int_eq(failed(inter_of(low, high, came)), -1);
    replaced[3] = 1;
    struct pl_comm *comm = inter_of(low, high, came);
    ck_assert_int_eq(atomic_load(&comm->inter.local->health.failed) - 1, 1); /* it serves the broken one */
    ck_assert_int_eq(failed(comm), 1);
    came[3] = 1;
    replaced[0] = 1;
    ck_assert_int_eq(failed(inter_of(low, high, came)), 0);
    pl_handle_drop(low);
    pl_handle_drop(high);
}
END_TEST

/* --- in the middle of a collective -------------------------------------------------------------------------------- */

static int breaks(struct pl_hook *hook)
{
    pl_list_remove(&hook->link);
    pl_failure_break(&instance->engine, PL_PROC(0, 0));
    return 1;
}

/* What rank 0 has sent for a collective of its own. */
static void arrives(struct pl_comm *comm, int tag, int value)
{
    static const struct pl_origin from = { .engine = 77, .card = "", .card_length = 0 };
    struct pl_header header = { .home = comm->id.home,
                                .serial = comm->id.serial,
                                .source = 0,
                                .tag = tag,
                                .kind = PL_MSG_COLL,
                                .size = sizeof value };
    pl_engine_enter(&instance->engine);
    pl_match_arrived(&instance->engine, &from, &header, &value, NULL);
    pl_engine_leave(&instance->engine);
}

/*
 * Before the broadcast of the user, the library creates the collective area by collectives of its own. When the first
 * of them fails, the message for the second one must not be taken for the user's.
 */
START_TEST(while_the_area_is_made)
{
    struct pl_group *two = pl_instance_group_range(instance, 2, 0, 1);
    uint32_t came[SIZE] = { 0 };
    struct pl_comm *comm = comm_of(two, came);
    struct pl_hook hook = { .run = breaks };
    int value = -1;
    comm->coll.area.wanted = PL_AREA_AFTER;
    arrives(comm, (int)comm->coll.tags.blocking + 1, 5);
    pl_list_init(&hook.link);
    pl_list_append(&instance->engine.hooks, &hook.link);
    ck_assert_int_eq(pl_bcast(comm, &value, 1, pl_type_predefined((uintptr_t)MPI_INT), 0), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(value, -1);

    arrives(comm, (int)comm->coll.tags.blocking, 6); /* nor is another collective begun */
    ck_assert_int_eq(pl_bcast(comm, &value, 1, pl_type_predefined((uintptr_t)MPI_INT), 0), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(value, -1);
    ck_assert_int_eq(failed(comm), 0);
    pl_handle_drop(two);
}
END_TEST

UNIT_MAIN_WITH("peer_failure", setup, teardown, from_the_start, later, inside_a_transport, by_a_question, of_a_node,
               between_groups, while_the_area_is_made)
