/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: which one applies, and what the predefined ones do.
 *
 * Locking: the handler of a communicator or session is read and set under that object's lock; that of MPI_FILE_NULL
 * under `lock`. Whoever invokes one holds a reference and no lock.
 */
#include "core/errhandler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/comm.h"
#include "core/config.h"
#include "core/instance.h"
#include "core/lock.h"
#include "core/process.h"

#define PREDEFINED(constant) { .obj = PL_OBJECT_PREDEFINED(PL_ERRHANDLER, (int32_t)(uintptr_t)(constant)) }

static struct pl_errhandler are_fatal = PREDEFINED(MPI_ERRORS_ARE_FATAL);
static struct pl_errhandler errors_abort = PREDEFINED(MPI_ERRORS_ABORT);
static struct pl_errhandler errors_return = PREDEFINED(MPI_ERRORS_RETURN);

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_OBJECT);
static struct pl_errhandler *of_file_null = &errors_return;

void *pl_errhandler_predefined(uintptr_t constant)
{
    switch (constant) {
    case (uintptr_t)MPI_ERRORS_ARE_FATAL:
        return &are_fatal;
    case (uintptr_t)MPI_ERRORS_ABORT:
        return &errors_abort;
    case (uintptr_t)MPI_ERRORS_RETURN:
        return &errors_return;
    default:
        return NULL;
    }
}

void pl_errhandler_destroy(void *errhandler)
{
    (void)errhandler; /* holds nothing */
}

struct pl_errhandler *pl_errhandler_initial(void)
{
    const char *name = pl_config_text("initial_errhandler");
    if (strcmp(name, "mpi_errors_return") == 0)
        return &errors_return;
    return strcmp(name, "mpi_errors_abort") == 0 ? &errors_abort : &are_fatal;
}

/* --- attached handlers --------------------------------------------------------------------------------------- */

/* Where an object keeps its handler, and the lock for it; NULL: it has none. */
static struct pl_errhandler **place_of(enum pl_kind kind, void *object, struct pl_lock **guard)
{
    if (kind == PL_COMM && object) {
        *guard = &((struct pl_comm *)object)->lock;
        return &((struct pl_comm *)object)->errhandler;
    }
    if (kind == PL_SESSION && object) {
        *guard = &((struct pl_instance *)object)->lock;
        return &((struct pl_instance *)object)->errhandler;
    }
    if (kind == PL_FILE) {
        *guard = &lock;
        return &of_file_null;
    }
    if (pl_world_state == PL_WORLD_INITIALIZED && pl_self_comm) {
        *guard = &pl_self_comm->lock;
        return &pl_self_comm->errhandler;
    }
    return NULL;
}

struct pl_errhandler *pl_errhandler_of(enum pl_kind kind, void *object)
{
    struct pl_lock *guard = NULL;
    struct pl_errhandler **place = place_of(kind, object, &guard), *handler = NULL;
    if (place) {
        pl_lock_take(guard);
        handler = *place ? pl_object_retain(*place) : NULL;
        pl_lock_drop(guard);
    }
    return handler ? handler : pl_object_retain(pl_errhandler_initial());
}

void pl_errhandler_attach(enum pl_kind kind, void *object, struct pl_errhandler *handler)
{
    struct pl_lock *guard = NULL;
    struct pl_errhandler **place = place_of(kind, object, &guard), *old;
    pl_object_retain(handler);
    pl_lock_take(guard);
    old = *place;
    *place = handler;
    pl_lock_drop(guard);
    pl_object_release(old);
}

/* --- invoking ------------------------------------------------------------------------------------------------ */

/* MPI_ERRORS_ABORT on a session, or on no object at all, ends the process that made the error and no other. */
static _Noreturn void end_this_process(int code, const char *message)
{
    fprintf(stderr, "%s\n", message);
    _exit((code & 0xff) ? code & 0xff : 1);
}

static void invoke_user(struct pl_errhandler *handler, void *object, int code)
{
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    switch (handler->target) {
    case PL_COMM:
        comm = object ? pl_object_handle(object) : MPI_COMM_NULL;
        handler->call.comm(&comm, &code);
        break;
    case PL_WIN:
        win = object ? pl_object_handle(object) : MPI_WIN_NULL;
        handler->call.win(&win, &code);
        break;
    case PL_FILE:
        file = object ? pl_object_handle(object) : MPI_FILE_NULL;
        handler->call.file(&file, &code);
        break;
    case PL_SESSION:
        session = object ? pl_object_handle(object) : MPI_SESSION_NULL;
        handler->call.session(&session, &code);
        break;
    default:
        break;
    }
}

void pl_errhandler_invoke(struct pl_errhandler *handler, enum pl_kind kind, void *object, int code, const char *message)
{
    if (handler == &errors_return)
        return;
    if (handler != &are_fatal && handler != &errors_abort) {
        invoke_user(handler, object ? object : handler->target == PL_COMM ? pl_self_comm : NULL, code);
        return;
    }
    if (handler == &errors_abort && (!object || kind == PL_SESSION))
        end_this_process(code, message);
    const char *label = !object ? "" : kind == PL_COMM ? pl_comm_label(object) : pl_kinds[kind].name;
    pl_process_abort(code, label, message);
}
