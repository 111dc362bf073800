/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables (MPI-5.0 section 15.3.7). All are levels that are counted when they are read, so that they cost
 * nothing otherwise. They are read-only, and never started or stopped.
 *
 * Those of a communicator or session take its engine's lock, which is real only at MPI_THREAD_MULTIPLE. So they are for
 * threads that may call MPI with that object.
 *
 * Locking: `lock` protects the list of sessions and their handles. It is not held while a level is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "api/pmpi.h"
#include "api/tool_pvar.h"

#include "api/tool.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/table.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/match.h"
#include "core/object/arena.h"

/* --- the variables ------------------------------------------------------------------------------------------------ */

static long posted_receives(const void *object)
{
    const struct pl_comm *comm = object;
    long count = 0;
    pl_engine_enter(&comm->instance->engine);
    PL_LIST_EACH(request, &comm->match.queues[PL_MSG_P2P].posted, struct pl_request, link)
        count++;
    pl_engine_leave(&comm->instance->engine);
    return count;
}

/* The number of messages that have arrived and were not received, or of their bytes. */
static long tool_pvar_unexpected(const struct pl_comm *comm, bool bytes)
{
    long sum = 0;
    pl_engine_enter(&comm->instance->engine);
    PL_LIST_EACH(message, &comm->match.queues[PL_MSG_P2P].unexpected, struct pl_unexpected, link)
        sum += bytes ? (long)message->header.size : 1;
    pl_engine_leave(&comm->instance->engine);
    return sum;
}

static long unexpected_messages(const void *object)
{
    return tool_pvar_unexpected(object, false);
}

static long unexpected_bytes(const void *object)
{
    return tool_pvar_unexpected(object, true);
}

static long session_communicators(const void *object)
{
    struct pl_instance *session = (struct pl_instance *)object;
    long count = 0;
    pl_lock_take(&session->lock);
    PL_LIST_EACH(comm, &session->comms, struct pl_comm, siblings)
        count += comm->role.serves == NULL;
    pl_lock_drop(&session->lock);
    return count;
}

static long object_memory(const void *object)
{
    (void)object;
    return (long)(atomic_load(&pl_arena_range.grown) * PL_CHUNK);
}

static const struct pvar {
    const char *name, *help;
    int bind;
    enum pl_kind kind;                 /* of the objects that are counted, or that the variable belongs to */
    long (*level)(const void *object); /* NULL: the number of live objects */
} pvars[] = {
    { "live_communicators", "communicators that exist, including the library's own, except MPI_COMM_WORLD and _SELF",
      MPI_T_BIND_NO_OBJECT, PL_COMM, NULL },
    { "live_datatypes", "derived datatypes that exist", MPI_T_BIND_NO_OBJECT, PL_DATATYPE, NULL },
    { "live_errhandlers", "error handlers that exist, without predefined ones", MPI_T_BIND_NO_OBJECT, PL_ERRHANDLER,
      NULL },
    { "live_files", "open files", MPI_T_BIND_NO_OBJECT, PL_FILE, NULL },
    { "live_groups", "groups that exist, including those of communicators", MPI_T_BIND_NO_OBJECT, PL_GROUP, NULL },
    { "live_infos", "info objects that exist, including those of sessions", MPI_T_BIND_NO_OBJECT, PL_INFO, NULL },
    { "live_messages", "messages that a matched probe has found and that were not received", MPI_T_BIND_NO_OBJECT,
      PL_MESSAGE, NULL },
    { "live_operations", "reduction operations that exist, without predefined ones", MPI_T_BIND_NO_OBJECT, PL_OP,
      NULL },
    { "live_requests", "requests that exist, including those kept for reuse", MPI_T_BIND_NO_OBJECT, PL_REQUEST, NULL },
    { "live_sessions", "sessions that exist, without the World", MPI_T_BIND_NO_OBJECT, PL_SESSION, NULL },
    { "live_windows", "windows that exist", MPI_T_BIND_NO_OBJECT, PL_WIN, NULL },
    { "object_memory", "bytes of memory for objects that have handles", MPI_T_BIND_NO_OBJECT, 0, object_memory },
    { "posted_receives", "receives of this communicator that wait for their message", MPI_T_BIND_MPI_COMM, PL_COMM,
      posted_receives },
    { "session_communicators", "communicators of this session", MPI_T_BIND_MPI_SESSION, PL_SESSION,
      session_communicators },
    { "unexpected_bytes", "bytes of the messages that have arrived for this communicator and were not received",
      MPI_T_BIND_MPI_COMM, PL_COMM, unexpected_bytes },
    { "unexpected_messages", "messages that have arrived for this communicator and were not received",
      MPI_T_BIND_MPI_COMM, PL_COMM, unexpected_messages },
};
enum { COUNT = sizeof pvars / sizeof *pvars };

