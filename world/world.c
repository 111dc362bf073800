/* SPDX-License-Identifier: BSD-3-Clause */
/* See world.h. */
#include "world/world.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/engine/bsend.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/leak_report.h"
#include "core/engine/life.h"
#include "core/job/crash.h"
#include "core/job/process.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "sessions/psets/registry.h"
#include "world/spawn.h"

static pthread_t main_thread;
static struct pl_comm comm_world = { .obj = PL_OBJECT_PREDEFINED(PL_COMM, (int32_t)(uintptr_t)MPI_COMM_WORLD) };
static struct pl_comm comm_self = { .obj = PL_OBJECT_PREDEFINED(PL_COMM, (int32_t)(uintptr_t)MPI_COMM_SELF) };

static int world_level_of(int required)
{
    int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
    for (int i = 0; i < 4; i++)
        if (required <= levels[i])
            return levels[i];
    return MPI_THREAD_MULTIPLE;
}

static int world_make_comm(struct pl_instance *world, int size, uint64_t first, uint32_t serial, const char *name,
                           struct pl_comm *comm, struct pl_comm **made)
{
    struct pl_group *group = pl_instance_group_range(world, size, first, 1);
    if (!group)
        return MPI_ERR_NO_MEM;
    int rc = pl_comm_create_predefined(world, group, (struct pl_comm_id){ 0, serial }, comm);
    pl_handle_drop(group);
    if (rc)
        return rc;
    pl_comm_set_name(comm, name);
    *made = comm;
    return MPI_SUCCESS;
}

static void world_close(struct pl_instance *world)
{
    pl_crash_ignore();
    pl_engine_withdraw(&world->engine);
    pl_psets_close(world);
    pl_instance_close(world);
    pl_errhandler_of_nothing(NULL);
    if (pl_world_comm)
        pl_comm_destroy(pl_world_comm);
    if (pl_self_comm)
        pl_comm_destroy(pl_self_comm);
    pl_world_comm = pl_self_comm = pl_parent_comm = NULL;
    pl_world = NULL;
    pl_object_trim();
}

/* The processes of a World find each other through one segment. */
static int world_check_pool(const struct pl_identity *identity)
{
    if (!identity->attached || identity->local_size == identity->size)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "this process is attached to a pool on several machines, which has no World: use MPI_Session_init");
}

int pl_world_init(int required, int *provided)
{
    struct pl_instance *world;
    if (atomic_load(&pl_world_state) != PL_WORLD_BEFORE)
        return pl_fail(MPI_ERR_OTHER, "MPI is already initialized%s",
                       atomic_load(&pl_world_state) == PL_WORLD_FINALIZED
                           ? " and finalized: the World Model can be initialized only once"
                           : "");
    int rc = pl_process_check_joined();
    rc = rc ? rc : pl_instance_open(true, world_level_of(required), NULL, NULL, &world);
    if (rc)
        return rc;
    const struct pl_identity *identity = &pl_process.identity;
    rc = pl_process_check_unable();
    if (rc == MPI_SUCCESS)
        rc = world_check_pool(identity);
    if (rc == MPI_SUCCESS)
        rc = world_make_comm(world, 1, pl_process_self(), PL_SELF_SERIAL, "MPI_COMM_SELF", &comm_self, &pl_self_comm);
    if (rc == MPI_SUCCESS)
        rc = world_make_comm(world, identity->size, PL_PROC(0, 0), PL_WORLD_SERIAL, "MPI_COMM_WORLD", &comm_world,
                             &pl_world_comm);
    if (rc == MPI_SUCCESS)
        rc = pl_engine_publish(&world->engine, PL_CARD_WORLD);
    if (rc == MPI_SUCCESS)
        rc = pl_spawn_connect_parents();
    if (rc == MPI_SUCCESS)
        rc = pl_instance_serve(world);
    if (rc) {
        world_close(world);
        return rc;
    }
    main_thread = pthread_self();
    pl_world = world;
    *provided = world->thread_level;
    pl_errhandler_of_nothing(pl_self_comm->errhandler);
    pl_crash_watch();
    pl_process.bootstrap->state(PL_PROCESS_INITIALIZED);
    atomic_store(&pl_world_state, PL_WORLD_INITIALIZED);
    return MPI_SUCCESS;
}

/* The others find this process nowhere; they learn why. */
int pl_world_fail(int rc)
{
    char why[PL_DETAIL_MAX];
    if (rc == MPI_SUCCESS || atomic_load(&pl_world_state) != PL_WORLD_BEFORE)
        return rc;
    int class;
    snprintf(why, sizeof why, "%s", pl_error_detail(&class));
    bool recorded = class == rc && why[0];
    pl_process_tell_unable(rc, recorded ? why : pl_error_class_text(rc));
    return recorded ? pl_fail(rc, "%s", why) : rc; /* again: telling may have recorded another error */
}

/* A callback of MPI_COMM_SELF must not finalize the World a second time. */
static int world_delete_self_attributes(void)
{
    static bool under_way;
    if (under_way)
        return pl_fail(MPI_ERR_OTHER, "MPI_Finalize is already under way: a delete callback has called it");
    under_way = true;
    int rc = pl_attrs_delete(&pl_self_comm->attrs, MPI_COMM_SELF);
    under_way = false;
    return rc;
}

int pl_world_finalize(void)
{
    void *buffer;
    MPI_Count size;
    char leaks[PL_DETAIL_MAX - 64];
    if (atomic_load(&pl_world_state) != PL_WORLD_INITIALIZED)
        return pl_fail(MPI_ERR_OTHER, "MPI is %s",
                       atomic_load(&pl_world_state) == PL_WORLD_BEFORE ? "not initialized" : "already finalized");
    int rc = pl_process_check_forked();
    if (rc == MPI_SUCCESS)
        rc = world_delete_self_attributes();
    if (rc)
        return rc;
    pl_bsend_detach(pl_bsend_of_process(), &buffer, &size);
    pl_process.bootstrap->state(PL_PROCESS_FINALIZED);
    struct pl_instance *world = pl_world;
    pl_instance_serve_no_more(world);
    int count = pl_leak_report(world, leaks, sizeof leaks);
    bool strict = count > 0 && world->strict;
    world_close(world);
    atomic_store(&pl_world_state, PL_WORLD_FINALIZED);
    return strict ? pl_fail(MPI_ERR_OTHER, "the World is finalized; left alive in it, %d: %s", count, leaks)
                  : MPI_SUCCESS;
}

int pl_world_thread_level(int *level)
{
    if (atomic_load(&pl_world_state) == PL_WORLD_INITIALIZED) {
        *level = pl_world->thread_level;
        return MPI_SUCCESS;
    }
    pl_lock_take(&pl_process.lock);
    bool open = pl_process.instances > 0;
    pl_lock_drop(&pl_process.lock);
    if (!open)
        return pl_fail(MPI_ERR_OTHER, "MPI is not initialized, or already finalized");
    *level = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

bool pl_world_main_thread(void)
{
    return pthread_equal(main_thread, pthread_self());
}
