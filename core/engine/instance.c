/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances: opening, closing, error handling. */
#include "core/engine/instance.h"

#include <string.h>

#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/engine/bsend.h"
#include "core/engine/comm.h"
#include "core/engine/life.h"
#include "core/engine/progress.h"
#include "core/job/process.h"
#include "core/object/alloc_kinds.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"

struct pl_instance *pl_world;
struct pl_comm *pl_world_comm, *pl_self_comm, *pl_parent_comm;

static _Atomic uint64_t serials;

/* The World's: a process initializes it at most once. */
static struct pl_instance world_instance = { .obj = PL_OBJECT_PREDEFINED(PL_SESSION, 0) };

/* The hints in use of a new instance. */
static int make_info(const char *kinds, struct pl_info **info)
{
    *info = pl_info_create();
    int rc = *info ? pl_alloc_kinds_grant(*info, kinds) : MPI_ERR_NO_MEM;
    if (rc && *info)
        pl_handle_drop(*info);
    return rc;
}

int pl_instance_open(bool world, int thread_level, const char *kinds, const char *progress,
                     struct pl_instance **instance)
{
    struct pl_instance *made = world ? &world_instance : pl_object_create(PL_SESSION);
    if (!made)
        return MPI_ERR_NO_MEM;
    *made = (struct pl_instance){ .obj = made->obj }; /* the World's may have failed to open before */
    int rc = pl_process_open();
    if (rc)
        goto object;
    rc = make_info(kinds ? kinds : pl_config_text("memory_alloc_kinds"), &made->info);
    if (rc)
        goto process;
    made->world = world;
    made->strict = pl_config_bool("strict");
    made->served = strcmp(progress ? progress : pl_config_text("progress"), PL_PROGRESS_THREAD) == 0;
    made->thread_level = thread_level;
    made->serial = atomic_fetch_add(&serials, 1) + 1;
    pl_lock_init(&made->lock, PL_RANK_INSTANCE, true);
    pl_list_init(&made->comms);
    pl_list_init(&made->children);
    rc = pl_errhandler_initial(&made->errhandler);
    if (rc == MPI_SUCCESS)
        rc = pl_engine_open(&made->engine, made, thread_level, made->served);
    if (rc)
        goto info;
    made->open = true;
    *instance = made;
    return MPI_SUCCESS;

info:
    pl_object_release(made->errhandler);
    made->errhandler = NULL;
    pl_lock_fini(&made->lock);
    pl_handle_drop(made->info);
    made->info = NULL;
process:
    pl_process_close();
object:
    pl_object_release(made);
    return rc;
}

int pl_instance_serve(struct pl_instance *instance)
{
    return instance->served ? pl_progress_start(&instance->engine) : MPI_SUCCESS;
}

void pl_instance_serve_no_more(struct pl_instance *instance)
{
    pl_progress_stop(&instance->engine);
}

/* Takes the first remaining communicator out of the list, retained; NULL: none is left. */
static struct pl_comm *first_comm(struct pl_instance *instance)
{
    struct pl_comm *comm = NULL;
    pl_lock_take(&instance->lock);
    if (!pl_list_empty(&instance->comms)) {
        comm = PL_CONTAINER(instance->comms.next, struct pl_comm, siblings);
        pl_list_remove(&comm->siblings);
        pl_object_retain(comm);
    }
    pl_lock_drop(&instance->lock);
    return comm;
}

/* The same for children, whose object is retained. */
static struct pl_child *first_child(struct pl_instance *instance)
{
    struct pl_child *child = NULL;
    pl_lock_take(&instance->lock);
    struct pl_list *node = pl_list_pop(&instance->children);
    if (node) {
        child = PL_CONTAINER(node, struct pl_child, link);
        pl_object_retain(child->object);
    }
    pl_lock_drop(&instance->lock);
    return child;
}

void pl_instance_add(struct pl_instance *instance, struct pl_child *child)
{
    pl_lock_take(&instance->lock);
    pl_list_append(&instance->children, &child->link);
    pl_lock_drop(&instance->lock);
}

void pl_instance_remove(struct pl_instance *instance, struct pl_child *child)
{
    pl_lock_take(&instance->lock);
    pl_list_remove(&child->link);
    pl_lock_drop(&instance->lock);
}

void pl_instance_close(struct pl_instance *instance)
{
    struct pl_child *child;
    struct pl_comm *comm;
    void *buffer;
    MPI_Count size;
    pl_instance_serve_no_more(instance);
    pl_errhandler_forget_left();
    while ((child = first_child(instance)) != NULL) {
        void *object = child->object;
        child->orphan(object);
        pl_object_release(object); /* which may free the child */
    }
    while ((comm = first_comm(instance)) != NULL) {
        pl_bsend_detach(pl_bsend_of_comm(comm), &buffer, &size);
        pl_comm_orphan(comm);
        pl_object_release(comm);
    }
    pl_bsend_detach(pl_bsend_of_instance(instance), &buffer, &size);
    instance->open = false;
    pl_engine_close(&instance->engine);
    pl_process_close();
    pl_handle_drop(instance->info);
    pl_object_release(instance->errhandler);
    instance->info = NULL;
    instance->errhandler = NULL;
}

/* Releases the locks with the last reference, which a request or communicator that the user forgot may hold. */
void pl_session_destroy(void *session)
{
    struct pl_instance *instance = session;
    if (instance->engine.state != PL_ENGINE_CLOSED) /* it failed to open */
        return;
    pl_lock_fini(&instance->engine.lock);
    pl_lock_fini(&instance->lock);
}

/* --- groups and errors -------------------------------------------------------------------------------------------- */

struct pl_group *pl_instance_group(struct pl_instance *instance, int size, const uint64_t *procs)
{
    return pl_group_create(instance, instance ? instance->serial : 0, size, procs);
}

struct pl_group *pl_instance_group_range(struct pl_instance *instance, int size, uint64_t first, int64_t stride)
{
    return pl_group_create_range(instance, instance ? instance->serial : 0, size, first, stride);
}

static struct pl_errhandler **session_errhandler(void *session, struct pl_lock **lock)
{
    struct pl_instance *instance = session;
    *lock = &instance->lock;
    return &instance->errhandler;
}

int pl_instance_rank(const struct pl_instance *instance)
{
    return pl_process_rank(instance && instance->open);
}

static int session_job_rank(void *session)
{
    return pl_instance_rank(session);
}

static PL_NORETURN void session_end(void *session, bool members_only, int code, const char *message)
{
    (void)session, (void)members_only;
    pl_process_abort(code, "session", message);
}

const struct pl_kind_errors pl_session_errors = {
    .slot = session_errhandler,
    .rank = session_job_rank,
    .end = session_end,
};