int pl_tool_pvar_count(void)
{
    return COUNT;
}

const char *pl_tool_pvar_name(int index)
{
    return pvars[index].name;
}

int MPI_T_pvar_get_num(int *num_pvar)
{
    return pl_tool_give_count(COUNT, num_pvar);
}

int MPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                        MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                        int *readonly, int *continuous, int *atomic)
{
    int error = pl_tool_check_index(pvar_index, COUNT);
    if (error)
        return error;
    pl_tool_give_text(pvars[pvar_index].name, name, name_len);
    pl_tool_give_text(pvars[pvar_index].help, desc, desc_len);
    pl_tool_give(MPI_T_VERBOSITY_USER_DETAIL, verbosity);
    pl_tool_give(MPI_T_PVAR_CLASS_LEVEL, var_class);
    pl_tool_give(pvars[pvar_index].bind, bind);
    pl_tool_give(1, readonly);
    pl_tool_give(1, continuous);
    pl_tool_give(0, atomic);
    if (datatype)
        *datatype = MPI_UNSIGNED_LONG;
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    return MPI_SUCCESS;
}

int MPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    int error = pl_tool_check(name && pvar_index ? MPI_SUCCESS : MPI_T_ERR_INVALID);
    for (int i = 0; !error && var_class == MPI_T_PVAR_CLASS_LEVEL && i < COUNT; i++)
        if (strcmp(pvars[i].name, name) == 0) {
            *pvar_index = i;
            return MPI_SUCCESS;
        }
    return error ? error : MPI_T_ERR_INVALID_NAME;
}

/* --- sessions and handles ----------------------------------------------------------------------------------------- */

/* A handle of the program is an address, and is looked up before it is followed: the address is the key. */
struct MPI_ABI_T_pvar_session {
    struct pl_table_node by_address;
    struct pl_table handles; /* of by_address */
};

struct MPI_ABI_T_pvar_handle {
    struct pl_table_node by_address;
    const struct pvar *variable;
    const void *object; /* the MPI handle that it is bound to; checked at each use, since it may have been freed */
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static struct pl_table sessions; /* of by_address */

static void session_destroy(struct MPI_ABI_T_pvar_session *session)
{
    PL_TABLE_EACH(handle, &session->handles, struct MPI_ABI_T_pvar_handle, by_address) {
        pl_table_remove(&session->handles, &handle->by_address);
        free(handle);
    }
    pl_table_fini(&session->handles);
    free(session);
}

void pl_tool_pvar_sessions_end(void)
{
    pl_lock_take(&lock);
    PL_TABLE_EACH(session, &sessions, struct MPI_ABI_T_pvar_session, by_address) {
        pl_table_remove(&sessions, &session->by_address);
        session_destroy(session);
    }
    pl_table_fini(&sessions);
    pl_lock_drop(&lock);
}

static bool session_exists_locked(MPI_T_pvar_session session)
{
    return pl_table_find(&sessions, (uintptr_t)session) != NULL;
}

static bool handle_exists_locked(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return pl_table_find(&session->handles, (uintptr_t)handle) != NULL;
}

int MPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    int error = pl_tool_check(session ? MPI_SUCCESS : MPI_T_ERR_INVALID);
    MPI_T_pvar_session made = error ? NULL : pl_calloc(1, sizeof *made);
    if (!made)
        return error ? error : MPI_T_ERR_MEMORY;
    pl_lock_take(&lock);
    pl_table_insert(&sessions, &made->by_address, (uintptr_t)made);
    pl_lock_drop(&lock);
    *session = made;
    return MPI_SUCCESS;
}

int MPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    int error = pl_tool_check(session ? MPI_SUCCESS : MPI_T_ERR_INVALID);
    if (error)
        return error;
    pl_lock_take(&lock);
    bool exists = session_exists_locked(*session);
    if (exists)
        pl_table_remove(&sessions, &(*session)->by_address);
    pl_lock_drop(&lock);
    if (!exists)
        return MPI_T_ERR_INVALID_SESSION;
    session_destroy(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
                            int *count)
{
    int error = pl_tool_check_index(pvar_index, COUNT);
    if (error)
        return error;
    const struct pvar *variable = &pvars[pvar_index];
    bool bound = variable->bind != MPI_T_BIND_NO_OBJECT;
    if (!handle || !count || (bound && !obj_handle))
        return MPI_T_ERR_INVALID;
    const void *object = bound ? *(const void *const *)obj_handle : NULL;
    if (bound && !pl_object_find(variable->kind, object))
        return MPI_T_ERR_INVALID_HANDLE;
    MPI_T_pvar_handle made = pl_malloc(sizeof *made);
    if (!made)
        return MPI_T_ERR_MEMORY;
    *made = (struct MPI_ABI_T_pvar_handle){ .variable = variable, .object = object };
    pl_lock_take(&lock);
    bool exists = session_exists_locked(session);
    if (exists)
        pl_table_insert(&session->handles, &made->by_address, (uintptr_t)made);
    pl_lock_drop(&lock);
    if (!exists) {
        free(made);
        return MPI_T_ERR_INVALID_SESSION;
    }
    *handle = made;
    *count = 1;
    return MPI_SUCCESS;
}

/* A copy of a handle of a session, which is optionally removed from it and freed. */
static int tool_pvar_look_up(MPI_T_pvar_session session, MPI_T_pvar_handle handle, bool take,
                             struct MPI_ABI_T_pvar_handle *copy)
{
    int error = pl_tool_check(MPI_SUCCESS);
    if (error)
        return error;
    pl_lock_take(&lock);
    if (!session_exists_locked(session)) {
        error = MPI_T_ERR_INVALID_SESSION;
    } else if (!handle_exists_locked(session, handle)) {
        error = MPI_T_ERR_INVALID_HANDLE;
    } else {
        *copy = *handle;
        if (take) {
            pl_table_remove(&session->handles, &handle->by_address);
            free(handle);
        }
    }
    pl_lock_drop(&lock);
    return error;
}

int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    struct MPI_ABI_T_pvar_handle old;
    int error = tool_pvar_look_up(session, handle ? *handle : MPI_T_PVAR_HANDLE_NULL, true, &old);
    if (!error)
        *handle = MPI_T_PVAR_HANDLE_NULL;
    return error;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct MPI_ABI_T_pvar_handle at;
    int error = tool_pvar_look_up(session, handle, false, &at);
    if (error || !buf)
        return error ? error : MPI_T_ERR_INVALID;
    bool bound = at.variable->bind != MPI_T_BIND_NO_OBJECT;
    const void *object = bound ? pl_object_find(at.variable->kind, at.object) : NULL;
    if (bound && !object)
        return MPI_T_ERR_INVALID_HANDLE; /* freed since */
    *(unsigned long *)buf =
        (unsigned long)(at.variable->level ? at.variable->level(object) : pl_object_count(at.variable->kind));
    return MPI_SUCCESS;
}

/* Operations that no variable here supports. MPI_T_PVAR_ALL_HANDLES succeeds: it means all that support them. */
static int tool_pvar_refuse(MPI_T_pvar_session session, MPI_T_pvar_handle handle, bool all_allowed, int why)
{
    struct MPI_ABI_T_pvar_handle at;
    int error = tool_pvar_look_up(session, handle, false, &at);
    if (all_allowed && handle == MPI_T_PVAR_ALL_HANDLES && error == MPI_T_ERR_INVALID_HANDLE)
        return MPI_SUCCESS;
    return error ? error : why;
}

int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    (void)buf;
    return tool_pvar_refuse(session, handle, false, MPI_T_ERR_PVAR_NO_WRITE);
}

int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    (void)buf;
    return tool_pvar_refuse(session, handle, false, MPI_T_ERR_PVAR_NO_ATOMIC);
}

int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return tool_pvar_refuse(session, handle, true, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return tool_pvar_refuse(session, handle, true, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return tool_pvar_refuse(session, handle, true, MPI_T_ERR_PVAR_NO_WRITE);
}

PL_NAMES_TOOL_PVAR(PL_PMPI)
